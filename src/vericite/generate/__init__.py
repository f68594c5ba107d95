"""Making cited answers from evidence."""

from vericite.generate.extractive import ExtractiveGenerator
from vericite.generate.generator import Generator

__all__ = ["ExtractiveGenerator", "Generator"]
