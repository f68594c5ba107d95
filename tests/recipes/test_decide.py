"""Whole decisions: documents made longer or shorter, evidence compared with people's, protocols side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from release.decide import decide, evidence_f1, main
from release.documents import LabelledDocument, resized, verdicts
from vericite.errors import InputError
from vericite.models import Pair
from vericite.models.folder import VERIFIER, WEIGHTS
from vericite.verify import Judgement


class Reader:
    """Entails where the premise has the claim's first word, twice as sure where it says nothing else."""

    signature = "reader"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            held = pair.claim.split()[0].lower() in pair.premise.lower()
            yield Judgement(np.array((0.9, 0.05, 0.05) if held else (0.05, 0.05, 0.9), dtype=np.float32))


def document(claim: str, *sentences: str, label: str = "entails", evidence: tuple[int, ...] = ()) -> LabelledDocument:
    return LabelledDocument.model_validate(
        {
            "claim": claim,
            "sentences": list(sentences),
            "label": label,
            "source": "made",
            "group": claim,
            "evidence": evidence,
        }
    )


ZINC = document("Zinc shortens colds.", "Rain fell.", "Zinc was given.", "Snow fell.", "Hail fell.", evidence=(1,))
HONEY = document("Honey soothes coughs.", "Nobody knows.", "Wind blew.", label="neutral")
TEA = document("Tea helps.", "Some drank tea.", "They slept.", "They woke.")


def test_a_shorter_document_keeps_its_evidence_and_what_stands_beside_it():
    (found, *_) = resized([ZINC, HONEY], 2)
    assert found.sentences == ["Rain fell.", "Zinc was given."]
    assert [found.sentences[index] for index in found.evidence] == ["Zinc was given."]


def test_a_longer_one_goes_on_with_what_is_said_of_other_claims():
    (found, *_) = resized([ZINC, HONEY, TEA], 8)
    assert found.sentences == [*ZINC.sentences, *HONEY.sentences, *TEA.sentences[:2]]
    assert (found.evidence, found.label) == (ZINC.evidence, ZINC.label)


def test_it_goes_on_with_another_set_where_one_is_named():
    (found,) = resized([ZINC], 6, [HONEY, TEA])
    assert found.sentences == [*ZINC.sentences, *TEA.sentences[:2]]


def test_evidence_is_compared_sentence_by_sentence_over_all_documents():
    # One of two shown is right, of two that people gave; a document without either counts for nothing.
    given = [ZINC, document("Tea helps.", "a", "b", evidence=(1,)), HONEY]
    score = evidence_f1(given, [(1, 2), (), ()])
    assert score.value == pytest.approx(2 * 1 / (2 + 2))


def test_protocols_are_compared_on_the_same_claims(tmp_path: Path):
    path = tmp_path / "made_doc.jsonl"
    path.write_text("".join(item.model_dump_json() + "\n" for item in (ZINC, HONEY, TEA)), encoding="utf-8")
    first, second = decide(Reader(), path, ["vericite", "default"])
    assert (first.ahead, first.score.value, first.n) == (None, 1.0, 3)
    assert second.ahead is not None
    assert second.ahead.value == pytest.approx(second.score.value - first.score.value)
    assert first.evidence is not None
    assert first.evidence.value == pytest.approx(2 * 1 / (2 + 1))


def test_labels_that_change_as_text_is_added_are_counted(tmp_path: Path):
    path = tmp_path / "made_doc.jsonl"
    path.write_text("".join(item.model_dump_json() + "\n" for item in (ZINC, HONEY, TEA)), encoding="utf-8")
    # With all three texts behind it HONEY's claim still has no sentence; cut to one, TEA's loses the one it has.
    whole, longer, shorter = decide(Reader(), path, ["vericite"], sizes=(9, 1))
    assert (whole.kept, longer.kept, longer.file) == (None, 1.0, "made_doc, 9 sentences")
    assert shorter.kept == pytest.approx(2 / 3)


def test_labels_can_be_counted_as_supported_or_not(tmp_path: Path):
    path = tmp_path / "made_doc.jsonl"
    denied = document("Milk helps.", "Nothing helped.", label="contradicts")
    path.write_text("".join(item.model_dump_json() + "\n" for item in (ZINC, denied)), encoding="utf-8")
    (three,), (two,) = (decide(Reader(), path, ["vericite"], binary=binary) for binary in (False, True))
    assert three.score.value < 1
    assert (two.measure, two.score.value) == ("balanced accuracy", 1.0)


def test_pairs_are_split_as_a_users_would_be(tmp_path: Path):
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"premise": "Rain fell. Zinc was given. Snow fell.", "claim": "Zinc was given.", "label": "entails"},
        {"premise": "Rain fell. Snow fell.", "claim": "Zinc was given.", "label": "neutral"},
    ]
    made = [json.dumps({**row, "source": "made", "binary": True}) + "\n" for row in rows]
    path.write_text("".join(made), encoding="utf-8")
    (found,) = decide(Reader(), path, ["vericite"])
    assert (found.measure, found.score.value) == ("balanced accuracy", 1.0)
    assert found.shares == (0.5, 0.0, 0.5)


def test_what_reads_no_sentences_cannot_take_them_as_given():
    with pytest.raises(InputError, match="reads sentences"):
        verdicts(Reader(), [ZINC], "bioace-document")


def test_a_folder_without_sets_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--model", str(WEIGHTS / VERIFIER), "--sets", str(tmp_path)]) == 2
    assert "expected files of labelled documents" in capsys.readouterr().err


def test_the_command_prints_a_row_a_protocol_and_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "sets").mkdir()
    rows = "".join(item.model_dump_json() + "\n" for item in (ZINC, HONEY, TEA))
    (tmp_path / "sets" / "made_doc.jsonl").write_text(rows, encoding="utf-8")
    told = ["--model", str(WEIGHTS / VERIFIER), "--sets", str(tmp_path / "sets"), "--sentences", "2"]
    assert main([*told, "--json", str(tmp_path / "rows.json")]) == 0
    held = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert [(row["file"], row["protocol"]) for row in held] == [
        (name, protocol) for name in ("made_doc", "made_doc, 2 sentences") for protocol in ("vericite", "default")
    ]
    assert "ahead of the first" in capsys.readouterr().out


@pytest.mark.parametrize(("more", "found"), [(("--only", "nosuch"), "nosuch"), (("--sentences", "0"), "one or more")])
def test_names_and_sizes_that_are_none_are_said(
    more: tuple[str, str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "made_doc.jsonl").write_text(ZINC.model_dump_json() + "\n", encoding="utf-8")
    assert main(["--model", str(WEIGHTS / VERIFIER), "--sets", str(tmp_path), *more]) in (1, 2)
    assert found in capsys.readouterr().err
