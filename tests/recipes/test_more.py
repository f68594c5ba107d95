"""Rows beside the mix: what is held out stays out, and rows against shortcuts have the labels that they should."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mix.corpus import OpenDocument
from mix.folder import DataFolder
from more.degrees import degrees, stronger, weaker
from more.framed import DENIED, OPEN, PLAIN, frame
from more.invented import invented
from more.judged import judged
from more.kinds import Maker, share
from more.passages import Passages, finished, own_documents, stands_alone
from more.rows import Kept, once, read_rows, write_file
from more.second import second
from more.shortcuts import among, beside, dice_for, framed, made
from more.transfer import SETS, as_row, is_held_out, split

Row = dict[str, Any]
SENTENCE = "Zinc lozenges shorten the common cold in healthy adults."


def row(number: int, **more: Any) -> Row:
    held = {
        "premise": f"Colds lasted {number + 2} days with zinc lozenges in ward {number}.",
        "claim": f"Colds of ward {number} lasted {number + 2} days with zinc.",
        "label": "entails",
        "source": "written",
        "kind": "number",
        "group": f"g{number}",
    }
    return held | more


@pytest.fixture
def sets(tmp_path: Path) -> DataFolder:
    folder = tmp_path / "transfer"
    for name in SETS:
        given = [
            {
                "premise": f"In town {number} of {name} the clinic opened early every day in year {number}.",
                "claim": f"Clinic {number} of {name} opened early in year {number}.",
                "label": "not_entails" if name == "factcg" and number % 2 else "entails",
                "group": f"{name}-{number}",
                "kind": "pair",
            }
            for number in range(80)
        ]
        # Another set repeats a text of this one's held-out part.
        held = next(it for it in given if is_held_out(name, it["group"]))
        again = {**held, "group": next(it["group"] for it in given if not is_held_out(name, it["group"]))}
        write_file(folder / f"{name}.jsonl.gz", [*given, again])
    return DataFolder(tmp_path)


def test_no_group_claim_or_premise_of_the_held_out_tenth_is_trained_on(sets: DataFolder) -> None:
    train, held = split(sets)
    for name in SETS:
        assert 2 <= len(held[name]) <= 20
        assert not {it["group"] for it in train[name]} & {it["group"] for it in held[name]}
        assert not {it["claim"] for it in train[name]} & {it["claim"] for it in held[name]}
        assert not {it["premise"] for it in train[name]} & {it["premise"] for it in held[name]}
    assert split(sets) == (train, held)


def test_a_set_that_knows_no_contradictions_is_read_as_entailed_or_not(sets: DataFolder) -> None:
    train, held = split(sets)
    assert as_row("factcg", {"premise": "a", "claim": "b", "label": "not_entails", "group": "1"})["binary"]
    assert {it["label"] for it in train["factcg"] if it.get("binary")} == {"neutral"}
    assert all(it["binary"] for it in held["factcg"])
    assert not any(it.get("binary") for it in held["citint"])


def test_runs_are_judged_by_rows_that_they_are_not_trained_on(tmp_path: Path) -> None:
    for name in ("healthver", "scifact"):
        write_file(tmp_path / "mix" / "dev" / f"{name}_dev.jsonl", [row(n) for n in range(30)])
    write_file(tmp_path / "held" / "citint.jsonl", [row(n) for n in range(50)])
    judged(tmp_path / "mix", tmp_path / "held", tmp_path / "out", 20)
    files = {path.stem: list(read_rows(path)) for path in (tmp_path / "out").glob("*.jsonl")}
    assert all(len(rows) == 20 for rows in files.values())
    assert {row["label"] for row in files["frames_open"]} == {"neutral"}
    assert {row["label"] for row in files["frames_denied"]} == {"contradicts"}
    assert {row["premise"] for row in files["alone_healthver"]} == {"."}
    trained = {row["premise"] for row in Maker(51).rows(60)}
    kinds = [name for name in files if name.startswith("kinds_")]
    assert len(kinds) == 13
    assert not trained & {row["premise"] for name in kinds for row in files[name]}


def test_a_long_text_is_scored_and_not_trained_on(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(500))
    for name in SETS:
        given = [
            {"premise": f"{name} {n} {long}", "claim": f"claim {n} of {name}", "label": "entails", "group": str(n)}
            for n in range(80)
        ]
        write_file(tmp_path / "transfer" / f"{name}.jsonl.gz", given)
    train, held = split(DataFolder(tmp_path))
    assert not any(train.values())
    assert all(held.values())


def test_files_of_rows_are_the_same_each_time(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    assert write_file(path, [row(1), row(2)]) == 2
    first = path.read_bytes()
    write_file(path, [row(1), row(2)])
    assert path.read_bytes() == first
    assert list(read_rows(path)) == [row(1), row(2)]
    assert json.loads(gzip.decompress(first).splitlines()[0])["group"] == "g1"


@pytest.mark.parametrize("kind", [OPEN, PLAIN, DENIED])
def test_a_frame_holds_the_sentence_in_many_wordings(kind: str) -> None:
    dice = random.Random(1)
    texts = {frame(SENTENCE, kind, dice) for _ in range(400)}
    assert len(texts) > 200
    for text in texts:
        assert "zinc lozenges shorten the common cold in healthy adults" in text.lower()
        assert text[0].isupper() or text[0] == "“"
        assert text[-1] in ".?”"
        assert ".." not in text
        assert "  " not in text


def test_a_name_keeps_its_capital_in_a_frame() -> None:
    dice = random.Random(2)
    texts = [frame("TNF blockers reduce joint damage.", OPEN, dice) for _ in range(50)]
    assert not any("tNF" in text for text in texts)


def test_words_of_doubt_do_not_give_the_label_away() -> None:
    dice = random.Random(3)
    told = {kind: " ".join(frame(SENTENCE, kind, dice) for _ in range(3000)) for kind in (OPEN, PLAIN, DENIED)}
    for word in ("hypothes", "believe", "Contrary to", "Whether", "unknown", "question was whether", "refute"):
        assert sum(word in text for text in told.values()) >= 2, word


def test_the_label_stays_among_sentences_about_other_matters() -> None:
    rows = [row(number, label=("entails", "contradicts", "neutral")[number % 3]) for number in range(300)]
    found = list(among(rows))
    assert 10 <= len(found) <= 80
    by_claim = {it["claim"]: it for it in rows}
    for it in found:
        own = by_claim[it["claim"]]
        assert it["label"] == own["label"]
        assert own["premise"] in it["premise"]
        assert len(it["premise"]) > len(own["premise"])


def test_a_source_that_says_nothing_beside_the_right_one_leaves_the_label() -> None:
    claim = "Zinc shortens colds."
    decisive = row(1, claim=claim, label="contradicts", premise="Zinc made no difference to the length of colds.")
    silent = row(2, claim=claim, label="neutral", premise="Zinc lozenges were made by two firms.")
    found = [
        it
        for number in range(20)
        for it in beside([{**decisive, "premise": f"{decisive['premise']} ({number})"}, silent])
    ]
    assert found
    assert {it["label"] for it in found} == {"contradicts"}
    assert all(silent["premise"] in it["premise"] and "no difference" in it["premise"] for it in found)


def test_one_claim_gets_three_labels_from_frames() -> None:
    rows = [row(number, premise=" ".join(["word"] * 60)) for number in range(200)]
    labels: dict[str, set[str]] = {}
    for it in framed(rows):
        labels.setdefault(it["claim"], set()).add(it["label"])
    assert len(labels) > 5
    assert all(found == {"entails", "contradicts", "neutral"} for found in labels.values())


def test_what_a_premise_contradicts_its_assertion_contradicts_and_a_guess_does_not() -> None:
    rows = [
        row(
            number,
            label="contradicts",
            premise=f"Zinc lozenges increased the colds of healthy adults in ward {number}.",
        )
        for number in range(200)
    ]
    found = [it for it in framed(rows) if "increased" in it["premise"]]
    assert found
    assert all(it["label"] == ("neutral" if it["kind"] == OPEN else "contradicts") for it in found)


@pytest.mark.parametrize(
    ("text", "kind", "wrong"),
    [
        ("Smoking is associated with hair loss in men.", "cause", "associated"),
        ("Zinc may reduce the length of colds in adults.", "certainty", "may"),
        ("Metformin slows the growth of tumours in mice.", "species", "mice"),
        ("Exercise lowers blood pressure in patients with diabetes.", "everyone", "diabetes"),
    ],
)
def test_a_stronger_claim_drops_what_limits_its_source(text: str, kind: str, wrong: str) -> None:
    found = stronger(text, random.Random(1))
    assert found is not None
    assert found[0] == kind
    assert wrong not in found[1].split()
    assert found[1] != text


def test_a_weaker_claim_reads_well() -> None:
    dice = random.Random(1)
    found = {weaker("Zinc reduces the length of colds.", dice) for _ in range(60)}
    said = {text for _, text in filter(None, found)}
    assert "Zinc may reduce the length of colds." in said
    assert "Zinc possibly reduces the length of colds." in said


def test_weaker_is_entailed_and_stronger_is_left_open() -> None:
    rows = [row(1, premise="Smoking is associated with hair loss in men over forty years.")]
    found = list(degrees(rows, 1.0, made, dice_for))
    labels = {it["kind"]: it["label"] for it in found}
    assert labels == {"stronger-cause": "neutral", "weaker-cause": "entails", "equal": "entails"}


def test_two_labels_for_one_pair_leave_neither() -> None:
    assert once([row(1), row(1, label="neutral"), row(2), row(2)]) == [row(2)]


def test_claims_with_one_label_get_a_near_passage_of_another_group(tmp_path: Path) -> None:
    rows = [
        row(
            n,
            source="citint",
            premise=f"Zinc lozenges and colds were studied in ward {n}.",
            claim=f"Zinc and colds in ward {n}.",
        )
        for n in range(30)
    ]
    write_file(tmp_path / "rows.jsonl", rows)
    second(tmp_path / "rows.jsonl", tmp_path / "second.jsonl")
    found = list(read_rows(tmp_path / "second.jsonl"))
    own = {it["claim"]: it["premise"] for it in rows}
    assert len(found) > 10
    assert all(it["label"] == "neutral" and it["premise"] != own[it["claim"]] for it in found)


def test_rows_of_dev_files_are_refused_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mix.guard import Forbidden

    monkeypatch.setattr("more.rows.forbidden", lambda _data, _keep: Forbidden(((SENTENCE, "made-up test"),)))
    write_file(tmp_path / "scifact_dev.jsonl", [row(1, claim="Ward 1 was closed to visitors in the winter months.")])
    kept = Kept(DataFolder(tmp_path), [tmp_path / "scifact_dev.jsonl"])
    assert not kept.allows(row(2, claim=SENTENCE))
    assert not kept.allows(row(2, premise=row(1)["premise"]))
    assert not kept.allows(row(2, claim="Ward 1 was closed to visitors in the winter months!"))
    assert kept.allows(row(3))
    assert sum(kept.dropped.values()) == 3


KINDS = "counts units classes arm eligible noninferior unknown falling unreported tenfold halves".split()


def test_findings_of_every_kind_have_claims_of_every_label_and_no_pair_has_two() -> None:
    rows = Maker(1).rows(60)
    labels = {kind: {it["label"] for it in rows if it["kind"] == kind} for kind in KINDS}
    assert labels == {kind: {"entails", "contradicts", "neutral"} for kind in KINDS}
    pairs: dict[tuple[str, str], set[str]] = {}
    for it in rows:
        pairs.setdefault((it["premise"], it["claim"]), set()).add(it["label"])
        assert "  " not in it["premise"] + it["claim"]
        assert it["claim"][0].isupper() or it["claim"][0].isdigit()
        assert it["claim"].endswith(".")
    assert not [pair for pair, held in pairs.items() if len(held) > 1]
    assert Maker(1).rows(60) == rows


def test_percentages_of_a_count_are_computed() -> None:
    assert [share(18, 300), share(1, 40), share(36, 300), share(17, 600)] == ["6.0%", "2.5%", "12%", "2.8%"]


def test_a_half_in_the_claim_is_a_half_in_the_counts() -> None:
    """The label of each claim that gives a ratio is that of the two numbers in the finding."""
    maker, seen = Maker(5), 0
    for _ in range(400):
        finding = maker.counts()
        found = re.match(r"(\d+) of (\d+) .* on (.+?) \w+.* against (\d+) of \d+ on (.+)$", finding.premise)
        for claim, label in finding.claims:
            ratio = re.match(r"twice as many people on (.+) as on (.+?) (?:did|had|were|[a-z]+)", claim)
            if not found or not ratio:
                continue
            first, _, a, second, b = found.groups()
            by_arm = {a.split(" ")[0]: int(first), b.split(" ")[0]: int(second)}
            more, less = (by_arm.get(name.split(" ")[0]) for name in ratio.groups())
            if more is None or less is None:
                continue
            assert (more == 2 * less) == (label == "entails"), (finding.premise, claim)
            seen += 1
    assert seen > 5


def test_a_claim_does_not_tell_its_label_by_its_wording() -> None:
    """A naive Bayes of the claims' words alone, on findings that it has not seen, is little above chance."""
    rows = Maker(3).rows(500)
    groups = sorted({it["group"] for it in rows})
    held = set(random.Random(1).sample(groups, len(groups) // 4))
    counts: dict[str, Counter[str]] = {}
    for it in rows:
        if it["group"] not in held:
            counts.setdefault(it["label"], Counter()).update(set(it["claim"].lower().split()))
    total = {label: sum(words.values()) for label, words in counts.items()}

    def guess(claim: str) -> str:
        words = set(claim.lower().split())
        return max(counts, key=lambda label: sum(math.log((counts[label][w] + 1) / total[label]) for w in words))

    asked = [it for it in rows if it["group"] in held]
    right = sum(guess(it["claim"]) == it["label"] for it in asked) / len(asked)
    assert right < 0.55


def documents() -> list[OpenDocument]:
    words = ("zinc", "honey", "yoga", "iron")
    return [
        OpenDocument(
            f"pmid:{number}",
            f"{words[number % 4].capitalize()} for colds",
            [
                f"We studied {words[number % 4]} in ward {number}.",
                f"Colds were {number} days shorter with {words[number % 4]}.",
                f"Visits took place in month {number}.",
            ],
        )
        for number in range(60)
    ]


def test_a_claim_meets_passages_of_ten_other_texts_and_never_its_own() -> None:
    search = Passages(documents())
    found = list(search.near("Colds were shorter with zinc.", frozenset({"pmid:4"}), random.Random(1)))
    keys = [key for key, _ in found]
    assert len(keys) == len(set(keys)) == 10
    assert "pmid:4" not in keys
    assert all(int(key.split(":")[1]) % 4 == 0 for key in keys), "another matter came before the claim's own"
    assert all("shorter with zinc" in text for _, text in found)


def test_a_claim_that_shares_nothing_with_the_corpus_meets_nothing() -> None:
    assert not list(Passages(documents()).near("Quokkas hibernate.", frozenset(), random.Random(1)))


@pytest.mark.parametrize(
    ("group", "key"),
    [("corpus:pmid:7", "pmid:7"), ("written:scifact:9", "scifact:9"), ("pubmedqa:12", "pmid:12")],
)
def test_the_document_of_a_claim_is_known_by_its_group(group: str, key: str) -> None:
    assert key in own_documents({"group": group})


def test_a_file_that_was_cut_off_is_continued_behind_its_last_whole_claim(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"claim": claim}) for claim in ("a", "a", "b", "c")]
    path.write_text("\n".join(lines) + '\n{"claim": "c", "prem')
    assert finished(path) == {"a": 2, "b": 1}
    assert path.read_text() == "\n".join(lines[:3]) + "\n"
    assert finished(tmp_path / "none.jsonl") == {}


def test_a_claim_that_hangs_on_another_is_not_searched_for() -> None:
    assert stands_alone("Zinc shortens colds in adults.")
    assert not stands_alone("It shortens colds in adults.")
    assert not stands_alone("Does zinc shorten colds?")


def test_lines_written_later_are_rows_with_a_premise_and_three_claims(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "recipes" / "verifier" / "written-5.jsonl"
    invented([path], tmp_path / "rows.jsonl")
    rows = list(read_rows(tmp_path / "rows.jsonl"))
    by_premise: dict[str, set[str]] = {}
    for it in rows:
        by_premise.setdefault(it["premise"], set()).add(it["label"])
    assert len(by_premise) >= 100
    assert all(labels == {"entails", "contradicts", "neutral"} for labels in by_premise.values())
    assert len({it["claim"] for it in rows}) == len(rows)
