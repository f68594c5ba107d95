"""Figures over many answers, each with its count and interval."""

from vericite.evaluate.rates import CitationRates, Rate, RateTally, clustered_wilson

__all__ = ["CitationRates", "Rate", "RateTally", "clustered_wilson"]
