"""Small data in the published forms for MultiAttr's tables, and a tiny random decoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MINERALS = ("zinc", "iron", "iodine", "copper", "selenium", "calcium", "magnesium", "cobalt", "sulfur", "silicon")
EFFECTS = ("shortens colds", "cures anaemia", "prevents goitre", "strengthens bones", "lowers pressure")


def verifiability(path: Path, count: int, seed: int) -> Path:
    """Statements of a response about several minerals, each with its page."""
    rows: list[dict[str, Any]] = []
    for number in range(count):
        names = [MINERALS[(number * 3 + seed + place) % len(MINERALS)] for place in range(3)]
        for place, name in enumerate(names):
            effect = EFFECTS[(number + place + seed) % len(EFFECTS)]
            fact = f"{name.capitalize()} {effect} in trial {seed}{number}."
            rows.append(
                {
                    "query": f"which minerals help in trial {seed}{number}",
                    "response": f"Answer {seed}{number}.",
                    "statement": fact,
                    "source_title": name,
                    "source_raw_text": f"{fact} It was a small trial.",
                    "source_supports_statement": "complete_support",
                    "source_localized_evidence": fact,
                    "source_url": f"https://example.org/{seed}{number}/{name}",
                }
            )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def marco(path: Path, count: int, seed: int) -> Path:
    rows = [
        {
            "query_id": seed * 1000 + number,
            "query": f"what does {MINERALS[number % 10]} do in study {seed}{number}",
            "passages": [
                {
                    "is_selected": int(place == number % 4),
                    "passage_text": f"{MINERALS[(number + place) % 10].capitalize()} {EFFECTS[place]} {seed}{number}.",
                    "url": f"u{place}",
                }
                for place in range(4)
            ],
            "answers": ["it helps"],
            "wellFormedAnswers": [
                f"{MINERALS[(number + number % 4) % 10].capitalize()} {EFFECTS[number % 4]} {seed}{number}."
            ],
        }
        for number in range(count)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def examples(path: Path, prefix: str, count: int) -> Path:
    """Made examples: a sentence, a source that says it, and another one."""
    rows = [
        {
            "id": f"{prefix}{number}",
            "question": f"What does {MINERALS[number % 10]} do, {prefix} {number}?",
            "sentence": f"{MINERALS[number % 10].capitalize()} {EFFECTS[number % 5]} {prefix}{number}.",
            "sources": [
                {"id": "a", "text": f"{MINERALS[number % 10].capitalize()} {EFFECTS[number % 5]} {prefix}{number}."},
                {"id": "b", "text": f"Nothing was said about {prefix}{number}."},
            ],
            "supports": [1],
            "group": f"{prefix}{number}",
        }
        for number in range(count)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def alce(path: Path, exact: bool) -> Path:
    rows = [
        {
            "sample_id": f"{path.stem}-{number}",
            "question": f"What does {MINERALS[number]} do?",
            "docs": [
                {"id": str(place), "title": "T", "text": f"{MINERALS[number]} {EFFECTS[place]}."} for place in range(5)
            ],
            "answer": f"{MINERALS[number].capitalize()} {EFFECTS[0]}.",
            **(
                {"qa_pairs": [{"short_answers": ["colds"]}]}
                if exact
                else {"claims": [f"{MINERALS[number]} {EFFECTS[0]}."]}
            ),
        }
        for number in range(3)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def politicite(path: Path) -> Path:
    rows = [
        {
            "id": f"article-{number}",
            "question": f"Was promise {number} kept?",
            "claims": [
                {
                    "text": f"The {name} agency was founded in {number}.",
                    "evidence": [
                        {"source": name, "text": f"The {name} agency was founded in {number}.", "support": "complete"}
                    ],
                }
                for name in MINERALS[:3]
            ],
        }
        for number in range(3)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def values(folder: Path, count: int = 12) -> dict[str, str]:
    """Write all data, and return the values that the experiments' files take."""
    return {
        "models": str(folder / "models"),
        "long": str(examples(folder / "long.jsonl", "long", count)),
        "sources": str(examples(folder / "sources.jsonl", "sources", count)),
        "vj": f"vj:{verifiability(folder / 'vj-train.jsonl', count, 1)}",
        "vj_dev": f"vj:{verifiability(folder / 'vj-dev.jsonl', 2, 2)}",
        "vj_test": f"vj:{verifiability(folder / 'vj-test.jsonl', 2, 3)}",
        "msmarco": f"msmarco:{marco(folder / 'marco-train.jsonl', count, 1)}",
        "msmarco_test": f"msmarco:{marco(folder / 'marco-dev.jsonl', 4, 2)}",
    }


def tiny_decoder(folder: Path) -> Path:
    """Write a Llama with one layer and random weights, and a vocabulary of words."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    text = " ".join([*MINERALS, *(name.capitalize() for name in MINERALS), *EFFECTS])
    known = [
        *dict.fromkeys("[1] [2] [3] . , : ? Sources Question Sentence Answer trial in study".split() + text.split())
    ]
    words = Tokenizer(WordLevel({word: at for at, word in enumerate(["<unk>", "</s>", *known])}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="</s>").save_pretrained(str(folder))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(known) + 2, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=512, eos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder


def tiny_judge(folder: Path) -> Path:
    """Write a BERT with one layer and random weights that labels pairs."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *MINERALS, *dict.fromkeys(" ".join(EFFECTS).split())]
    words = Tokenizer(WordLevel({word: at for at, word in enumerate(known)}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    words.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=128, **special).save_pretrained(str(folder))
    torch.manual_seed(0)
    labels = ("entailment", "neutral", "contradiction")
    config = BertConfig(
        vocab_size=len(known), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=128, id2label=dict(enumerate(labels)),
        label2id={name: at for at, name in enumerate(labels)},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(str(folder))
    return folder


def tiny_writer(folder: Path, more: Sequence[str] = ()) -> Path:
    """Write a T5 with one layer and random weights, whose words have the labels of TRUE, and more."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    known = [
        *special.values(),
        "0",
        "1",
        "premise",
        "hypothesis",
        *more,
        *MINERALS,
        *dict.fromkeys(" ".join(EFFECTS).split()),
    ]
    words = Tokenizer(WordLevel({word: at for at, word in enumerate(known)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    words.post_processor = TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=256, **special).save_pretrained(str(folder))
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(known), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0,
        n_positions=256,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(str(folder))
    return folder
