"""Public data sets as typed records."""
