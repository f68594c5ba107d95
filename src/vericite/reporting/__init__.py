"""Reports for people: a self-contained page of answers, verdicts and sources."""
