"""Documents as people have them, read one after the other: PubMed, JATS, NBIB, RIS, tables, JSON, texts."""
