# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
"""The networks that are trained: a BERT or MPNet in fused form, and a Qwen2 read from a GGUF file.

They compute what ``vericite.lab.train.network`` and transformers do (tests/recipes/test_gpu.py), need only torch and
numpy, and run a step in some thirty launches a layer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

FAR = -1e4
LABELS = 3
Group = dict[str, Any]


def grouped(rate: float, decay: float, decayed: list[Tensor], plain: list[Tensor], top: list[Tensor]) -> list[Group]:
    """The optimiser's groups; ``full`` is the rate at the top of the schedule."""
    sorted_out = ((decayed, rate, decay), (plain, rate, 0.0), (top, rate * 10, 0.0))
    return [{"params": held, "lr": own, "full": own, "weight_decay": loss} for held, own, loss in sorted_out if held]


class EncoderNet(nn.Module):
    """A cross-encoder over three labels; embeddings keep their base's values.

    Args:
        sizes: ``width``, ``inner``, ``layers``, ``heads``, ``words``, ``places``, ``kinds``, ``epsilon`` and
            ``buckets`` (of an MPNet's distances, else 0).
        dropout: Share of activations dropped in training.
        looks: Layers after which a guess is made in training, so that exits there see more (``release exits``).
        frozen: Number of first layers that are not trained.
    """

    def __init__(self, sizes: dict[str, Any], dropout: float = 0.0, looks: Sequence[int] = (), frozen: int = 0) -> None:
        super().__init__()
        self.sizes, self.dropout, self.looks, self.frozen = sizes, dropout, tuple(looks), frozen
        width, inner, layers = sizes["width"], sizes["inner"], range(sizes["layers"])
        self.word, self.place = (nn.Parameter(torch.zeros(sizes[name], width)) for name in ("words", "places"))
        self.kind = nn.Parameter(torch.zeros(max(sizes["kinds"], 1), width))
        self.norm = nn.LayerNorm(width, sizes["epsilon"])
        self.joint = nn.ModuleList(nn.Linear(width, 3 * width) for _ in layers)
        self.out = nn.ModuleList(nn.Linear(width, width) for _ in layers)
        self.norm1, self.norm2 = (
            nn.ModuleList(nn.LayerNorm(width, sizes["epsilon"]) for _ in layers) for _ in range(2)
        )
        self.up = nn.ModuleList(nn.Linear(width, inner) for _ in layers)
        self.down = nn.ModuleList(nn.Linear(inner, width) for _ in layers)
        self.distance = nn.Parameter(torch.zeros(sizes["buckets"], sizes["heads"])) if sizes["buckets"] else None
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, LABELS)
        self.look = nn.ModuleList(nn.Linear(3 * width, LABELS) for _ in looks)
        self.guesses: list[Tensor] = []
        self.below: tuple[Tensor, Tensor] | None = None

    def _distances(self, length: int, device: torch.device) -> Tensor:
        place = torch.arange(length, device=device)
        apart = place[:, None] - place[None, :]
        side = self.sizes["buckets"] // 2
        exact = side // 2
        size = apart.abs()
        far = exact + (torch.log(size.float().clamp(min=1) / exact) / math.log(128 / exact) * (side - exact)).long()
        return (apart < 0).long() * side + torch.where(size < exact, size, far.clamp(max=side - 1))

    def forward(self, ids: Tensor, kinds: Tensor, lengths: Tensor) -> Tensor:
        """Logits [rows, labels], in 32 bits.

        ``guesses`` has those of the looks, and ``below`` what the layers that are trained read.
        """
        rows, length = ids.shape
        self.guesses = []
        summed = F.embedding(ids, self.word) + self.place[:length]
        if not self.sizes["buckets"]:
            summed = summed + F.embedding(kinds, self.kind)
        hidden = F.dropout(self.norm(summed), self.dropout, self.training)
        padding = torch.arange(length, device=ids.device)[None] >= lengths[:, None]
        kept = torch.bfloat16 if ids.is_cuda else torch.float32
        mask = torch.zeros(rows, 1, 1, length, device=ids.device, dtype=kept).masked_fill(padding[:, None, None], FAR)
        if self.distance is not None:
            mask = mask + self.distance[self._distances(length, ids.device)].permute(2, 0, 1)[None].to(kept)
        for layer in range(self.sizes["layers"]):
            if layer == self.frozen:
                self.below = hidden, mask
            with torch.set_grad_enabled(torch.is_grad_enabled() and layer >= self.frozen):
                hidden = self._layer(layer, hidden, mask)
            if self.training and layer + 1 in self.looks:
                self.guesses.append(self._guess(len(self.guesses), hidden, kinds, padding))
        return self._judged(hidden)

    def above(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Logits from what another network, with the same frozen layers, had ``below``."""
        for layer in range(self.frozen, self.sizes["layers"]):
            hidden = self._layer(layer, hidden, mask)
        return self._judged(hidden)

    def _layer(self, layer: int, hidden: Tensor, mask: Tensor) -> Tensor:
        rows, length, width = hidden.shape
        heads = self.sizes["heads"]
        parts = self.joint[layer](hidden).view(rows, length, 3, heads, width // heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        # The fused way back is four times as slow as the plain one on a processor.
        fused = hidden.is_cuda or not torch.is_grad_enabled()
        if self.distance is None and fused:
            whole = mask.expand(rows, heads, length, length).to(query.dtype)
            mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=whole)
        else:
            shift = mask.to(query.dtype) if self.distance is None else mask
            scores = (query * (width // heads) ** -0.5) @ key.transpose(2, 3) + shift
            mixed = scores.softmax(-1).to(value.dtype) @ value
        mixed = self.out[layer](mixed.transpose(1, 2).reshape(rows, length, width))
        hidden = self.norm1[layer](F.dropout(mixed, self.dropout, self.training) + hidden)
        inner = self.down[layer](F.gelu(self.up[layer](hidden)))
        return self.norm2[layer](F.dropout(inner, self.dropout, self.training) + hidden)

    def _judged(self, hidden: Tensor) -> Tensor:
        with torch.autocast(hidden.device.type, enabled=False):
            return self.classifier(torch.tanh(self.pooler(hidden[:, 0].float())))

    def _guess(self, number: int, hidden: Tensor, kinds: Tensor, padding: Tensor) -> Tensor:
        """From the first token and the means of both texts."""
        claim = kinds.float()
        both = torch.stack([(~padding).float() - claim, claim], 1)
        with torch.autocast(hidden.device.type, enabled=False):
            means = both @ hidden.float() / both.sum(2, keepdim=True).clamp(min=1)
            return self.look[number](torch.cat([hidden[:, :1].float(), means], 1).flatten(1))

    def groups(self, rate: float, decay: float) -> list[Group]:
        """What is trained: all but the embeddings and the frozen layers."""
        decayed: list[Tensor] = []
        plain: list[Tensor] = []
        layered = ("joint", *(ours for ours, _ in PARTS))
        for name, parameter in self.named_parameters():
            part, *rest = name.split(".")
            is_below = part in layered and int(rest[0]) < self.frozen
            if is_below or part in ("word", "place", "kind", "norm"):
                parameter.requires_grad_(False)
            else:
                (plain if name.endswith("bias") or name.startswith("norm") else decayed).append(parameter)
        return grouped(rate, decay, decayed, plain, [])


PARTS = (
    ("out", "attention.output.dense"), ("norm1", "attention.output.LayerNorm"), ("up", "intermediate.dense"),
    ("down", "output.dense"), ("norm2", "output.LayerNorm"),
)  # fmt: skip
EMBEDDED = (
    ("place", "embeddings.position_embeddings.weight"), ("kind", "embeddings.token_type_embeddings.weight"),
    ("norm.weight", "embeddings.LayerNorm.weight"), ("norm.bias", "embeddings.LayerNorm.bias"),
)  # fmt: skip


def from_checkpoint(held: dict[str, NDArray[Any]], words: NDArray[Any], layers: int) -> dict[str, NDArray[Any]]:
    """A checkpoint's tensors, by the names of ``vericite.lab.train.network``, under ours and with these words alone."""
    found = {ours: held[theirs] for ours, theirs in EMBEDDED if theirs in held}
    found["word"] = held["embeddings.word_embeddings.weight"][words]
    if "encoder.relative_attention_bias.weight" in held:
        found["distance"] = held["encoder.relative_attention_bias.weight"]
    for kind in ("weight", "bias"):
        for layer in range(layers):
            name = f"encoder.layer.{layer}"
            joint = [held[f"{name}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            found[f"joint.{layer}.{kind}"] = np.concatenate(joint)
            found |= {f"{ours}.{layer}.{kind}": held[f"{name}.{theirs}.{kind}"] for ours, theirs in PARTS}
        if f"pooler.dense.{kind}" in held:
            found[f"pooler.{kind}"] = held[f"pooler.dense.{kind}"]
        if len(held.get(f"classifier.{kind}", ())) == LABELS:  # a reranker's has one
            found[f"classifier.{kind}"] = held[f"classifier.{kind}"]
    return found


def layers_of(weights: Iterable[str]) -> int:
    """How many layers these are of."""
    return sum(name.startswith("joint.") for name in weights) // 2


def to_checkpoint(weights: dict[str, Tensor], held: dict[str, Tensor], words: NDArray[Any]) -> dict[str, Tensor]:
    """The way back: trained weights in the place of a base's."""
    found = dict(held)
    table = held["embeddings.word_embeddings.weight"].clone()
    if "word" in weights:
        table[torch.from_numpy(words)] = weights["word"].float()
    found["embeddings.word_embeddings.weight"] = table
    found |= {theirs: weights[ours].float() for ours, theirs in EMBEDDED if theirs in held}
    if "distance" in weights:
        found["encoder.relative_attention_bias.weight"] = weights["distance"].float()
    layers = layers_of(weights)
    for kind in ("weight", "bias"):
        for layer in range(layers):
            name = f"encoder.layer.{layer}"
            for part, value in zip(("query", "key", "value"), weights[f"joint.{layer}.{kind}"].chunk(3), strict=True):
                found[f"{name}.attention.self.{part}.{kind}"] = value.float().contiguous()
            found |= {f"{name}.{theirs}.{kind}": weights[f"{ours}.{layer}.{kind}"].float() for ours, theirs in PARTS}
        found[f"pooler.dense.{kind}"] = weights[f"pooler.{kind}"].float()
        found[f"classifier.{kind}"] = weights[f"classifier.{kind}"].float()
    return found


def pack_base(folder: Path, words: NDArray[Any], out: Path, layers: int | None = None, whole: bool = False) -> None:
    """Weights in 8 bits a row and without unused words, to travel; 16 bits would take twice the time.

    With ``layers`` only so many, the first. With ``whole`` they keep their 32 bits, to continue from a trained model.
    """
    from safetensors.numpy import load_file

    from vericite.lab.train.network import Shape, from_mpnet

    shape = Shape.read(folder)
    held = {name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()}
    held = {
        name: np.asarray(value, np.float32) for name, value in (from_mpnet(held) if shape.by_distance else held).items()
    }
    layers = layers or shape.num_hidden_layers
    if not 0 < layers <= shape.num_hidden_layers:
        raise SystemExit(f"expected one to {shape.num_hidden_layers} layers of {folder}; found {layers}")
    weights = from_checkpoint(held, words, layers)
    sizes = {
        "width": shape.hidden_size, "inner": shape.intermediate_size, "layers": layers,
        "heads": shape.num_attention_heads, "words": len(words), "places": len(weights["place"]),
        "kinds": shape.type_vocab_size, "epsilon": shape.layer_norm_eps,
        "buckets": shape.relative_attention_num_buckets,
    }  # fmt: skip
    packed: dict[str, NDArray[Any]] = {"sizes": np.frombuffer(json.dumps(sizes).encode(), np.uint8)}
    for name, value in weights.items():
        if not whole and value.ndim == 2 and min(value.shape) > shape.num_attention_heads:
            scale = np.abs(value).max(1) / 127 + 1e-12
            packed[name] = np.round(value / scale[:, None]).astype(np.int8)
            packed[f"{name}/scale"] = scale
        else:
            packed[name] = value
    np.savez_compressed(out, **packed)


def load_base(
    path: Path, dropout: float = 0.0, seed: int = 0, looks: Sequence[int] = (), frozen: int = 0
) -> EncoderNet:
    """What ``pack_base`` wrote; what a base lacks of pooler and classifier starts at random."""
    held = np.load(path)
    network = EncoderNet(json.loads(bytes(held["sizes"]).decode()), dropout, looks, frozen)
    chosen = torch.Generator().manual_seed(seed)
    for layer in (network.pooler, network.classifier, *network.look):
        nn.init.normal_(layer.weight, std=0.02, generator=chosen)
        nn.init.zeros_(layer.bias)
    weights: dict[str, Tensor] = {}
    for name in held.files:
        if name != "sizes" and not name.endswith("/scale"):
            value = held[name].astype(np.float32)
            weights[name] = torch.from_numpy(
                value * held[f"{name}/scale"][:, None] if held[name].dtype == np.int8 else value
            )
    missing, unexpected = network.load_state_dict(weights, strict=False)
    if unexpected or {name.split(".")[0] for name in missing} - {"pooler", "classifier", "kind", "look"}:
        raise ValueError(f"expected a packed base; {path} lacks {missing} and has {unexpected}")
    return network


@dataclass(frozen=True)
class Blocks:
    """A tensor of a GGUF file as it lies there."""

    raw: NDArray[np.uint8]
    kind: str
    shape: tuple[int, ...]

    def on(self, device: str) -> Tensor:
        """Its values in 32 bits."""
        data = torch.from_numpy(self.raw.copy()).to(device)

        def half(part: Tensor) -> Tensor:
            return part.contiguous().view(torch.float16).float()

        if self.kind == "F32":
            return data.view(torch.float32).reshape(self.shape).clone()
        if self.kind == "F16":
            return half(data).reshape(self.shape)
        if self.kind == "Q8_0":
            data = data.view(-1, 34)
            return (half(data[:, :2]) * data[:, 2:].contiguous().view(torch.int8).float()).reshape(self.shape)
        if self.kind == "Q5_0":
            data = data.view(-1, 22)
            low = data[:, 6:]
            shifts = torch.arange(32, device=data.device, dtype=torch.int32)
            high = (data[:, 2:6].contiguous().view(torch.int32) >> shifts) & 1
            values = torch.cat([low & 15, low >> 4], 1).int() | (high << 4)
            return (half(data[:, :2]) * (values.float() - 16)).reshape(self.shape)
        if self.kind == "Q4_K":
            data = data.view(-1, 144)
            packed = data[:, 4:16].int()
            scale = torch.cat([packed[:, :4] & 63, (packed[:, 8:] & 15) | ((packed[:, :4] >> 6) << 4)], 1).float()
            least = torch.cat([packed[:, 4:8] & 63, (packed[:, 8:] >> 4) | ((packed[:, 4:8] >> 6) << 4)], 1).float()
            values = data[:, 16:].view(-1, 4, 1, 32)
            values = torch.cat([values & 15, values >> 4], 2).reshape(-1, 8, 32).float()
            scale, least = half(data[:, :2]) * scale, half(data[:, 2:4]) * least
            return (scale[:, :, None] * values - least[:, :, None]).reshape(self.shape)
        if self.kind == "Q6_K":
            data = data.view(-1, 210)
            low, high = data[:, :128].view(-1, 2, 64), data[:, 128:192].view(-1, 2, 32)
            first, second = low[:, :, :32], low[:, :, 32:]
            nibbles = (first & 15, second & 15, first >> 4, second >> 4)
            values = torch.stack([part | (((high >> 2 * i) & 3) << 4) for i, part in enumerate(nibbles)], 2)
            scale = half(data[:, 208:]) * data[:, 192:208].contiguous().view(torch.int8).float()
            scale = scale[:, :, None].expand(-1, 16, 16).reshape(-1, 256)
            return (scale * (values.reshape(-1, 256).int().float() - 32)).reshape(self.shape)
        raise ValueError(f"expected a tensor of F32, F16, Q8_0, Q5_0, Q4_K or Q6_K; found {self.kind}")


class LanguageJudge(nn.Module):
    """A Qwen2 that reads both texts and gives three logits at its last token."""

    def __init__(self, path: Path, words: NDArray[Any], device: str) -> None:
        from gguf import GGUFReader

        super().__init__()
        reader = GGUFReader(str(path))

        def number(name: str) -> float:
            return float(reader.fields[f"qwen2.{name}"].parts[-1][0])

        blocks = {
            it.name: Blocks(
                np.asarray(it.data).view(np.uint8).reshape(-1),
                it.tensor_type.name,
                tuple(map(int, it.shape.tolist()[::-1])),
            )
            for it in reader.tensors
        }
        self.heads, self.shared = int(number("attention.head_count")), int(number("attention.head_count_kv"))
        self.size = int(number("embedding_length")) // self.heads
        self.epsilon, self.base = number("attention.layer_norm_rms_epsilon"), number("rope.freq_base")
        layers = range(int(number("block_count")))

        def one(name: str) -> nn.Parameter:
            return nn.Parameter(blocks[name].on(device))

        def joined(layer: int, *names: str) -> nn.Parameter:
            return nn.Parameter(torch.cat([blocks[f"blk.{layer}.{name}"].on(device) for name in names]))

        table = blocks["token_embd.weight"].on(device)[torch.from_numpy(words.astype(np.int64)).to(device)]
        self.word = nn.Parameter(table.clone(), requires_grad=False)
        named = {
            "joint": ("attn_q.weight", "attn_k.weight", "attn_v.weight"),
            "joint_bias": ("attn_q.bias", "attn_k.bias", "attn_v.bias"),
            "out": ("attn_output.weight",),
            "inner": ("ffn_gate.weight", "ffn_up.weight"),
            "down": ("ffn_down.weight",),
            "norm1": ("attn_norm.weight",),
            "norm2": ("ffn_norm.weight",),
        }
        for name, parts in named.items():
            self.register_module(name, nn.ParameterList(joined(layer, *parts) for layer in layers))
        self.norm = one("output_norm.weight")
        self.classifier = nn.Linear(len(self.norm), 3, device=device)
        nn.init.normal_(self.classifier.weight, std=0.01)
        nn.init.zeros_(self.classifier.bias)

    def _normed(self, value: Tensor, scale: Tensor) -> Tensor:
        whole = value.float()
        whole = whole * torch.rsqrt(whole.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return (whole * scale.float()).to(value.dtype)

    def hidden(self, ids: Tensor) -> Tensor:
        """The last layer's output for each token."""
        rows, length = ids.shape
        kept = torch.bfloat16 if ids.is_cuda else torch.float32
        turns = 1.0 / (self.base ** (torch.arange(0, self.size, 2, device=ids.device).float() / self.size))
        angles = torch.arange(length, device=ids.device).float()[:, None] * turns
        cosines, sines = (torch.cat([part, part], 1) for part in (angles.cos(), angles.sin()))

        def turned(value: Tensor) -> Tensor:
            first, second = value.chunk(2, -1)
            whole = value.float() * cosines + torch.cat([-second, first], -1).float() * sines
            return whole.to(value.dtype)

        hidden = F.embedding(ids, self.word).to(kept)
        parts = [self.get_submodule(name) for name in ("joint", "joint_bias", "out", "inner", "down", "norm1", "norm2")]
        for joint, bias, out, inner, down, norm1, norm2 in zip(*parts, strict=True):
            read = F.linear(self._normed(hidden, norm1), joint.to(kept), bias.to(kept))
            read = read.view(rows, length, -1, self.size).transpose(1, 2)
            query, key, value = read.split([self.heads, self.shared, self.shared], 1)
            times = self.heads // self.shared
            key, value = turned(key).repeat_interleave(times, 1), value.repeat_interleave(times, 1)
            mixed = F.scaled_dot_product_attention(turned(query), key, value, is_causal=True)
            hidden = hidden + F.linear(mixed.transpose(1, 2).reshape(rows, length, -1), out.to(kept))
            gate, up = F.linear(self._normed(hidden, norm2), inner.to(kept)).chunk(2, -1)
            hidden = hidden + F.linear(F.silu(gate) * up, down.to(kept))
        return self._normed(hidden, self.norm)

    def forward(self, ids: Tensor, _kinds: Tensor, lengths: Tensor) -> Tensor:
        """Logits [rows, labels], in 32 bits."""
        last = self.hidden(ids)[torch.arange(len(ids), device=ids.device), lengths - 1]
        with torch.autocast(ids.device.type, enabled=False):
            return self.classifier(last.float())

    def groups(self, rate: float, decay: float) -> list[Group]:
        """What is trained: all but the embeddings; the new layer ten times as fast."""
        named = [(name, held) for name, held in self.named_parameters() if held.requires_grad]
        top = [held for name, held in named if name.startswith("classifier")]
        rest = [held for name, held in named if not name.startswith("classifier")]
        return grouped(rate, decay, [it for it in rest if it.ndim > 1], [it for it in rest if it.ndim == 1], top)

    def halve(self) -> None:
        """Keep all but the new layer in 16 bits, to judge."""
        for name, held in self.named_parameters():
            if not name.startswith("classifier"):
                held.data = held.data.bfloat16()
