"""Premises and claims written from made-up facts, so that a claim never copies its premise."""
