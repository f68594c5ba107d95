"""Answers made of the evidence's own sentences: no language model, nothing invented."""

from vericite.generate.extractive.generator import INSUFFICIENT, ExtractiveGenerator
from vericite.generate.extractive.settings import ExtractiveSettings

__all__ = ["INSUFFICIENT", "ExtractiveGenerator", "ExtractiveSettings"]
