"""The shipped models, and the one engine that runs them."""

from vericite.models.contracts import Embeds, Pair
from vericite.models.embedder import Embedder
from vericite.models.engine import Encoded, Encoder, Engine, Row
from vericite.models.folder import ModelCard, ModelFolder, TrainingSet

__all__ = [
    "Embedder",
    "Embeds",
    "Encoded",
    "Encoder",
    "Engine",
    "ModelCard",
    "ModelFolder",
    "Pair",
    "Row",
    "TrainingSet",
]
