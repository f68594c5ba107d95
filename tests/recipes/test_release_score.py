from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from release.classification import macro_f1
from release.documents import LabelledDocument, document_probabilities
from release.gate import Verdict
from release.score import (
    CHOOSING,
    as_json,
    bootstrapped,
    main,
    score_file,
    score_folder,
    score_twins,
)
from release.teach import FolderScorer
from vericite.errors import InputError
from vericite.lab.train.data import LabelledPair, read_pairs, twin_units
from vericite.models import ModelFolder, Pair
from vericite.models.folder import VERIFIER

Floats = NDArray[np.float64]


def labelled(claim: str, label: str, **more: object) -> LabelledPair:
    held = {"premise": "Zinc did nothing.", "claim": claim, "label": label, "source": "made-up"}
    return LabelledPair.model_validate({**held, **more})


def said(*rows: tuple[float, float, float]) -> Floats:
    return np.array(rows, dtype=np.float64)


class Fixed:
    """Holds every premise that has the claim's first word for its support."""

    def probabilities(self, pairs: list[Pair]) -> Floats:
        yes, no = (0.8, 0.1, 0.1), (0.2, 0.1, 0.7)
        return said(*(yes if pair.claim.split()[0].lower() in pair.premise.lower() else no for pair in pairs))


def test_an_interval_is_wider_where_pairs_belong_together() -> None:
    drawn = np.random.default_rng(1)
    gold = np.repeat(drawn.integers(0, 2, 40), 5)
    found = np.eye(3)[np.repeat(drawn.integers(0, 2, 40), 5)]
    alone = bootstrapped(macro_f1, gold, found, [""] * 200)
    together = bootstrapped(macro_f1, gold, found, [str(row // 5) for row in range(200)])
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.low < together.value < together.high
    assert together == bootstrapped(macro_f1, gold, found, [str(row // 5) for row in range(200)])


def test_a_binary_file_asks_only_what_is_entailed() -> None:
    pairs = [labelled("a", "neutral", binary=True), labelled("b", "entails", binary=True)]
    scores = score_file("x", pairs, said((0.1, 0.8, 0.1), (0.9, 0, 0.1)))
    assert scores.accuracy.value == 1
    assert scores.macro_f1 is None
    assert scores.headline == 1


def test_twins_are_counted_by_how_the_broken_one_was_made() -> None:
    pairs = [
        labelled("a", "entails", twin="1", kind="number"),
        labelled("b", "contradicts", twin="1", kind="number"),
        labelled("c", "neutral", twin="1", kind="unit"),
        labelled("d", "entails", kind="unit"),
    ]
    found = score_twins(pairs, said((0.6, 0.4, 0), (0.5, 0.3, 0.2), (0.7, 0.2, 0.1), (1, 0, 0)))
    assert [(score.kind, score.ordered.count, score.strict.count, score.ordered.n) for score in found] == [
        ("number", 1, 0, 1),
        ("unit", 0, 0, 1),
        ("all", 1, 0, 2),
    ]


def test_twins_of_different_sources_are_no_twins() -> None:
    pairs = [labelled("a", "entails", twin="1"), labelled("b", "neutral"), labelled("c", "neutral", twin="1")]
    assert twin_units(pairs) == [[0, 2], [1]]
    assert twin_units([*pairs, labelled("d", "neutral", twin="1", source="other")]) == [[0, 2], [1], [3]]


def test_a_document_says_what_its_most_certain_sentence_says() -> None:
    held = {"claim": "Zinc works.", "source": "made-up", "label": "entails"}
    documents = [
        LabelledDocument.model_validate({**held, "sentences": ["Tea is hot.", "Zinc works well.", "Birds sing."]}),
        LabelledDocument.model_validate({**held, "sentences": ["Tea is hot."]}),
    ]
    assert document_probabilities(Fixed(), documents).argmax(1).tolist() == [0, 2]


def write(path: Path, pairs: list[LabelledPair]) -> None:
    path.write_text("".join(pair.model_dump_json() + "\n" for pair in pairs), encoding="utf-8")


def test_a_folder_is_scored_by_the_files_that_decide(tmp_path: Path) -> None:
    write(tmp_path / f"{CHOOSING[0]}.jsonl", [labelled("Zinc", "entails"), labelled("Tea", "neutral")])
    write(tmp_path / "other.jsonl", [labelled("Zinc", "neutral"), labelled("Tea", "entails")])
    (tmp_path / "some_doc.jsonl").write_text(
        json.dumps({"claim": "Zinc", "sentences": ["Zinc did nothing."], "label": "entails", "source": "made-up"}),
        encoding="utf-8",
    )
    scores = score_folder(Fixed(), tmp_path)
    assert [file.name for file in scores.files] == [CHOOSING[0], "other"]
    assert scores.headline == 1
    assert json.loads(as_json(scores, "fixed"))["files"][1]["auc"]["value"] == 0
    assert len(score_folder(Fixed(), tmp_path, documents=True).files) == 3


def test_an_empty_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundled = ModelFolder.bundled(VERIFIER).path
    assert main(["--model", str(bundled), "--dev", str(tmp_path)]) == 2
    assert "found none" in capsys.readouterr().err
    (tmp_path / "x.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="found none"):
        read_pairs(tmp_path / "x.jsonl")


def test_a_packed_model_is_scored_by_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [
        labelled("Zinc did something.", "contradicts", twin="1", kind="negation"),
        labelled("Zinc did nothing.", "entails", twin="1"),
    ]
    write(tmp_path / "x.jsonl", pairs)
    bundled = ModelFolder.bundled(VERIFIER)
    assert main(["--model", str(bundled.path), "--dev", str(tmp_path), "--json", str(tmp_path / "scores.json")]) == 0
    shown = capsys.readouterr().out
    assert "negation" in shown
    found = FolderScorer(bundled).probabilities([pair.pair for pair in pairs])
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[1, 0] > found[0, 0]
    assert json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["twins"]["x"][0]["kind"] == "negation"


def test_the_gate_refuses_what_packing_spoils_and_what_is_no_better() -> None:
    assert Verdict(0.995, 0.70, 0.699, 0.60).refusals == []
    assert len(Verdict(0.95, 0.70, 0.69, 0.70).refusals) == 3
