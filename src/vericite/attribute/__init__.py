"""Attribution after generation: citations for answers that have none."""

from vericite.attribute.attribution import Attribution, SentenceSources
from vericite.attribute.attributor import Attributor, Found
from vericite.attribute.baselines import CosineAttributor, RandomAttributor
from vericite.attribute.citing import MOST_DOCUMENTS, cited, uncited
from vericite.attribute.likeliest import LikeliestAttributor
from vericite.attribute.multilabel import MultiLabelAttributor
from vericite.attribute.prompted import LlmAttributor
from vericite.attribute.registry import USUAL, WAYS, load_attributor
from vericite.attribute.verified import VerifierAttributor

__all__ = [
    "MOST_DOCUMENTS",
    "USUAL",
    "WAYS",
    "Attribution",
    "Attributor",
    "CosineAttributor",
    "Found",
    "LikeliestAttributor",
    "LlmAttributor",
    "MultiLabelAttributor",
    "RandomAttributor",
    "SentenceSources",
    "VerifierAttributor",
    "cited",
    "load_attributor",
    "uncited",
]
