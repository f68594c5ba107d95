"""Read documents in common formats, one at a time: PubMed, JATS, NBIB, RIS, tables, JSON, texts."""
