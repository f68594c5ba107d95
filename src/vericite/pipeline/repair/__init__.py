"""Repair: an answer whose citations the verifier rejects is mended before the user sees it."""

from vericite.pipeline.repair.repairer import ROUNDS, Repairer, Rewriter

__all__ = ["ROUNDS", "Repairer", "Rewriter"]
