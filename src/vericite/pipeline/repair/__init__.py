"""Repair an answer whose citations the verifier rejects, before the user sees it."""

from vericite.pipeline.repair.repairer import ROUNDS, Repairer, SentenceRewriter

__all__ = ["ROUNDS", "Repairer", "SentenceRewriter"]
