# torch comes with the extra [train] only, and its own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""The BERT cross-encoder in torch, for training: the same function as the graph of ``int8_graph``, in 32 bits.

It is written out, not taken from transformers: one product computes query, key and value, batches without padding need
no mask, and a slow import is avoided. Parameters keep Hugging Face's names, so checkpoints can be exchanged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from vericite.errors import ModelCardError, ModelMissingError
from vericite.lab.train.data import TOKENIZER
from vericite.lab.train.int8_graph import distance_buckets
from vericite.models.contracts import COLUMNS
from vericite.models.engine import EncodedInput

SHIFT = 4
FIRST, PADDING, LAST, UNKNOWN, MASK = 0, 1, 2, 3, 30526
"""MPNet's ids of its special tokens."""
BERT_PADDING, BERT_FIRST, BERT_LAST = 0, 101, 102
PLACES_BEFORE = 2
"""Rows of MPNet's position table that no token uses."""
WORDS = "embeddings.word_embeddings.weight"
PLACES = "embeddings.position_embeddings.weight"
PARTS = (
    (".attention.attn.q.", ".attention.self.query."),
    (".attention.attn.k.", ".attention.self.key."),
    (".attention.attn.v.", ".attention.self.value."),
    (".attention.attn.o.", ".attention.output.dense."),
    (".attention.LayerNorm.", ".attention.output.LayerNorm."),
    ("classifier.dense.", "pooler.dense."),
    ("classifier.out_proj.", "classifier."),
)


def from_mpnet(held: dict[str, Any]) -> dict[str, Any]:
    """Return an MPNet's weights (tensors or arrays) under our names, with rows in the order of our tokenizer."""
    found: dict[str, Any] = {}
    for name, value in held.items():
        own = name.removeprefix("mpnet.")
        if own == "embeddings.position_ids":
            continue
        for theirs, ours in PARTS:
            if theirs in own:
                own = own.replace(theirs, ours)
                break
        found[own] = value
    words = found[WORDS]
    table = words[SHIFT:-1] * 1  # a copy, of a tensor or an array
    for ours, theirs in ((BERT_FIRST, FIRST), (BERT_PADDING, PADDING), (BERT_LAST, LAST)):
        table[ours] = words[theirs]
    found[WORDS] = table
    found[PLACES] = found[PLACES][PLACES_BEFORE:] * 1
    return found


def to_mpnet(held: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return a classifier's weights as transformers names and orders MPNet's: the inverse of ``from_mpnet``."""
    found: dict[str, Tensor] = {}
    for name, value in held.items():
        theirs = name
        # The classifier comes last in the table, since the pooler becomes a part of MPNet's classifier.
        for after, ours in PARTS:
            if ours in name:
                theirs = name.replace(ours, after)
                break
        found[theirs if theirs.startswith("classifier.") else f"mpnet.{theirs}"] = value
    words, places = held[WORDS], held[PLACES]
    table = torch.zeros(len(words) + SHIFT + 1, words.shape[1])
    table[SHIFT:-1] = words
    for ours, theirs in ((BERT_FIRST, FIRST), (BERT_PADDING, PADDING), (BERT_LAST, LAST)):
        table[theirs] = words[ours]
    found[f"mpnet.{WORDS}"] = table
    found[f"mpnet.{PLACES}"] = torch.cat([torch.zeros(PLACES_BEFORE, places.shape[1]), places])
    return found


def distances(length: int, kinds: int) -> Tensor:
    """Return the distance bucket of each pair of positions, [length, length]."""
    places = np.arange(length)
    return torch.from_numpy(distance_buckets(places[:, None] - places[None, :], kinds))


def write_tokenizer(ours: Path, folder: Path) -> None:
    """Write our tokenizer with MPNet's ids and one token between the texts of a pair, as MPNet was trained."""
    held: dict[str, Any] = json.loads(ours.read_text(encoding="utf-8"))
    specials = {"<s>": FIRST, "<pad>": PADDING, "</s>": LAST, "<unk>": UNKNOWN, "<mask>": MASK}
    words = {word: number + SHIFT for word, number in held["model"]["vocab"].items()}
    held["model"]["vocab"] = specials | words
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    held["added_tokens"] = [{"id": number, "content": word, **plain} for word, number in specials.items()]
    held["post_processor"] = {"type": "BertProcessing", "sep": ["</s>", LAST], "cls": ["<s>", FIRST]}
    held["truncation"] = held["padding"] = None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")
    named = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>"}
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "mask_token": "<mask>"}
    limits = {"model_max_length": 512, "model_input_names": ["input_ids", "attention_mask"]}
    text = json.dumps({**named, **kind, **limits}, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")


WEIGHTS_FILE = "model.safetensors"
FAR = -1e9


@dataclass(frozen=True)
class Shape:
    """The sizes of a BERT, named as in its ``config.json``. The sizes of an MPNet are converted to a BERT's."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    relative_attention_num_buckets: int = 0

    @property
    def by_distance(self) -> bool:
        """Whether attention depends on the distance between tokens (MPNet)."""
        return self.relative_attention_num_buckets > 0

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the sizes from a folder's ``config.json``."""
        path = folder / "config.json"
        if not path.is_file():
            raise ModelMissingError(f"expected a BERT's config.json; found none in {folder}. Name the base's folder.")
        held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if held.get("hidden_act", "gelu") != "gelu":
            raise ModelCardError(f"expected a BERT with GELU; found {held['hidden_act']} in {path}. Use another base.")
        sizes = {name: held[name] for name in cls.__dataclass_fields__ if name in held}
        if held.get("model_type") == "mpnet":
            outside = {"vocab_size": SHIFT + 1, "max_position_embeddings": PLACES_BEFORE}
            sizes |= {name: held[name] - count for name, count in outside.items()} | {"type_vocab_size": 0}
        return cls(**sizes)


def _dropped(value: Tensor, share: float) -> Tensor:
    """Dropout from random bytes, with a share in steps of 1/256: torch's own takes 11 times as long on CPUs."""
    if value.device.type != "cpu":
        return F.dropout(value, share)
    level = round(share * 256)
    if not level:
        return value
    drawn = torch.randint(-(2**63), 2**63 - 1, (-(-value.numel() // 8),)).view(torch.uint8)
    kept = drawn[: value.numel()].view(value.shape) >= level
    return value * (kept.to(value.dtype) * (256 / (256 - level)))


class Embeddings(nn.Module):
    """The sum of word, position and type embeddings, normalised."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.word_embeddings = nn.Embedding(shape.vocab_size, width)
        self.position_embeddings = nn.Embedding(shape.max_position_embeddings, width)
        if shape.type_vocab_size:
            self.token_type_embeddings = nn.Embedding(shape.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, eps=shape.layer_norm_eps)

    def forward(self, ids: Tensor, kinds: Tensor) -> Tensor:
        """Return [batch, length, width]."""
        summed = self.word_embeddings(ids) + self.position_embeddings.weight[: ids.shape[1]]
        if "token_type_embeddings" in self._modules:
            summed = summed + self.token_type_embeddings(kinds)
        return self.LayerNorm(summed)


class Attention(nn.Module):
    """Self-attention with its projection and norm, under the names ``self`` and ``output``."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.heads = shape.num_attention_heads
        self.add_module("self", nn.ModuleDict({part: nn.Linear(width, width) for part in ("query", "key", "value")}))
        self.output = Residual(width, width, shape.layer_norm_eps)

    def forward(self, hidden: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
        """Attend, project, add and normalise."""
        parts = cast(nn.ModuleDict, self.get_submodule("self"))
        layers = [cast(nn.Linear, parts[name]) for name in ("query", "key", "value")]
        weight, bias = torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])
        batch, length, width = hidden.shape
        joint = F.linear(hidden, weight, bias).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = joint.permute(2, 0, 3, 1, 4)
        # Not torch's fused attention, which is 5 times slower backwards in 16 bits on CPUs.
        scores = query * (width // self.heads) ** -0.5 @ key.transpose(2, 3)
        mixed = (scores if mask is None else scores + mask.to(scores.dtype)).softmax(-1).to(value.dtype) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width), hidden, dropout)


class Residual(nn.Module):
    """A dense layer whose result is added to its residual input and normalised."""

    def __init__(self, inputs: int, outputs: int, epsilon: float) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, outputs)
        self.LayerNorm = nn.LayerNorm(outputs, eps=epsilon)

    def forward(self, value: Tensor, before: Tensor, dropout: float) -> Tensor:
        """Dense, add and normalise."""
        return self.LayerNorm(_dropped(self.dense(value), dropout) + before)


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Attention(shape)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(shape.hidden_size, shape.intermediate_size)})
        self.output = Residual(shape.intermediate_size, shape.hidden_size, shape.layer_norm_eps)

    def forward(self, hidden: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
        """Apply attention, then the feed-forward part."""
        hidden = self.attention(hidden, mask, dropout)
        return self.output(F.gelu(self.intermediate["dense"](hidden)), hidden, dropout)


class CrossEncoder(nn.Module):
    """BERT, its pooler (dense and tanh on the first token) and one linear layer over the labels."""

    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.embeddings = Embeddings(shape)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))})
        if shape.by_distance:
            self.encoder["relative_attention_bias"] = nn.Embedding(
                shape.relative_attention_num_buckets, shape.num_attention_heads
            )
        self.pooler = nn.ModuleDict({"dense": nn.Linear(shape.hidden_size, shape.hidden_size)})
        self.classifier = nn.Linear(shape.hidden_size, len(COLUMNS))

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.classifier.weight.device

    def forward(self, ids: Tensor, kinds: Tensor, lengths: Tensor) -> Tensor:
        """Return logits [batch, labels] on the network's device. ``lengths`` excludes padding."""
        padding = torch.arange(ids.shape[1]) >= lengths[:, None]
        mask = torch.zeros(padding.shape).masked_fill(padding, FAR)[:, None, None, :] if padding.any() else None
        # The mask is made on the CPU, where batches come from: it is small, and is copied once.
        mask = None if mask is None else mask.to(self.device)
        ids, kinds = ids.to(self.device), kinds.to(self.device)
        if self.shape.by_distance:
            apart = distances(ids.shape[1], self.shape.relative_attention_num_buckets).to(self.device)
            bias = self.encoder["relative_attention_bias"](apart).permute(2, 0, 1)[None]
            mask = bias if mask is None else bias + mask
        dropout = self.dropout if self.training else 0.0
        hidden = _dropped(self.embeddings(ids, kinds), dropout)
        for layer in cast(nn.ModuleList, self.encoder["layer"]):
            hidden = layer(hidden, mask, dropout)
        # In 32 bits: this costs little compared with the layers, and 16 bits would round the logits to hundredths.
        with torch.autocast(self.device.type, enabled=False):
            pooled = torch.tanh(self.pooler["dense"](hidden[:, 0].float()))
            return self.classifier(_dropped(pooled, dropout))

    def save(self, folder: Path, weights: dict[str, Tensor] | None = None) -> None:
        """Write the weights (or others with the same names) and the ``config.json`` that loads them anywhere."""
        folder.mkdir(parents=True, exist_ok=True)
        held = {name: value.cpu() for name, value in (weights or self.state_dict()).items()}
        if self.shape.by_distance:
            named = to_mpnet(held)
        else:
            named = {name if name.startswith("classifier") else f"bert.{name}": held[name] for name in held}
        named = {name: value.detach().contiguous() for name, value in named.items()}
        save_file(named, folder / WEIGHTS_FILE, metadata={"format": "pt"})
        (folder / "config.json").write_text(json.dumps(_described(self.shape), indent=2) + "\n", encoding="utf-8")


def _described(shape: Shape) -> dict[str, Any]:
    labels = {"id2label": dict(enumerate(COLUMNS)), "label2id": {label: i for i, label in enumerate(COLUMNS)}}
    kind = {"architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_act": "gelu"}
    sizes = dict(vars(shape))
    if shape.by_distance:
        kind |= {"architectures": ["MPNetForSequenceClassification"], "model_type": "mpnet"}
        ends = {"bos_token_id": FIRST, "pad_token_id": PADDING, "eos_token_id": LAST}
        sizes |= {"vocab_size": shape.vocab_size + SHIFT + 1, **ends}
        sizes["max_position_embeddings"] += PLACES_BEFORE
    return {**kind, **sizes, **labels}


def load_network(folder: Path, dropout: float = 0.0, seed: int = 0, *, trained: bool = False) -> CrossEncoder:
    """Load a network from a base or a checkpoint. A missing pooler or classifier starts at random.

    So does a classifier with other outputs, such as a reranker's single score.

    Raises:
        ModelMissingError: The folder lacks the weights or their sizes.
        ModelCardError: The weights are not a BERT's of these sizes, or have no classifier although ``trained``.
    """
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ModelMissingError(
            f"expected {WEIGHTS_FILE}; found none in {folder}. Name the base's or the run's folder."
        )
    network = CrossEncoder(Shape.read(folder), dropout)
    _start_head(network, seed)
    held = {name.removeprefix("bert."): value.float() for name, value in load_file(path).items()}
    if network.shape.by_distance:
        held = from_mpnet(held)
    held.pop("embeddings.position_ids", None)
    own = held.get("classifier.weight")
    if own is not None and own.shape != network.classifier.weight.shape:
        held = {name: value for name, value in held.items() if not name.startswith("classifier.")}
    missing, unexpected = network.load_state_dict(held, strict=False)
    lost = [name for name in missing if not name.startswith(("classifier.", "pooler."))]
    if lost or unexpected:
        raise ModelCardError(f"expected the weights of a BERT; {path} lacks {lost[:3]} and has {unexpected[:3]}")
    if trained and "classifier.weight" in missing:
        raise ModelCardError(f"expected a trained verifier; {path} has no classifier. Name a run's model, not a base.")
    return network


def tokenizer_of(folder: Path) -> Path:
    """Return the tokenizer of a base or a checkpoint: its own file, except for an MPNet, which has other ids."""
    own = folder / "tokenizer.json"
    return TOKENIZER if Shape.read(folder).by_distance or not own.is_file() else own


def padded(rows: Sequence[EncodedInput]) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, types and lengths of a batch, in the form the network takes."""
    lengths = np.array([len(row.ids) for row in rows])
    ids = np.zeros((len(rows), lengths.max()), dtype=np.int64)
    kinds = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row.ids)] = row.ids
        kinds[place, : len(row.ids)] = row.type_ids
    return torch.from_numpy(ids), torch.from_numpy(kinds), torch.from_numpy(lengths)


def logits_of(network: CrossEncoder, rows: Sequence[EncodedInput], half: bool = False) -> NDArray[np.float32]:
    """Return the network's output for a batch; ``half`` computes the layers in 16 bits."""
    with torch.inference_mode(), torch.autocast(network.device.type, torch.bfloat16, enabled=half):
        return network(*padded(rows)).cpu().numpy()


def _start_head(network: CrossEncoder, seed: int) -> None:
    chosen = torch.Generator().manual_seed(seed)
    for layer in (cast(nn.Linear, network.pooler["dense"]), network.classifier):
        nn.init.normal_(layer.weight, std=0.02, generator=chosen)
        nn.init.zeros_(layer.bias)
