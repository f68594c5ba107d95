"""Agreement of annotators and with the judge, exchange of labels, and corrected rates."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from vericite.errors import InputError, Problems
from vericite.lab.annotate.agreement import bleu, correct_systems, people_agreement
from vericite.lab.annotate.interchange import read_annotations, written
from vericite.lab.annotate.labels import Annotation, Snippet, adjudicate, support
from vericite.lab.annotate.schemes import load_scheme
from vericite.lab.annotate.units import draw, units_of

SCHEME = load_scheme("vericite")


def said(rater: str, item: str, label: str | None, *marks: tuple[int, int]) -> Annotation:
    text = "Zelotrine reduced pain."
    snippets = tuple(Snippet(document="d1", start=a, end=b, text=text[a:b]) for a, b in marks)
    return Annotation(item=item, rater=rater, label=label, group=item, snippets=snippets)


def test_kappa_by_hand():
    # 6 of 10 supported by both, 2 irrelevant by both, 1 each way: 0.8 seen, 0.49 + 0.09 by chance.
    pairs = [("supported", "supported")] * 6 + [("irrelevant", "irrelevant")] * 2
    pairs += [("supported", "irrelevant"), ("irrelevant", "supported")]
    given = [said(who, str(n), pair[place]) for n, pair in enumerate(pairs) for place, who in enumerate("ab")]
    found = people_agreement(given, SCHEME)
    kappa = next(one for one in found.labels if one.measure == "CohenKappa")
    assert kappa.found.value == pytest.approx((0.8 - 0.58) / (1 - 0.58))
    assert len(found.adjudication.agreed) == 8
    assert len(found.adjudication.ties) == 2


def test_the_majority_and_the_judge(make_system):
    units = {unit.item: unit for unit in units_of([make_system(answers=6)])}
    given = [
        said(who, item, unit.verdict if who != "c" else "contradicted") for item, unit in units.items() for who in "abc"
    ]
    found = people_agreement(given, SCHEME, units)
    assert not found.adjudication.ties
    kappas = {one.raters: one.found.value for one in found.judge if one.measure == "CohenKappa"}
    assert kappas["judge", "majority"] == 1.0
    assert kappas["judge", "a"] == 1.0
    assert kappas["judge", "c"] == 0.0


def test_labels_of_other_schemes_are_converted_to_verdicts(make_system):
    units = {unit.item: unit for unit in units_of([make_system(answers=6)])}
    words = {"supported": "completely supports", "irrelevant": "partially supports"}
    given = [said("a", item, words[unit.verdict or ""]) for item, unit in units.items()]
    found = people_agreement(given, load_scheme("politicite"), units)
    assert not found.labels
    assert found.judge[0].found.value == 1.0


def test_passages_by_hand():
    given = [said("a", "1", "supported", (0, 9)), said("b", "1", "supported", (0, 17))]
    given += [said("a", "2", "supported", (0, 9)), said("b", "2", "supported")]
    (found,) = people_agreement(given, SCHEME).snippets
    assert found.overlap == pytest.approx(2 * 9 / (9 + 17))
    assert (found.n, found.one_only) == (1, 1)


def test_bleu_by_hand():
    words = "the drug reduced pain in adults".split()
    assert bleu(words, words) == pytest.approx(1)
    assert bleu(["no"], words) == 0
    # 1-grams 2 of 2, 2-grams (1 + 1) of (1 + 1), none longer; two words where six were meant.
    assert bleu(["the", "drug"], words) == pytest.approx(2.718281828 ** (1 - 3))


def test_ties_have_no_majority_and_count_by_share():
    given = [said("a", "1", "supported"), said("b", "1", "irrelevant"), said("a", "2", "supported")]
    given += [said("b", "2", "supported"), said("c", "2", None)]
    found = adjudicate(given)
    assert found.agreed == {"2": "supported"}
    assert found.ties == {"1": {"supported": 1, "irrelevant": 1}}
    assert support(given, SCHEME) == {"1": 0.5, "2": 1.0}
    with pytest.raises(InputError, match="expected a scheme with a label that means supported"):
        support(given, load_scheme("bioace-completeness"))


@pytest.mark.parametrize(("form", "name"), [("jsonl", "a.jsonl"), ("csv", "a.csv"), ("label-studio", "a.json")])
@pytest.mark.parametrize("scheme", ["vericite", "reason-verify"])
def test_labels_survive_export_and_import(make_system, tmp_path: Path, form: str, name: str, scheme: str):
    asked = load_scheme(scheme)
    units = {unit.item: unit for unit in units_of([make_system(answers=4)])}
    given = []
    for place, (item, unit) in enumerate(units.items()):
        text = unit.documents[0].text
        snippet = Snippet(document="d1", start=12, end=24, text=text[12:24])
        given.append(
            Annotation(
                item=item, rater="=ann", label=asked.labels[place % 3].name, group=unit.group, snippets=(snippet,),
                scales={one.name: 1.0 for one in asked.scales}, note="-1, a note", seconds=3.5, scheme=asked.signature,
            )
        )  # fmt: skip
    path = tmp_path / name
    path.write_text(written(list(units.values()), given, asked, form), encoding="utf-8")
    problems = Problems()
    back = read_annotations([path], asked, units, problems)
    assert not problems
    if form == "label-studio":
        back = [one.model_copy(update={"scheme": asked.signature}) for one in back]
    assert back == given


def test_a_table_has_a_row_for_each_unlabelled_unit(make_system, tmp_path: Path):
    units = {unit.item: unit for unit in units_of([make_system(answers=2)])}
    path = tmp_path / "ann.csv"
    rows = written(list(units.values()), [], SCHEME, "csv").splitlines()
    assert len(rows) == 5
    path.write_text("item,label\n" + "".join(f"{item},supported\n" for item in units), encoding="utf-8")
    found = read_annotations([path], SCHEME, units, Problems())
    assert {one.rater for one in found} == {"ann"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["ann.csv", "ann.tsv"])
def test_tables_saved_by_spreadsheets_are_read(tmp_path: Path, delimiter: str, encoding: str, name: str):
    if name == "ann.tsv" and delimiter != "\t":
        return
    rows = [["item", "label", "note"], ["1", "supported", "très sûr; [1], yes"], ["2", "irrelevant", ""]]
    path = tmp_path / name
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    problems = Problems()
    found = read_annotations([path], SCHEME, None, problems)
    assert not problems
    assert [(one.item, one.label, one.note) for one in found] == [
        ("1", "supported", "très sûr; [1], yes"), ("2", "irrelevant", "")
    ]  # fmt: skip


def test_bad_rows_are_skipped_and_wrong_columns_reported(tmp_path: Path):
    path = tmp_path / "ann.csv"
    path.write_bytes("item;label;note\n1;supported;très\n".encode("cp1252"))
    assert [one.note for one in read_annotations([path], SCHEME, None, Problems())] == ["très"]
    path.write_bytes(b"item;label;note\n1;supported;tr\x81s\n2;supported;\n")
    problems = Problems()
    assert [one.item for one in read_annotations([path], SCHEME, None, problems)] == ["2"]
    assert "line 2: expected UTF-8; found byte 0x81. Save the table as UTF-8" in str(problems[0])
    path.write_text("id;verdict\n1;supported\n")
    with pytest.raises(InputError, match="expected a table with the columns item, rater and label; found 'id', 'verd"):
        read_annotations([path], SCHEME, None, Problems())


def test_the_interface_of_label_studio_has_every_label():
    from lxml import etree

    root = etree.fromstring(written([], [], load_scheme("reason-verify"), "label-studio-config"))
    assert [one.get("value") for one in root.iter("Choice")] == list(load_scheme("reason-verify").verdicts)
    assert len(list(root.iter("Number"))) == 2


@pytest.mark.parametrize("text", ["[1]", '[{"data": 3}]', "{", "[" * 5000, '[{"data": {}, "annotations": 3}]'])
def test_other_json_is_refused(tmp_path: Path, text: str):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match="expected"):
        read_annotations([path], SCHEME, {}, Problems())


def test_unknown_fields_of_label_studio_are_ignored(make_system, tmp_path: Path):
    (unit, *_) = units_of([make_system(answers=2)])
    done = {"was_cancelled": False, "completed_by": 7, "lead_time": 2, "result": [
        {"from_name": "label", "to_name": "claim", "type": "choices", "value": {"choices": ["supported"]}},
        {"from_name": "evidence", "to_name": "source", "type": "labels", "id": "x",
         "value": {"start": 25, "end": 42, "text": "reduced pain in 4", "labels": ["evidence"]}},
    ]}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"id": 1, "data": {"item": unit.item}, "annotations": [done, {"was_cancelled": True}]}])
    )
    (found,) = read_annotations([path], SCHEME, {unit.item: unit}, Problems())
    assert (found.rater, found.label, found.seconds) == ("user 7", "supported", 2)
    assert found.snippets[0].text == "reduced pain in 4"


def test_unknown_items_and_labels_are_reported(make_system, tmp_path: Path):
    units = {unit.item: unit for unit in units_of([make_system(answers=2)])}
    item = next(iter(units))
    lines = [said("a", "?", "supported"), said("a", item, "perhaps"), said("a", item, "supported", (0, 500))]
    lines += [said("a", item, "supported"), said("a", item, "irrelevant")]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(one.model_dump_json() + "\n" for one in lines))
    problems = Problems()
    assert len(read_annotations([path], SCHEME, units, problems)) == 1
    assert [one.field for one in problems] == ["item", "label", "snippets", "item"]


def test_corrected_rates_follow_the_labels(make_system):
    systems = [make_system("one", 60), make_system("two", 60)]
    sample = draw(units_of(systems), 80, ["verdict", "system"]).units
    given = [said("a", unit.item, "supported") for unit in sample if unit.system == "one"]
    given += [said("a", unit.item, unit.verdict) for unit in sample if unit.system == "two"]
    first, second = correct_systems(systems, {unit.item: unit for unit in sample}, given, SCHEME)
    assert first.correction.automatic.value == 0.5
    assert first.correction.corrected.value == 1.0
    assert second.correction.corrected.value == 0.5
    assert sum(one.weight for one in second.verdicts) == pytest.approx(120)


def test_a_sample_of_other_verdicts_or_systems_is_refused(make_system):
    system = make_system("one", 20)
    sample = {unit.item: unit for unit in draw(units_of([system]), 20, ["verdict"]).units}
    given = [said("a", item, "supported") for item in sample]
    with pytest.raises(InputError, match="expected the systems that the sample was drawn from"):
        correct_systems([make_system("other", 20)], sample, given, SCHEME)
    changed = {item: unit.model_copy(update={"stratum": {"verdict": "contradicted"}}) for item, unit in sample.items()}
    with pytest.raises(InputError, match="expected the verdicts that the sample was drawn from"):
        correct_systems([system], changed, given, SCHEME)
