"""Attribution after generation: citations for answers that have none."""

from vericite.attribute.attributor import (
    MOST_DOCUMENTS,
    Attribution,
    Attributor,
    SentenceSources,
    SourcesFound,
    cited,
    uncited,
)
from vericite.attribute.learned import Head, LearnedAttributor
from vericite.attribute.registry import (
    ATTRIBUTORS,
    DEFAULT,
    CosineAttributor,
    LlmAttributor,
    MultiLabelAttributor,
    RandomAttributor,
    load_attributor,
)
from vericite.attribute.verified import LikeliestAttributor, VerifierAttributor

__all__ = [
    "ATTRIBUTORS",
    "DEFAULT",
    "MOST_DOCUMENTS",
    "Attribution",
    "Attributor",
    "CosineAttributor",
    "Head",
    "LearnedAttributor",
    "LikeliestAttributor",
    "LlmAttributor",
    "MultiLabelAttributor",
    "RandomAttributor",
    "SentenceSources",
    "SourcesFound",
    "VerifierAttributor",
    "cited",
    "load_attributor",
    "uncited",
]
