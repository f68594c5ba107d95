"""The shipped models, and the one engine that runs them."""

from vericite.models.embedder import Embedder, Embeds
from vericite.models.encoding import Encoded, Encoder, Pair
from vericite.models.engine import Engine, Row
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
