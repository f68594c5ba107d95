"""Figures over many answers, each with its count and interval."""

from vericite.evaluate.intervals import Rate, Tally, clustered_wilson
from vericite.evaluate.rates import CitationRates

__all__ = ["CitationRates", "Rate", "Tally", "clustered_wilson"]
