"""Answers assessed as BioACE does it: nuggets, correctness, and tables of both beside people's labels."""
