# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""MPNet as this project's BERT: the same words under shifted ids, other names, places by distance.

MPNet numbers BERT's words from 4 on, has its own first, last and padding tokens, leaves out the kinds of
tokens, and adds to every attention score a bias by how far apart two tokens stand. So its weights become
those of ``network.CrossEncoder`` by moving rows and renaming, read our tokenizer's ids, and go back the same
way: what is saved is a checkpoint that transformers loads as ``MPNetForSequenceClassification``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vericite.train.distances import kinds_of_distance

SHIFT = 4
FIRST, PADDING, LAST, UNKNOWN, MASK = 0, 1, 2, 3, 30526
"""MPNet's ids of its own tokens."""
BERT_PADDING, BERT_FIRST, BERT_LAST = 0, 101, 102
PLACES_BEFORE = 2
"""Rows of MPNet's table of places that no token reads."""
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
    """An MPNet's weights, tensors or arrays, under our names and with rows at our tokenizer's ids."""
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
    """The way back: a classifier's weights as transformers names and orders MPNet's."""
    found: dict[str, Tensor] = {}
    for name, value in held.items():
        theirs = name
        # The classifier's own part is last in the table, since the pooler's becomes a classifier's too.
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
    """The kind of distance of each place from each other, [length, length]."""
    places = np.arange(length)
    return torch.from_numpy(kinds_of_distance(places[:, None] - places[None, :], kinds))


def write_tokenizer(ours: Path, folder: Path) -> None:
    """Our tokenizer with MPNet's ids, and one token between the texts of a pair, as it was trained."""
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
