"""Learning from a larger model: its probabilities written beside the pairs, and what of them a loss takes."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mix.build import unlabelled
from mix.example import Example
from release import teach as teaching
from release.teach import AT_ONCE, Together, chosen
from vericite.errors import InputError
from vericite.lab.train.data import TOKENIZER, UNLABELLED, LabelledPair, encode_pairs, read_pairs
from vericite.models import Encoder, Pair
from vericite.models.folder import VERIFIER, WEIGHTS


def teach(teacher: teaching.Scorer, pairs: list[LabelledPair], out: Path, *weights: float) -> None:
    teaching.teach(teacher, pairs, out, by(*(weights or (1.0,))))


class Teacher:
    """Knows by the length of a claim; counts what it reads."""

    def __init__(self) -> None:
        self.read = 0

    def probabilities(self, pairs: Sequence[Pair]):
        self.read += len(pairs)
        return np.array([[0.7, 0.2, 0.1] if len(pair.claim) % 2 else [0.1, 0.1, 0.8] for pair in pairs])


def pair(number: int, twin: str | None = None) -> LabelledPair:
    return LabelledPair(premise=f"p {number}", claim="c" * (number % 5 + 1), label="neutral", source="s", twin=twin)


def test_every_pair_is_written_with_the_teachers_word_and_keeps_its_own(tmp_path: Path):
    pairs = [pair(number) for number in range(7)]
    teach(Teacher(), pairs, tmp_path / "out.jsonl")
    found = read_pairs(tmp_path / "out.jsonl")
    assert [item.model_copy(update={"taught": None}) for item in found] == pairs
    assert [item.taught for item in found[:2]] == [(0.7, 0.2, 0.1), (0.1, 0.1, 0.8)]


def test_what_was_written_is_not_asked_again_and_half_a_line_is(tmp_path: Path):
    pairs, out = [pair(number) for number in range(AT_ONCE + 5)], tmp_path / "out.jsonl"
    teach(Teacher(), pairs, out)
    whole = out.read_text(encoding="utf-8")
    out.write_text(whole[: whole.rindex("\n", 0, -1) - 5], encoding="utf-8")
    again = Teacher()
    teach(again, pairs, out)
    assert out.read_text(encoding="utf-8") == whole
    assert again.read == 2


def written(path: Path, rows: list[LabelledPair]) -> Path:
    path.write_text("".join(row.model_dump_json() + "\n" for row in rows), encoding="utf-8")
    return path


def test_twins_are_drawn_together(tmp_path: Path):
    rows = [pair(number, twin=f"t{number // 3}") for number in range(60)]
    drawn, excluded = chosen([written(tmp_path / "pairs.jsonl", rows)], 20, seed=1)
    assert 20 <= len(drawn) < 23
    assert not excluded
    assert len({item.premise for item in drawn}) == len(drawn)
    assert all(sum(item.twin == other.twin for other in drawn) == 3 for item in drawn)


def test_excluded_sources_and_kinds_are_not_drawn_and_what_is_not_drawn_is_not_among_them(tmp_path: Path):
    rows = [pair(number) for number in range(10)]
    whole = [pair(number).model_copy(update={"kind": "abstract"}) for number in range(10, 14)]
    own = [pair(number).model_copy(update={"source": "own"}) for number in range(20, 23)]
    path = written(tmp_path / "pairs.jsonl", [*whole, *rows, *own])
    drawn, excluded = chosen([path], 4, 0, exclude=["own"], exclude_kinds=["abstract"])
    assert excluded == [*whole, *own]
    assert len(drawn) == 4
    assert all(item in rows for item in drawn)
    with pytest.raises(InputError, match="besides those of s, own; found none"):
        chosen([path], 4, 0, exclude=["s", "own"])


def example(premise: str, claim: str, source: str = "bioasq", twin: str | None = None) -> Example:
    return Example(premise, claim, "entails", source, "gold", "g", twin)


def test_unlabelled_pairs_are_new_near_and_made_of_the_mix():
    topics = ("zinc shortens colds", "honey soothes coughs", "statins lower cholesterol", "insulin lowers glucose")
    mix = [
        example(f"In trial {number} {topic} among {group}.", f"{topic.capitalize()} in {group}.")
        for number, topic in enumerate(topics)
        for group in ("children", "elderly women", "young men")
    ]
    mix.append(example("Zinc shortens colds, a written claim says.", "Zinc shortens colds at last.", source="written"))
    found = unlabelled(mix, 100, random.Random(0))
    assert found
    held = {(item.premise, item.claim) for item in mix}
    for item in found:
        assert (item.premise, item.claim) not in held
        assert item.premise in {premise for premise, _ in held}
        assert item.claim in {claim for _, claim in held}
        assert set(item.claim.lower().rstrip(".").split()) & set(item.premise.lower().rstrip(".").split())
        assert (item.kind, item.twin, item.source) == (UNLABELLED, None, "bioasq")
    assert len(unlabelled(mix, 2, random.Random(0))) == 2


@pytest.mark.hf
def test_a_loss_is_the_datas_the_teachers_or_parts_of_both():
    torch = pytest.importorskip("torch", reason="torch is in the extra [train]")
    from vericite.lab.train.fit import label_losses, taught_losses

    logits = torch.tensor([[1.0, 0.0, -1.0]] * 4)
    own = label_losses(logits, torch.tensor([0, 0, 0, 0]), torch.tensor([False] * 4), 0.0)
    word = (0.2, 0.3, 0.5)
    found = taught_losses(logits, own, [None, word, word, word], [True, True, False, True], 0.5)
    by_teacher = -(torch.tensor(word) * logits[0].log_softmax(0)).sum()
    expected = [own[0], (own[0] + by_teacher) / 2, by_teacher, (own[0] + by_teacher) / 2]
    np.testing.assert_allclose(found.tolist(), [float(value) for value in expected], rtol=1e-6)


def test_a_file_of_taught_pairs_is_plain_json(tmp_path: Path):
    teach(Teacher(), [pair(0)], tmp_path / "out.jsonl")
    (line,) = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["taught"] == [0.7, 0.2, 0.1]


def test_a_file_of_other_pairs_is_not_gone_on_with(tmp_path: Path):
    teach(Teacher(), [pair(0), pair(1)], tmp_path / "out.jsonl")
    with pytest.raises(InputError, match="found others"):
        teach(Teacher(), [pair(1), pair(0), pair(2)], tmp_path / "out.jsonl")


def test_what_nobody_labelled_or_taught_is_not_trained_on():
    unknown = LabelledPair(premise="p", claim="c", label="neutral", source="s", kind=UNLABELLED)
    with pytest.raises(InputError, match="Run teach"):
        encode_pairs(Encoder(TOKENIZER, 64), [unknown], {})


class Sure:
    """Always of the same mind."""

    def __init__(self, *row: float) -> None:
        self.row = row

    def probabilities(self, pairs: Sequence[Pair]):
        return np.array([self.row] * len(pairs))


def test_of_several_teachers_the_mean_is_taught():
    both = Together([Sure(1, 0, 0), Sure(0, 1, 0)], [3, 1])
    assert both.probabilities([Pair("p", "c")] * 2) == pytest.approx(np.array([[0.75, 0.25, 0]] * 2))


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1], [1, 1, 1], [1, float("nan")], [float("inf"), 1]])
def test_weights_that_make_no_mean_are_refused(weights: list[float]):
    with pytest.raises(InputError, match="expected a --weight above 0"):
        Together([Sure(1, 0, 0), Sure(0, 1, 0)], weights)


def by(*weights: float, **facts: Any) -> dict[str, Any]:
    return {"teachers": [{"sha256": "ab", "temperature": 1.0, **facts}] * len(weights), "weights": list(weights)}


@pytest.mark.parametrize(
    "other",
    [by(2.0, 1.0), by(1.0), by(1.0, 1.0, temperature=2.0), by(1.0, 1.0, precision="bf16"), by(1.0, 1.0, sha256="cd")],
)
def test_what_one_began_another_does_not_go_on_with(tmp_path: Path, other: dict[str, Any]):
    out = tmp_path / "out.jsonl"
    teaching.teach(Sure(1, 0, 0), [pair(0)], out, by(1.0, 1.0))
    teaching.teach(Sure(1, 0, 0), [pair(0), pair(1)], out, by(1.0, 1.0))
    with pytest.raises(InputError, match=r"found another (teachers|weights|teachers, weights): .* there, .* now"):
        teaching.teach(Sure(0, 1, 0), [pair(0), pair(1)], out, other)
    assert [item.taught for item in read_pairs(out)] == [(1, 0, 0)] * 2


def test_what_nobody_says_who_began_is_not_gone_on_with(tmp_path: Path):
    written(tmp_path / "out.jsonl", [pair(0)])
    with pytest.raises(InputError, match=r"found content without out\.jsonl\.manifest\.json"):
        teach(Sure(1, 0, 0), [pair(0)], tmp_path / "out.jsonl")


def test_a_command_line_with_another_weight_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rows = [pair(0), pair(1), pair(2).model_copy(update={"kind": "abstract"})]
    rows.append(pair(3).model_copy(update={"source": "own"}))
    data, out, rest = written(tmp_path / "data.jsonl", rows), tmp_path / "out.jsonl", tmp_path / "rest.jsonl"
    teacher = ["--teacher", str(WEIGHTS / VERIFIER)]
    words = ["--data", str(data), "--out", str(out), "--rest", str(rest), *teacher, *teacher]
    words += ["--exclude", "own", "--exclude-kind", "abstract"]
    assert teaching.teach_main([*words, "--weight", "0.6", "--weight", "0.4"]) == 0
    first = out.read_bytes()
    assert len(read_pairs(out)) == 2
    assert read_pairs(rest) == rows[2:]
    capsys.readouterr()
    assert teaching.teach_main([*words, "--weight", "0.5", "--weight", "0.5"]) == 2
    assert "found another weights: [0.6, 0.4] there, [0.5, 0.5] now" in capsys.readouterr().err
    assert teaching.teach_main([*words[:-2], "--weight", "0.6", "--weight", "0.4", "--seed", "1", "--take", "1"]) == 2
    assert teaching.teach_main([*words[:-2], "--weight", "0.5", "--weight", "0.5"]) == 2
    assert (out.read_bytes(), read_pairs(rest)) == (first, rows[2:])
    assert teaching.teach_main([*words, "--weight", "0.6", "--weight", "0.4"]) == 0
    assert teaching.teach_main([*words, "--weight", "0.6"]) == 2
    assert "for each of 2 teachers; found [0.6]" in capsys.readouterr().err
