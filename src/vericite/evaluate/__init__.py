"""Statistics over many answers, each with its count and confidence interval."""

from vericite.evaluate.citation_rates import CitationRates

__all__ = ["CitationRates"]
