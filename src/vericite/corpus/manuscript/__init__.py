"""Manuscripts: documents of authors, with citing sentences and a list of references."""
