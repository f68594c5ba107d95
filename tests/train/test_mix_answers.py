"""Questions with exact answers become claims; those that a test holds do not."""

import json
from pathlib import Path
from typing import Any

import pytest

from vericite.train.mix.config import MixConfig
from vericite.train.mix.files import DataFolder
from vericite.train.mix.leakage import Forbidden, Guard
from vericite.train.mix.shelf import Harvest, Shelf
from vericite.train.mix.sources.answers import answers
from vericite.train.mix.sources.asked import asked
from vericite.train.mix.sources.questions import bioasq


@pytest.mark.parametrize(
    ("question", "several", "answer", "claims"),
    [
        (
            "Which gene is mutated in Ruritan ataxia?",
            False,
            "ZNX1",
            {
                "ZNX1 is mutated in Ruritan ataxia.",
                "Mutations of ZNX1 occur in Ruritan ataxia.",
                "The gene mutated in Ruritan ataxia is ZNX1.",
            },
        ),
        (
            "What is the target of zincomab?",
            False,
            "ZNX1",
            {"The target of zincomab is ZNX1.", "Zincomab targets ZNX1.", "ZNX1 is the target of zincomab."},
        ),
        (
            "Zincomab is used for treatment of which disease?",
            False,
            "gout",
            {
                "Zincomab is used for treatment of gout.",
                "Zincomab is used to treat gout.",
                "Gout is treated with Zincomab.",
            },
        ),
        (
            "Which drugs are included in the Zincopill?",
            True,
            "zinc salts",
            {
                "Zinc salts are included in the Zincopill.",
                "The Zincopill contains zinc salts.",
                "Zinc salts are among the drugs included in the Zincopill.",
                "The drugs included in the Zincopill include zinc salts.",
            },
        ),
        (
            "What does ZNX stand for?",
            False,
            "zinc exporter",
            {"ZNX stands for zinc exporter.", "ZNX is short for zinc exporter."},
        ),
        ("How many genes are there in the zinc virus?", False, "12", {"There are 12 genes in the zinc virus."}),
        ("Where is the protein ZNX1 located?", False, "Golgi", {"The protein ZNX1 is located in Golgi."}),
        ("When was zincomab approved in Ruritania?", False, "2011", {"Zincomab was approved in Ruritania in 2011."}),
        ("In which cells is ZNX1 expressed?", True, "neurons", {"ZNX1 is expressed in neurons."}),
        ("What disease is ZNX1 involved in?", False, "gout", {"ZNX1 is involved in gout."}),
        ("What does zincomab inhibit?", False, "ZNX1", {"Zincomab inhibits ZNX1.", "ZNX1 is inhibited by zincomab."}),
        (
            "Which company produces zincomab?",
            False,
            "Acme",
            {"Acme produces zincomab.", "Zincomab is produced by Acme."},
        ),
        (
            "List the main signs of zinc fever.",
            True,
            "chills",
            {"The main signs of zinc fever include chills.", "Chills are among the main signs of zinc fever."},
        ),
    ],
)
def test_a_question_with_its_answer_is_a_statement(question: str, several: bool, answer: str, claims: set[str]) -> None:
    form = asked(question, several)
    assert form is not None
    assert {form.claim(wording, answer) for wording in form.wordings} == claims


@pytest.mark.parametrize(
    "question", ["What is zinc fever?", "What is the role of ZNX1 in gout?", "How does zinc enter a cell?", "Zinc?"]
)
def test_other_questions_are_left_alone(question: str) -> None:
    assert asked(question) is None


def test_only_a_wording_without_room_for_others_denies() -> None:
    form = asked("What is the target of zincomab?")
    assert form is not None
    assert {wording: form.denies(wording) for wording in form.wordings} == {
        "the target of zincomab is {a}.": True,
        "zincomab targets {a}.": False,
        "{a} is the target of zincomab.": True,
    }


def _question(key: str, drug: str, target: str, extra: str) -> dict[str, Any]:
    texts = [
        f"In cell culture {drug} bound tightly to {target}, which is its target, and lowered urate.",
        f"Urate fell with {drug} in forty adults of the northern {extra} trial within two weeks.",
        f"Gout flares became rarer among adults who lived near {extra} after the second year.",
    ]
    return {
        "id": key,
        "type": "factoid",
        "body": f"What is the target of {drug}?",
        "exact_answer": [[target]],
        "ideal_answer": [
            f"In the {extra} trial {drug}, bound to {target} tightly, lowered urate of forty adults within two weeks."
        ],
        "snippets": [{"text": text, "document": f"http://example.org/pubmed/{key}{n}"} for n, text in enumerate(texts)],
    }


_QUESTIONS = [
    _question("1", "zincomab", "ZNX1", "Strelsau"),
    _question("2", "ferromab", "FEX2", "Hentzau"),
    _question("3", "cupromab", "CUX3", "Zenda"),
    _question("4", "argomab", "AGX4", "Tarlenheim"),
]


def _shelf(folder: Path, tested: tuple[str, ...] = ()) -> Shelf:
    asked_there = {key: {"question": "made up"} for key in tested}
    (folder / "mirage").mkdir()
    (folder / "mirage" / "benchmark.json").write_text(json.dumps({"bioasq": asked_there}))
    for name in ("mirage/rawdata/bioasq", "bioasq12b", "bioasq13b"):
        (folder / name).mkdir(parents=True)
    (folder / "bioasq12b" / "golden.json").write_text(json.dumps({"questions": _QUESTIONS}))
    return Shelf(DataFolder(folder), MixConfig(dev_share=1e-9), Guard(Forbidden()), 0)


def _groups(harvest: Harvest) -> set[str]:
    return {example.group for examples in (harvest.train, *harvest.dev.values()) for example in examples}


def test_twins_share_their_premise_and_differ_in_the_answer(tmp_path: Path) -> None:
    harvest = answers(_shelf(tmp_path))
    twins = [example for example in harvest.train if example.kind == "wrong-answer"]
    assert twins
    for wrong in twins:
        (right,) = [e for e in harvest.train if e.twin == wrong.twin and e.kind == "exact"]
        assert (right.premise, right.label) == (wrong.premise, "entails")
        assert wrong.label == ("neutral" if " targets " in wrong.claim else "contradicts")
        assert len(right.claim.split()) == len(wrong.claim.split())
        assert right.claim != wrong.claim


def test_what_a_test_holds_is_refused(tmp_path: Path) -> None:
    shelf = _shelf(tmp_path, tested=("1", "3"))
    assert _groups(answers(shelf)) == {"bioasq:2", "bioasq:4"}
    assert _groups(bioasq(shelf)) == {"bioasq:2", "bioasq:4"}
    assert shelf.guard.dropped["bioasq", "question id", "mirage bioasq"] == 2


def test_snippets_that_tell_an_answer_together_are_joined(tmp_path: Path) -> None:
    joined = [example for example in bioasq(_shelf(tmp_path)).train if example.kind == "answer-joined"]
    held = [example for example in joined if example.label == "entails"]
    assert held
    assert all("bound tightly" in example.premise and "forty adults" in example.premise for example in held)
