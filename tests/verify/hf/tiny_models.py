"""Checkpoints of real architectures with random weights, saved as a user would have them: small, and in no time.

And pairs to judge with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from vericite.models import Pair

SENTENCES = (
    "Aspirin lowers fever in adults .",
    "The trial enrolled 400 adults in Norway .",
    "Statins lowered LDL cholesterol, and mortality was lower with dexamethasone than with usual care .",
    "premise: hypothesis: Claim: Reference: Attributable Extrapolatory Contradictory 1 0 maybe",
    "Verify whether a given reference can support the claim. Options: Attributable, Extrapolatory or Contradictory.",
)
LABELS = ("entailment", "neutral", "contradiction")
SIZE: Mapping[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    # Large, so that random weights tell texts apart.
    "initializer_range": 0.5,
}
POSITIONS = 40
KINDS = ("deberta", "bert", "roberta")
PAIRS = [
    Pair("Aspirin lowers fever in adults .", "Aspirin lowers fever ."),
    Pair("", ""),
    Pair("The trial enrolled 400 adults in Norway .", "Statins"),
    Pair("a", "The trial enrolled 400 adults ."),
    Pair("mortality was lower with dexamethasone", "lower \ud800 mortality"),
]
LONG = Pair("Aspirin lowers fever in adults . " * 30, "Aspirin lowers fever .")


def classifier(kind: str, folder: Path, labels: Sequence[str] = LABELS, seed: int = 0) -> Path:
    """A classifier with these labels; ``kind`` is deberta, bert or roberta."""
    tokenizer = {"deberta": _unigram, "bert": _wordpiece, "roberta": _bytes}[kind]()
    common = {**SIZE, "vocab_size": len(tokenizer), "id2label": dict(enumerate(labels))}
    if kind == "deberta":
        config = transformers.DebertaV2Config(
            **common,
            max_position_embeddings=POSITIONS,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=16,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            pooler_hidden_size=16,
        )
        model_class = transformers.DebertaV2ForSequenceClassification
    elif kind == "bert":
        config = transformers.BertConfig(**common, max_position_embeddings=POSITIONS)
        model_class = transformers.BertForSequenceClassification
    else:
        config = transformers.RobertaConfig(**common, max_position_embeddings=POSITIONS + 2, type_vocab_size=1)
        model_class = transformers.RobertaForSequenceClassification
    torch.manual_seed(seed)
    return _saved(model_class(config), tokenizer, folder)


def writer(folder: Path, says: Sequence[str], eos: bool = True, positions: int = 2000) -> Path:
    """A T5 that writes these tokens of its vocabulary, whatever it is asked.

    Every token has a dimension of its own, attention adds nothing, and the decoder's feed-forward layer leads
    from each token to the next.
    """
    tokenizer = _sentencepiece()
    rows = len(tokenizer)
    config = transformers.T5Config(
        vocab_size=rows,
        d_model=rows,
        d_kv=4,
        d_ff=rows,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        n_positions=positions,
    )
    torch.manual_seed(0)
    model = transformers.T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.shared.weight.copy_(torch.eye(rows) * rows**0.5)
        for name, weights in model.decoder.named_parameters():
            if name.endswith((".o.weight", ".wo.weight")):
                weights.zero_()
        layer = step(model)
        layer.wi.weight.copy_(torch.eye(rows))
        ids = [0, *tokenizer.convert_tokens_to_ids(list(says)), *([1] if eos else [])]
        for now, following in pairwise([*ids, ids[-1]]):
            layer.wo.weight[following, now] = 5
    # What a checkpoint says of sampling must change nothing.
    model.generation_config.update(do_sample=True, temperature=5.0, num_beams=3)
    return _saved(model, tokenizer, folder)


def step(model: Any) -> Any:
    """The layer of a ``writer`` that leads from one token to the next: ``wo.weight[next, now]``."""
    return model.decoder.block[0].layer[-1].DenseReluDense


def asker(folder: Path, positions: int = 64, seed: int = 0) -> Path:
    """A T5 of random weights."""
    tokenizer = _sentencepiece()
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=3.0,
        n_positions=positions,
    )
    torch.manual_seed(seed)
    return _saved(transformers.T5ForConditionalGeneration(config), tokenizer, folder)


def change(folder: Path, **values: Any) -> Path:
    """The checkpoint with other values in its configuration; None takes one away."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({name: value for name, value in config.items() if value is not None}))
    return folder


def numbered(labels: Iterable[str]) -> dict[str, str]:
    """The labels as a configuration names its outputs."""
    return {str(number): label for number, label in enumerate(labels)}


def probabilities(judge: Any, pairs: list[Pair]) -> np.ndarray:
    return np.array([item.probabilities for item in judge.judge(pairs)])


def _saved(model: Any, tokenizer: Any, folder: Path) -> Path:
    bars = transformers.utils.logging
    bars.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _wordpiece() -> Any:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        SENTENCES, trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False)
    )
    _frame(tokenizer, "[CLS]", "[SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return transformers.BertTokenizerFast(tokenizer_object=tokenizer)


def _unigram() -> Any:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    tokenizer.train_from_iterator(
        SENTENCES,
        trainers.UnigramTrainer(vocab_size=200, special_tokens=special, unk_token="[UNK]", show_progress=False),
    )
    _frame(tokenizer, "[CLS]", "[SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        mask_token="[MASK]",
    )


def _bytes() -> Any:
    """RoBERTa's, whose separator stands twice between the texts and whose numbers of texts are all zero."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    _frame(tokenizer, "<s>", "</s>", "<s> $A </s> </s> $B </s>")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
        model_max_length=512,
    )


def _sentencepiece() -> Any:
    """T5's: words with their space, the answers whole, and an end but no start."""
    words = ["1", "0", "attributable", "Attributable", "Extrapolatory", "Contradictory", "maybe", "premise:", "a", "b"]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -9.0)]
    pieces += [(f"▁{word}", -2.0) for word in words]
    pieces += [(character, -4.0 - position / 100) for position, character in enumerate(map(chr, range(33, 127)))]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    )


def _frame(tokenizer: Tokenizer, start: str, end: str, pair: str) -> None:
    tokens = [(token, tokenizer.token_to_id(token)) for token in (start, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", pair=pair, special_tokens=tokens
    )
