"""Attribution after generation: citations for answers that have none."""

from vericite.attribution.attributor import (
    MOST_DOCUMENTS,
    Attribution,
    Attributor,
    SentenceSources,
    SourcesFound,
    cited,
    uncited,
)
from vericite.attribution.learned import Head, LearnedAttributor
from vericite.attribution.registry import (
    ATTRIBUTORS,
    DEFAULT,
    LlmAttributor,
    RandomAttributor,
    load_attributor,
)
from vericite.attribution.verified import LikeliestAttributor, VerifierAttributor

__all__ = [
    "ATTRIBUTORS",
    "DEFAULT",
    "MOST_DOCUMENTS",
    "Attribution",
    "Attributor",
    "Head",
    "LearnedAttributor",
    "LikeliestAttributor",
    "LlmAttributor",
    "RandomAttributor",
    "SentenceSources",
    "SourcesFound",
    "VerifierAttributor",
    "cited",
    "load_attributor",
    "uncited",
]
