"""The shipped models, and the one engine that runs them."""

from vericite.models.embedder import Embedder
from vericite.models.engine import Engine, Pair, Row
from vericite.models.folder import ModelCard, ModelFolder, TrainingSet

__all__ = ["Embedder", "Engine", "ModelCard", "ModelFolder", "Pair", "Row", "TrainingSet"]
