"""Figures over many answers, each with its count and interval."""

from vericite.evaluate.rates import CitationRates

__all__ = ["CitationRates"]
