"""Assess answers by the methods of BioACE: nuggets, completeness, correctness, and comparisons with human labels."""
