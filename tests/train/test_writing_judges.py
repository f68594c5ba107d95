"""Judges that write their label learn it by LoRA, and stay judges of the same kind. Needs [train]."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiment"))

from trained_data import MINERALS, tiny_writer

from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL, Pair

EXAMPLES = Path(__file__).parents[2] / "examples" / "bioace"

pytestmark = [
    pytest.mark.hf,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

pytest.importorskip("torch")
pytest.importorskip("peft")


def pairs(count: int) -> list[object]:
    from vericite.lab.train.texts import LabelledTexts

    return [
        LabelledTexts(
            f"{MINERALS[number % 10]} cures anaemia",
            f"{MINERALS[(number + number % 2) % 10]} cures anaemia",
            COLUMNS[NEUTRAL if number % 2 else ENTAILS],
            f"{number}",
        )
        for number in range(count)
    ]


def test_a_t5_learns_to_write_its_label(tmp_path: Path):
    from vericite.lab.train.configs import LoraConfig
    from vericite.lab.train.writing_judges import WritingRun, train_writing_judge
    from vericite.verify.judges.registry import load_judge

    base = tiny_writer(tmp_path / "base")
    asked = [Pair("zinc cures anaemia", "zinc cures anaemia")]
    assert next(iter(load_judge(f"hf-seq2seq:{base}").judge(asked))).failure is not None  # it writes anything
    config = LoraConfig(
        rank=8, alpha=64, batch=4, at_once=4, epochs=30, learning_rate=0.05, patience=30, threads=1,
        checkpoint_steps=999, targets=("q", "v", "o", "wi", "wo"),
    )  # fmt: skip
    only = [pair for pair in pairs(20) if pair.label == COLUMNS[ENTAILS]]  # pyright: ignore[reportAttributeAccessIssue]
    run = WritingRun(f"hf-seq2seq:{base}", only, only[:2], tmp_path / "out")  # pyright: ignore[reportArgumentType]
    facts = train_writing_judge(run, config, lambda _step, _loss: None)
    assert facts["dev_loss"] < 0.5
    trained = load_judge(f"hf-seq2seq:{tmp_path / 'out'}")
    (judgement,) = trained.judge(asked)
    assert judgement.failure is None and judgement.native == "1"


QUICK = (
    "rank=8", "alpha=64", "batch=4", "at_once=4", "epochs=30", "learning_rate=0.05", "patience=30", "threads=1",
    "targets=q,v,o,wi,wo",
)  # fmt: skip


def test_a_t5_learns_to_write_the_label_that_a_printed_prompt_asks_for(run_cli, tmp_path: Path):
    base = tiny_writer(tmp_path / "base")
    prompt = tmp_path / "binary.toml"
    prompt.write_text(
        'name = "binary"\nversion = 1\nabout = "x"\nverbatim = true\nuser = "premise {reference} hypothesis {claim}"\n'
        '[labels.1]\ncolumn = "entails"\n[labels.0]\ncolumn = "neutral"\n'
    )
    lines = [
        {"premise": f"{name} cures anaemia", "claim": f"{name} cures anaemia", "label": "supported", "group": name}
        for name in MINERALS[:10]
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    out = tmp_path / "out"
    words = [word for text in QUICK for word in ("--set", text)]
    train = ("bioace", "train-correctness", str(tmp_path / "pairs.jsonl"), "--out", str(out), *words)
    printed = run_cli(*train, "--encoder", f"hf-seq2seq:{base}?prompt={prompt}")
    assert printed.code == 0, printed.err
    name = f"hf-seq2seq:{out}?prompt={prompt}"
    assert name in printed.out.replace("\n", "")
    judged = run_cli("judge", "zinc cures anaemia", "zinc cures anaemia", "--judge", name, "--json")
    assert judged.code == 0 and json.loads(judged.out)["label"] == "entails", judged.out


def test_a_t5_learns_to_write_how_necessary_a_sentence_is(run_cli, tmp_path: Path):
    from vericite.lab.assess.checkpoint import labeller_of
    from vericite.lab.assess.completeness import LABELS, AnswerSentence
    from vericite.models import Embedder

    base = tiny_writer(tmp_path / "base", [label.capitalize() for label in LABELS])
    prompt = tmp_path / "completeness.toml"
    head = 'name = "completeness"\nversion = 1\nabout = "x"\nverbatim = true\n'
    prompt.write_text(f'{head}user = "premise {{question}} hypothesis {{sentence}}"\n')
    answers = json.loads((EXAMPLES / "answers.json").read_text())
    for question in answers:
        for machine in question["machine_generated_answers"].values():
            for sentence in machine["answer_sentences"]:
                sentence["answer_sentence_relevance"] = "required"
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    out = tmp_path / "out"
    words = [word for text in QUICK for word in ("--set", text)]
    train = ("bioace", "train-completeness", f"medaesqa:{tmp_path / 'answers.json'}", "--out", str(out), *words)
    printed = run_cli(*train, "--decoder", f"hf-seq2seq:{base}?prompt={prompt}")
    assert printed.code == 0, printed.err
    labeller = labeller_of(f"hf-seq2seq:{out}?prompt={prompt}", None, Embedder.shared())
    (found,) = labeller.label([AnswerSentence("zinc", "zinc cures anaemia")])
    assert found.label == "required", found.failure
    with pytest.raises(InputError, match=r"expected a verbatim prompt"):
        labeller_of(f"hf-seq2seq:{out}", None, Embedder.shared())


def test_a_label_is_written_as_the_prompt_names_it():
    from vericite.lab.train.writing_judges import _answer
    from vericite.verify.judges.hf import ATTRSCORE, TRUE

    assert [_answer(label, TRUE) for label in COLUMNS] == ["1", "0", "0"]  # yes or no: all the rest is no
    assert [_answer(label, ATTRSCORE) for label in COLUMNS] == ["Attributable", "Contradictory", "Extrapolatory"]
    with pytest.raises(InputError, match="can write"):
        _answer("required", TRUE)


def test_other_judges_are_refused(tmp_path: Path):
    from vericite.lab.train.configs import LoraConfig
    from vericite.lab.train.writing_judges import WritingRun, train_writing_judge

    with pytest.raises(InputError, match="expected a judge that writes its label"):
        train_writing_judge(WritingRun("bundled", [], [], tmp_path), LoraConfig(), lambda _step, _loss: None)
