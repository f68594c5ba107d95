"""Rows beside the mix: sets of other origins, rows against shortcuts, claims before passages of other texts."""
