"""Judgements from the file are the judge's own, to the bit; what cannot come back so is judged anew."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import vericite.verify.judges.wrapped as module
from vericite.corpus import demo_documents
from vericite.disk.files import cache_file, default_cache_folder
from vericite.errors import PluginError
from vericite.models import Pair
from vericite.models.contracts import JudgeTraits, traits_of
from vericite.pipeline.check import check, check_many
from vericite.text.citations import parse_answer
from vericite.verify import BundledJudge, Judgement, LexicalJudge
from vericite.verify.judges.wrapped import CachedJudge, CalibratedJudge, StoredCalibration


@dataclass
class Judge:
    """The lexical judge, or one that says what it is told to; it counts what it is asked."""

    says: Judgement | None = None
    signature: str = "told.v1"
    asked: list[Pair] = field(default_factory=list)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked.append(pair)
            yield self.says or next(LexicalJudge().judge([pair]))


THIRDS = np.full(3, 1 / 3, dtype=np.float32)
PAIR = Pair("Aspirin lowers the risk of stroke.", "Aspirin prevents stroke.")


def pairs_of(number: int) -> list[Pair]:
    return [
        Pair(f"Aspirin lowers the risk of stroke by {n} %.", f"Aspirin prevents {n % 7} strokes.")
        for n in range(number)
    ]


def judged(judge: object, file: Path | None, pairs: Iterable[Pair]) -> list[Judgement]:
    with CachedJudge(judge, file) as cached:
        return list(cached.judge(pairs))


def bits(judgements: Iterable[Judgement]) -> list[tuple[object, ...]]:
    return [(item.probabilities.tobytes(), item.probabilities.dtype, *item[1:]) for item in judgements]


def rows_of(file: Path, sql: str = "SELECT * FROM judgement_2") -> list[tuple[object, ...]]:
    with sqlite3.connect(file) as connection:
        rows = connection.execute(sql).fetchall()
    connection.close()
    return rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "judgements.sqlite"


@pytest.mark.usefixtures("models_as_they_are")
def test_the_bundled_judge_says_the_same_from_the_file_to_the_bit(file: Path):
    documents = demo_documents()[:12]
    pairs = [Pair(one.text, other.title) for one in documents[:2] for other in documents]
    pairs.append(Pair(" ".join(document.text for document in documents), documents[0].title))
    plain = bits(BundledJudge().judge(pairs))
    assert "a premise was cut" in str(plain[-1])
    again = Judge(says=Judgement(THIRDS), signature=BundledJudge().signature)
    assert [bits(judged(judge, file, pairs)) for judge in (BundledJudge(), again)] == [plain, plain]
    assert again.asked == []


def test_what_was_judged_once_is_not_judged_again_and_the_order_is_kept(file: Path):
    pairs = pairs_of(1200)
    judged(Judge(), file, pairs[::3])
    judge = Judge()
    assert bits(judged(judge, file, pairs[::-1])) == bits(Judge().judge(pairs[::-1]))
    assert sorted(judge.asked) == sorted(set(pairs) - set(pairs[::3]))


def test_equal_pairs_are_judged_once(file: Path):
    judge = Judge()
    assert len(judged(judge, file, [PAIR] * 5)) == 5
    assert judge.asked == [PAIR]


def test_it_reads_ahead_no_further_than_it_must(file: Path):
    endless = (Pair("a", str(number)) for number in count())
    with CachedJudge(Judge(), file) as cached:
        assert len(list(islice(cached.judge(endless), 2000))) == 2000
    assert int(next(endless).claim) < 4000


def test_without_a_file_it_only_passes_on(file: Path):
    judge = Judge()
    for _ in range(2):
        assert len(judged(judge, None, [PAIR])) == 1
    assert (judge.asked, file.exists()) == ([PAIR, PAIR], False)


@pytest.mark.parametrize(
    "said",
    [
        Judgement(THIRDS, note="a premise was cut"),
        Judgement(THIRDS, note="\ud800 is no UTF-8", native="µ"),
        Judgement.certain(1, "Contradictory"),
    ],
)
def test_a_judgement_is_restored_with_all_its_fields(file: Path, said: Judgement):
    first, again = (bits(judged(judge, file, [PAIR])) for judge in (Judge(said), Judge()))
    assert first == again == bits([said])


@pytest.mark.parametrize(
    "said",
    [
        Judgement.failed("it lost its voice", raw="..."),
        Judgement(np.array([0.9, 0.9, 0.9], dtype=np.float32)),
        Judgement(np.full(3, np.nan, dtype=np.float32)),
        Judgement(THIRDS.astype(np.float64)),
        Judgement(THIRDS, raw="what it said"),
    ],
    ids=["failure", "no probabilities", "not a number", "other numbers", "raw"],
)
def test_what_could_not_come_back_as_it_was_is_not_kept(file: Path, said: Judgement):
    for _ in range(2):
        judge = Judge(said)
        judged(judge, file, [PAIR])
        assert judge.asked == [PAIR]


def test_every_part_makes_the_place():
    others = [PAIR, PAIR._replace(premise=""), PAIR._replace(claim=""), PAIR._replace(question="")]
    others += [PAIR._replace(question="None"), Pair(PAIR.claim, PAIR.premise), Pair(PAIR.premise + PAIR.claim, "")]
    assert len({module._key(signature, pair) for signature in ("one", "other") for pair in others}) == 2 * len(others)


def test_so_do_the_encoder_and_the_runtime(file: Path, monkeypatch: pytest.MonkeyPatch):
    keys = {module._key("one", PAIR)}
    for name, value in (("_ENCODER", 99), ("_runtime", lambda: "0.0.0")):
        with monkeypatch.context() as changed:
            changed.setattr(module, name, value)
            keys.add(module._key("one", PAIR))
    assert len(keys) == 3
    assert module._runtime() == onnxruntime.__version__


def test_the_file_holds_no_text(file: Path):
    judged(Judge(), file, [PAIR])
    content = b"".join(part.read_bytes() for part in file.parent.iterdir())
    assert not [word for word in (b"Aspirin", b"stroke", b"told.v1") if word in content]


def test_what_was_judged_before_a_run_broke_off_is_kept(file: Path):
    class Breaking(Judge):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            for pair in pairs:
                if "by 999 %" in pair.premise:
                    raise RuntimeError("it has no more paper")
                yield from super().judge([pair])

    with pytest.raises(PluginError, match=r"told.v1; found RuntimeError: it has no more paper"):
        judged(Breaking(), file, pairs_of(1000))
    assert len(rows_of(file)) >= 256


def test_a_judge_that_gives_too_few_is_named_and_nothing_of_it_kept(file: Path):
    class Silent(Judge):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            return super().judge(list(pairs)[1:])

    with pytest.raises(PluginError, match=r"2 judgements for as many pairs from the judge told.v1; found 1"):
        judged(Silent(), file, pairs_of(2))
    assert rows_of(file) == []


@pytest.mark.parametrize(
    "change", ["probabilities = x'00'", "probabilities = zeroblob(12)", "rest = '[1]'", "rest = 3"]
)
def test_an_invalid_row_is_judged_again(file: Path, change: str):
    judged(Judge(), file, [PAIR])
    rows_of(file, f"UPDATE judgement_2 SET {change}, checksum = NULL")
    judge = Judge()
    assert bits(judged(judge, file, [PAIR])) == bits(Judge().judge([PAIR]))
    assert judge.asked == [PAIR]
    assert judged(Judge(says=Judgement(THIRDS)), file, [PAIR])[0].probabilities[0] != THIRDS[0], "it is mended"


def foreign(file: Path) -> None:
    rows_of(file, "PRAGMA user_version = 99")


def damaged(file: Path) -> None:
    file.write_bytes(b"this is no database at all, whatever its name says" * 50)


@pytest.mark.parametrize("damage", [damaged, foreign, Path.mkdir])
def test_a_file_that_cannot_be_used_costs_a_warning_and_not_the_run(file: Path, caplog, damage):
    damage(file)
    assert bits(judged(Judge(), file, pairs_of(1000))) == bits(Judge().judge(pairs_of(1000)))
    (told,) = caplog.messages
    assert told.startswith(f"expected a usable cache of judgements at {file}; found: ")
    assert "Judgements are not kept in this run" in told


def test_a_file_that_is_held_costs_a_wait_and_is_written_when_it_is_free(file: Path, caplog):
    judged(Judge(), file, [PAIR])
    with CachedJudge(Judge(), file) as cached:
        cached._store._patience = 0.05
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        assert len(list(cached.judge(pairs_of(300)))) == 300
        holder.close()
    assert len(rows_of(file)) == 301
    assert not caplog.records


def test_a_full_file_is_read_and_no_longer_written(file: Path, caplog, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MOST", 100)
    judged(Judge(), file, pairs_of(100))
    judge = Judge()
    assert len(judged(judge, file, pairs_of(2000))) == 2000
    assert (len(judge.asked), len(rows_of(file))) == (1900, 100)
    (told,) = caplog.messages
    assert f"expected fewer than 100 judgements in {file}; found about 100" in told


class Everything(Judge):
    capacity, pairs_at_once, reads_question, graded = 9, 3, True, False

    def length(self, text: str) -> int:
        return len(text)


def test_what_a_judge_is_shines_through():
    plain, full = CachedJudge(Judge(), None), CachedJudge(Everything(), None)
    assert traits_of(plain) == JudgeTraits() and plain.signature == "told.v1"
    found = traits_of(full)
    assert (found.capacity, found.length("four"), found.pairs_at_once) == (9, 4, 3)
    assert (found.reads_question, found.graded) == (True, False)


def fitted(**changed: object) -> StoredCalibration:
    same = {"before": 0.5, "after": 0.5}
    figures = {"groups": 9, "folds": 5, "coverage": None, "risk": None, "risk_low": None, "risk_high": None}
    figures |= dict.fromkeys(("log_loss", "ece", "brier"), same)
    told = {"judge": "told", "signature": "told.v1", "bias": (0.0, 0.0, 0.0), "abstain_below": 0, "n": 30}
    told |= {"temperature": 2.0, "date": datetime.date(2026, 11, 21), "figures": figures}
    return StoredCalibration.model_validate({**told, **changed})


def test_a_judge_that_is_calibrated_again_is_not_asked_again(file: Path):
    pairs, bias = pairs_of(20), {"temperature": 0.5, "bias": (0.5, 0.0, -0.5)}
    judge = Judge()
    for calibration in (fitted(), fitted(**bias)):
        whole = CalibratedJudge(judge, calibration, "mine")
        with CachedJudge(whole, file) as cached:
            assert cached.signature == whole.signature
            found = bits(cached.judge(pairs))
        assert found == bits(CalibratedJudge(Judge(), calibration, "mine").judge(pairs))
    assert len(judge.asked) == len(set(pairs))
    assert bits(judged(judge, file, pairs)) == bits(Judge().judge(pairs)), "what is kept is as the base said it"
    assert len(judge.asked) == len(set(pairs))


DOCUMENTS = [{"id": "a", "text": "Aspirin lowers the risk of stroke. It is cheap."}]
TEXT = "Aspirin prevents stroke [1]. It is expensive [1]."


@pytest.mark.parametrize("protocol", ["vericite", "bioace-document"])
def test_verdicts_and_provenance_are_the_same_with_a_cache(tmp_path: Path, protocol: str):
    found = [check(TEXT, DOCUMENTS, protocol=protocol, cache=cache) for cache in (False, tmp_path, tmp_path)]
    assert found[0] == found[1] == found[2]
    assert rows_of(tmp_path / "judgements.sqlite")


def test_python_keeps_nothing_unasked():
    check(TEXT, DOCUMENTS, judge="lexical")
    assert not (default_cache_folder() / "judgements.sqlite").exists()
    check(TEXT, DOCUMENTS, judge="lexical", cache=True)
    assert rows_of(default_cache_folder() / "judgements.sqlite")


def test_a_run_that_is_left_early_lets_go_of_the_file(tmp_path: Path):
    answers = [parse_answer(str(n), TEXT, check_documents()) for n in range(600)]
    checked = check_many(iter(answers), judge=Judge(), cache=tmp_path / "own.sqlite")
    assert next(checked).id == "0"
    checked.close()
    assert [path.name for path in tmp_path.iterdir()] == ["own.sqlite"], "with its log written back"


def check_documents():
    from vericite.records import Document

    return [Document.from_text(item["id"], item["text"]) for item in DOCUMENTS]


def test_a_judge_with_an_account_keeps_its_own_replies(tmp_path: Path):
    judge = Judge()
    judge.ledger = object()
    for _ in range(2):
        check(TEXT, DOCUMENTS, judge=judge, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert len(judge.asked) == 2 * len(set(judge.asked))


def test_the_command_line_caches_by_default(run_cli, tmp_path: Path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"id": "a", "answer": "It is cheap [1].", "documents": [{"id": "d", "text": "It is cheap and safe."}]}\n'
    )
    kept = cache_file("default", "judgements.sqlite")
    command = ("check", str(answers), "--judge", "lexical")
    without = run_cli(*command, "--set", "llm.cache=false")
    assert (without.code, kept.exists()) == (0, False)
    assert [run_cli(*command) for _ in range(2)] == [without, without]
    assert len(rows_of(kept)) == 1


def test_probabilities_that_were_changed_on_the_disk_are_judged_again(file: Path, caplog):
    judged(Judge(), file, [PAIR])
    (stored,) = rows_of(file, "SELECT probabilities FROM judgement_2")
    swapped = stored[0][4:8] + stored[0][:4] + stored[0][8:]
    assert swapped != stored[0]
    rows_of(file, f"UPDATE judgement_2 SET probabilities = x'{swapped.hex()}'")
    assert bits(judged(Judge(), file, [PAIR])) == bits(Judge().judge([PAIR]))
    assert "found 1 that have changed" in caplog.text
