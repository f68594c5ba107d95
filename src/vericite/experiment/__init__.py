"""Experiments: many runs from one file, and the tables that come of them."""
