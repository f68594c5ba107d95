"""Reports for people: a self-contained page, and documents of answers with their sources."""
