"""How much of a query is read, whatever is searched."""

LONGEST_QUERY = 10_000
"""Characters of a query that count."""
