"""Reports for people: one self-contained page of answers, verdicts and sources."""
