# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
"""The reranker in torch: the verifier's network with one output."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from vericite.errors import ModelCardError, ModelMissingError
from vericite.train.network import WEIGHTS_FILE, CrossEncoder, Shape

LABEL = "relevant"


class RelevanceNetwork(CrossEncoder):
    """Logits of relevance, [batch, 1]."""

    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__(shape, dropout)
        self.classifier = nn.Linear(shape.hidden_size, 1)

    def save(self, folder: Path, weights: dict[str, Tensor] | None = None) -> None:
        """Write the weights, and the ``config.json`` that loads them anywhere."""
        super().save(folder, weights)
        path = folder / "config.json"
        held = json.loads(path.read_text(encoding="utf-8")) | {"id2label": {"0": LABEL}, "label2id": {LABEL: 0}}
        path.write_text(json.dumps(held, indent=2) + "\n", encoding="utf-8")


def load_relevance(folder: Path, dropout: float = 0.0, seed: int = 0, *, trained: bool = False) -> RelevanceNetwork:
    """A network from a base, a verifier or a checkpoint; a head of another size starts at random.

    Raises:
        ModelMissingError: The folder lacks the weights or their sizes.
        ModelCardError: The weights are not those of a BERT of these sizes; or, where it must be ``trained``, have
            no output of one column.
    """
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ModelMissingError(
            f"expected {WEIGHTS_FILE}; found none in {folder}. Name the base's or the run's folder."
        )
    shape = Shape.read(folder)
    if shape.by_distance:
        raise ModelCardError(f"expected a BERT; found an MPNet in {folder}. Use another base.")
    network = RelevanceNetwork(shape, dropout)
    chosen = torch.Generator().manual_seed(seed)
    nn.init.normal_(network.classifier.weight, std=0.02, generator=chosen)
    nn.init.zeros_(network.classifier.bias)
    held = {name.removeprefix("bert."): value.float() for name, value in load_file(path).items()}
    held.pop("embeddings.position_ids", None)
    if "classifier.bias" in held and len(held["classifier.bias"]) != 1:
        held = {name: value for name, value in held.items() if not name.startswith("classifier.")}
    if trained and "classifier.bias" not in held:
        raise ModelCardError(f"expected a trained reranker; {path} has no such head. Name a run's model, not a base.")
    if "pooler.dense.weight" not in held:
        nn.init.normal_(network.get_submodule("pooler.dense").weight, std=0.02, generator=chosen)
        nn.init.zeros_(network.get_submodule("pooler.dense").bias)
    missing, unexpected = network.load_state_dict(held, strict=False)
    lost = [name for name in missing if not name.startswith(("classifier.", "pooler."))]
    if lost or unexpected:
        raise ModelCardError(f"expected the weights of a BERT; {path} lacks {lost[:3]} and has {unexpected[:3]}")
    return network
