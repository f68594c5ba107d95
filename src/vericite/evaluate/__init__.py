"""Figures over many answers, each with its count and interval."""

from vericite.evaluate.citation_rates import CitationRates

__all__ = ["CitationRates"]
