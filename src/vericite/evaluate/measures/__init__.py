"""Measures by name; each is a value whose repr names it everywhere."""
