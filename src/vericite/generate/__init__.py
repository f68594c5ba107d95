"""Make cited answers from evidence."""

from vericite.generate.extractive import ExtractiveGenerator
from vericite.generate.generator import GeneratesMany, Generator

__all__ = ["ExtractiveGenerator", "GeneratesMany", "Generator"]
