"""The shipped models and the engine that runs them."""

from vericite.models.contracts import Embeds, Pair
from vericite.models.embedder import Embedder
from vericite.models.engine import EncodedInput, Encoder, Engine, ModelOutput
from vericite.models.folder import ModelCard, ModelFolder, TrainingSet

__all__ = [
    "Embedder",
    "Embeds",
    "EncodedInput",
    "Encoder",
    "Engine",
    "ModelCard",
    "ModelFolder",
    "ModelOutput",
    "Pair",
    "TrainingSet",
]
