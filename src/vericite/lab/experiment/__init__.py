"""Experiments: many runs from one file, and tables of their results."""
