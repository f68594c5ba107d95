from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from vericite.corpus.retractions import RetractionReport, learn
from vericite.records import CheckedAnswer, read_jsonl

EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"
GOOD = {"id": "good", "answer": "Statins lower LDL [1].", "documents": [{"id": "a", "text": "Statins lower LDL."}]}


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def test_the_examples_show_every_outcome(run_cli, tmp_path):
    out = tmp_path / "verdicts.jsonl"
    printed = run_cli("check", str(EXAMPLES), "--out", str(out))
    assert printed.code == 0
    checked = list(read_jsonl(CheckedAnswer, out))
    labels = {"abstained" if v.abstained else v.label for answer in checked for v in answer.verdicts}
    assert labels == {"supported", "contradicted", "irrelevant", "dangling", "abstained"}
    assert any(answer.uncited for answer in checked)
    for label in labels | {"uncited"}:
        assert label in printed.out


def test_a_line_of_output_has_the_promised_fields_and_spans(run_cli, tmp_path):
    out = tmp_path / "verdicts.jsonl"
    run_cli("check", str(EXAMPLES), "--out", str(out))
    given = {item["id"]: item for item in map(json.loads, EXAMPLES.read_text().splitlines())}
    for line in map(json.loads, out.read_text().splitlines()):
        source = given[line["id"]]
        texts = {document["id"]: document["text"] for document in source["documents"]}
        assert {"id", "verdicts", "uncited", "summary"} <= line.keys()
        for verdict in line["verdicts"]:
            promised = "claim start end markers documents label native probabilities evidence abstained reasons"
            assert set(promised.split()) <= verdict.keys()
            sentence = source["answer"][verdict["start"] : verdict["end"]]
            assert verdict["claim"].split()[0] in sentence
            assert (verdict["documents"] == []) == (verdict["label"] == "dangling")
            for span in verdict["evidence"]:
                assert texts[span["document"]][span["start"] : span["end"]].strip()
        for claim in line["uncited"]:
            assert source["answer"][claim["start"] : claim["end"]] == claim["claim"]


def test_alce_lists_several_documents_and_prints_recall_and_precision(run_cli, tmp_path):
    out = tmp_path / "verdicts.jsonl"
    printed = run_cli("check", str(EXAMPLES), "--protocol", "alce", "--out", str(out))
    assert "citation recall" in printed.out and "citation precision" in printed.out
    verdicts = [verdict for answer in read_jsonl(CheckedAnswer, out) for verdict in answer.verdicts]
    assert ("trial", "survey") in {verdict.documents for verdict in verdicts}


def test_bad_lines_are_named_and_cost_only_themselves(run_cli, tmp_path):
    twice = {**GOOD, "id": "twice", "documents": GOOD["documents"] * 2}
    path = write(tmp_path / "in.jsonl", GOOD, "nope", {**GOOD, "answer": 3}, {**GOOD, "extra": 1}, twice, GOOD)
    out = tmp_path / "out.jsonl"
    printed = run_cli("check", path, "--out", str(out))
    assert printed.code == 2
    assert len(out.read_text().splitlines()) == 3
    assert f"{path}, line 2:" in printed.err
    assert f"{path}, line 3, field answer:" in printed.err
    assert f"{path}, line 5:" in printed.err
    assert "3/3" in printed.out


@pytest.mark.parametrize(
    ("answer", "bar", "code"),
    [
        ("Statins lower LDL [1].", "1.0", 0),
        ("Statins lower LDL [1]. Statins lower LDL [2].", "0.5", 0),
        ("Statins lower LDL [1]. Statins lower LDL [2].", "0.6", 1),
        ("Statins lower LDL.", "0.01", 1),
        ("Statins lower LDL [1]. Aspirin is cheap. Iron is sold. Zinc is a metal.", "1", 1),
        ("Statins lower LDL [1]. Aspirin is cheap. Iron is sold. Zinc is a metal.", "supported=0.25", 0),
    ],
)
def test_the_gate_counts_dangling_citations_and_uncited_sentences(run_cli, tmp_path, answer, bar, code):
    path = write(tmp_path / "in.jsonl", {**GOOD, "answer": answer})
    assert run_cli("check", path, "--fail-under", bar).code == code


def test_a_precision_says_how_many_supported_verdicts_it_costs(run_cli):
    said = run_cli("check", str(EXAMPLES), "--set", "check.precision=0.8").out
    unsure, of = map(int, re.search(r"precision 0\.8: abstained from (\d+) of (\d+) supported", said).groups())
    counted = json.loads(run_cli("check", str(EXAMPLES), "--json").out)["counts"]
    strict = json.loads(run_cli("check", str(EXAMPLES), "--json", "--set", "check.precision=0.8").out)["counts"]
    assert strict["supported"] == of - unsure
    assert strict["abstained"] == counted["abstained"] + unsure
    assert "precision" not in run_cli("check", str(EXAMPLES)).out


def test_bad_lines_outrank_the_gate(run_cli, tmp_path):
    path = write(tmp_path / "in.jsonl", GOOD, "nope")
    assert run_cli("check", path, "--fail-under", "1").code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check", "missing.jsonl"), "expected a readable file"),
        (("check", str(EXAMPLES), "--protocol", "alse"), "Did you mean 'alce'?"),
        (("check", str(EXAMPLES), "--judge", "lexicall"), "Did you mean 'lexical'?"),
        (("check", str(EXAMPLES), "--judge", "hf"), "expected hf:CHECKPOINT"),
        (("check", str(EXAMPLES), "--judge", "bundled:x"), "expected 'bundled' alone"),
        (
            ("check", str(EXAMPLES), "--judge", "lexical", "--set", "llm.price=cheap"),
            "expected llm.price to be two amounts",
        ),
        (("check", str(EXAMPLES), "--judge", "lexical", "--set", "check.precision=0.8"), "with measured precisions"),
        (("check", str(EXAMPLES), "--set", "check.precision=0.999"), "expected check.precision of at most"),
        (("check", str(EXAMPLES), "--protocol", "windows(0)"), "at least 1"),
        (("check", str(EXAMPLES), "--out", f"{EXAMPLES}/out.jsonl"), "expected --out"),
        (("check", str(EXAMPLES), "--out", "~/out.jsonl"), "did not replace the ~"),
        (("ask", "  "), "expected a question"),
        (("ask", "Is it?", "--k", "0"), "Invalid value for '--k'"),
        (("ask", "Is it?", "--corpus", "missing.jsonl"), "expected a readable file"),
        (("judge", "a", "b", "--judge", "nobody"), "expected a judge"),
    ],
)
def test_unusable_input_is_reported_and_exits_with_2(run_cli, arguments, told):
    printed = run_cli(*arguments)
    assert printed.code == 2
    assert told in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize(("name", "text"), [("in.jsonl", ""), ("in.md", ""), ("in.txt", " \n"), ("in.jsonl", "nope")])
def test_without_an_answer_there_are_no_rates_and_the_code_is_2(run_cli, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    for gate in ((), ("--fail-over", "contradicted=0")):
        printed = run_cli("check", str(tmp_path / name), *gate)
        assert (printed.code, printed.out) == (2, "")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("in.md", "Statins lower LDL [1]. Tea is hot [2].", "2 dangling. Give the documents"),
        ("in.txt", "hello", "1 uncited. Is it the file you meant?"),
        (
            "in.jsonl",
            json.dumps({**GOOD, "answer": "Los medicamentos bajan el colesterol en la sangre [1]."}),
            "1 abstained. --out FILE keeps the reasons",
        ),
    ],
)
@pytest.mark.parametrize("gate", ["contradicted=0", "failed=0,abstained=1"])
def test_a_gate_fails_if_nothing_was_judged(run_cli, tmp_path, name, text, why, gate):
    (tmp_path / name).write_text(text)
    printed = run_cli("check", str(tmp_path / name), "--fail-over", gate, "--junit", str(tmp_path / "j.xml"))
    assert printed.code == 1
    assert "gate passed" not in printed.out
    told = f"expected at least one judged citation; found none: {why}"
    assert told in printed.out and told in (tmp_path / "j.xml").read_text()
    figures = json.loads(run_cli("check", str(tmp_path / name), "--fail-over", gate, "--json").out)
    assert figures["gate"]["outcome"] == "failed"


def test_texts_cannot_steer_the_terminal(run_cli, tmp_path):
    nasty = "\x1b[31mRed\x1b]0;title\x07 [bold]drugs[/bold] lower \u202eLDL [1]."
    documents = [{"id": "\x1b[2Ja", "title": "[red]", "text": "Red drugs lower LDL \x1b[31m."}]
    printed = run_cli(
        "check", write(tmp_path / "in.jsonl", {"id": "i\x1b[0m", "answer": nasty, "documents": documents})
    )
    assert printed.code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(printed.out)
    assert "[bold]" in printed.out


def test_an_interrupted_check_leaves_whole_lines(tmp_path):
    long = {**GOOD, "documents": [{"id": "a", "text": "Statins lower LDL in adults. " * 300}]}
    many = [{**long, "id": str(n), "answer": f"Statins lower LDL by {n} percent [1]."} for n in range(400)]
    path, target, out = write(tmp_path / "in.jsonl", *many), tmp_path / "out.jsonl", tmp_path / "out.jsonl.partial"
    command = [
        sys.executable,
        "-m",
        "vericite",
        "check",
        path,
        "--out",
        str(target),
        "--protocol",
        "windows(2)",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (out.exists() and out.stat().st_size):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
    assert b"Traceback" not in told
    assert process.returncode == 130
    done = list(read_jsonl(CheckedAnswer, out))
    assert 0 < len(done) < len(many)
    assert [answer.id for answer in done] == [str(n) for n in range(len(done))]


@pytest.mark.parametrize("arguments", [("missing.jsonl",), (str(EXAMPLES), "--protocol", "joitn")])
def test_a_run_that_fails_leaves_an_earlier_output_as_it_was(run_cli, tmp_path, arguments):
    out = tmp_path / "out.jsonl"
    out.write_text("earlier\n")
    assert run_cli("check", *arguments, "--out", str(out)).code == 2
    assert out.read_text() == "earlier\n"
    assert list(tmp_path.iterdir()) == [out]


def test_the_output_must_not_be_the_input(run_cli, tmp_path):
    path = write(tmp_path / "in.jsonl", GOOD)
    printed = run_cli("check", path, "--out", path)
    assert printed.code == 2
    assert "different files" in printed.err
    assert json.loads(Path(path).read_text()) == GOOD


def test_the_output_must_not_be_the_documents(run_cli, tmp_path):
    path, library = write(tmp_path / "in.jsonl", GOOD), write(tmp_path / "documents.jsonl", {"id": "1", "text": "x"})
    printed = run_cli("check", path, "--documents", library, "--out", library)
    assert (printed.code, "different files" in printed.err) == (2, True)
    assert json.loads(Path(library).read_text()) == {"id": "1", "text": "x"}


FORMAT_EXAMPLES = EXAMPLES.parent / "formats"


@pytest.mark.parametrize(
    ("file", "format", "documents"),
    [
        ("vericite.jsonl", "vericite", False),
        ("biogen.json", "biogen", True),
        ("ragas.jsonl", "ragas", False),
        ("langchain.jsonl", "langchain", False),
        ("spans.jsonl", "spans", False),
        ("markdown.md", "markdown", True),
    ],
)
def test_other_formats_are_recognised_and_checked(run_cli, file, format, documents):
    more = ("--documents", str(FORMAT_EXAMPLES / "documents.jsonl")) if documents else ()
    printed = run_cli("check", str(FORMAT_EXAMPLES / file), *more)
    assert printed.code == 0
    told = f"vericite: read as {format}; choose another format with --format NAME\n"
    assert printed.err == ("" if format == "vericite" else told)
    assert "supported" in printed.out
    named = run_cli("check", str(FORMAT_EXAMPLES / file), "--format", format, *more)
    assert (named.code, named.err, named.out) == (0, "", printed.out)


def test_it_is_said_which_fields_were_taken_as_answer_and_sources(run_cli, tmp_path: Path):
    own = tmp_path / "own.jsonl"
    line = {"prompt": "Does it?", "completion": "Aspirin helps [1].", "chunks": [{"content": "Aspirin helps."}]}
    own.write_text(json.dumps(line) + "\n")
    told = run_cli("check", str(own), "--judge", "lexical").err
    fields = "answer from completion, documents from chunks"
    assert (
        told == f"vericite: read as vericite, {fields}; choose other fields with --format answer=NAME,contexts=NAME\n"
    )
    assert run_cli("check", str(own), "--judge", "lexical", "--format", "vericite").err == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ragas.jsonl", "--format", "raga"), "Did you mean 'ragas'?"),
        (("ragas.jsonl", "--format", "vericite"), "line 1: expected {"),
        (("biogen.json",), "--documents FILE"),
        (("biogen.json", "--documents", "missing.jsonl"), "expected a readable file"),
    ],
)
def test_a_format_that_does_not_fit_says_what_to_do(run_cli, arguments, told):
    printed = run_cli("check", str(FORMAT_EXAMPLES / arguments[0]), *arguments[1:])
    assert printed.code == 2
    assert told in printed.err
    assert "Traceback" not in printed.err


def test_records_of_no_format_list_the_formats(run_cli, tmp_path):
    printed = run_cli("check", write(tmp_path / "in.jsonl", {"colour": "\x1b[31mred"}))
    assert printed.code == 2
    assert "line 1, with the fields 'colour'" in printed.err
    assert "ragas" in printed.err and "--format answer=" in printed.err


def test_bad_documents_are_reported_and_cost_themselves(run_cli, tmp_path):
    good = {"id": "PMID:5", "text": "Statins lower LDL."}
    documents = write(tmp_path / "documents.jsonl", {"id": 3}, good)
    path = write(tmp_path / "in.jsonl", {"id": "a", "answer": "Statins lower LDL (PMID: 5)."})
    printed = run_cli("check", path, "--documents", documents)
    assert printed.code == 2
    assert "documents.jsonl, line 1" in printed.err
    assert "1/1" in printed.out


def test_the_help_names_every_format():
    from vericite.cli.check import check
    from vericite.formats import FORMATS

    _, option = get_args(check.__annotations__["format"])
    assert all(name in option.help for name in FORMATS)


def test_citations_of_documents_known_as_retracted_are_counted_and_shown(run_cli, tmp_path):
    learn([RetractionReport("pubmed", {"12345678": ()})])
    sources = [{"id": "pmid:12345678", "text": "Statins lower LDL."}, {"id": "b", "text": "Statins lower LDL."}]
    answer = {**GOOD, "answer": "Statins lower LDL [1]. Statins lower LDL [2].", "documents": sources}
    out = tmp_path / "out.jsonl"
    printed = run_cli("check", write(tmp_path / "in.jsonl", answer), "--out", str(out))
    first, second = (line for line in printed.out.splitlines() if line.startswith("good "))
    assert " supported RETRACTED " in first and "RETRACTED" not in second
    assert printed.out.endswith("\n1 of 2 citations is of a RETRACTED document.\n")
    (checked,) = read_jsonl(CheckedAnswer, out)
    assert [verdict.retracted for verdict in checked.verdicts] == [("pmid:12345678",), ()]
    assert checked.summary.retracted == 1


def test_where_nothing_is_retracted_nothing_is_said_of_it(run_cli, tmp_path):
    learn([RetractionReport("pubmed", {"12345678": ()})])
    assert "etracted" not in run_cli("check", write(tmp_path / "in.jsonl", GOOD)).out.lower()


def test_gates_apart_each_say_what_they_found(run_cli, tmp_path):
    path = write(
        tmp_path / "in.jsonl", {**GOOD, "answer": "Statins lower LDL [1]. Statins lower LDL [7]. Iron is sold."}
    )
    printed = run_cli("check", path, "--fail-over", "contradicted=0,uncited=0.4", "--fail-over", "dangling=0")
    assert printed.code == 1
    assert "gate passed: contradicted 0 of 1 judged cases (0.000); --fail-over contradicted=0" in printed.out
    assert "gate passed: uncited 1 of 3 sentences (0.333)" in printed.out
    assert "gate failed: dangling 1 of 2 citations (0.500)" in printed.out


def test_a_gate_does_not_go_by_a_guessed_format_in_which_nothing_is_uncited(run_cli, tmp_path):
    record = {"question": "What lowers LDL?", "answer": "Statins lower LDL.", "contexts": ["Statins lower LDL."]}
    path = write(tmp_path / "in.jsonl", record)
    refused = run_cli("check", path, "--fail-under", "1")
    assert refused.code == 2 and "expected --format" in refused.err and "--format ragas" in refused.err
    assert run_cli("check", path, "--fail-under", "1", "--format", "ragas").code == 0


def test_a_gate_that_unjudged_cases_may_decide_is_undecided_and_not_failed(run_cli, tmp_path, monkeypatch):
    from vericite.models.contracts import Judgement
    from vericite.verify.judges.bundled import LexicalJudge

    judge = LexicalJudge.judge

    def half(self, pairs):
        for pair, found in zip(kept := list(pairs), judge(self, kept), strict=True):
            yield Judgement.failed("the server went away") if "Zinc" in pair.claim else found

    monkeypatch.setattr(LexicalJudge, "judge", half)
    answer = {**GOOD, "answer": "Statins lower LDL [1]. Zinc lowers LDL [1]."}
    path = write(tmp_path / "in.jsonl", answer)
    printed = run_cli("check", path, "--judge", "lexical", "--fail-under", "0.9")
    assert (printed.code, "gate undecided" in printed.out) == (3, True)


def test_an_unexpected_error_is_not_reported_as_a_failed_gate(run_cli, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("vericite.evaluate.gates.parse_gates", broken)
    printed = run_cli("check", str(EXAMPLES))
    assert printed.code == 3 and "RuntimeError: a fault" in printed.err


@pytest.mark.parametrize("protocol", ["alce", "alce-as-published"])
def test_check_and_score_print_one_alce_figure_for_one_file(run_cli, tmp_path, protocol):
    document = [{"id": "a", "text": "Statins lower LDL."}, {"id": "b", "text": "Zinc is a metal."}]
    texts = [
        "Statins lower LDL [1]. Zinc is a metal [2][9]. Iron is sold.",
        "Statins lower LDL [1][2].",
        "Zinc is a metal [2]. Statins lower LDL [7].",
    ]
    lines = [{"id": str(n), "answer": text, "documents": document} for n, text in enumerate(texts)]
    path, out = write(tmp_path / "in.jsonl", *lines), tmp_path / "out.jsonl"
    made = ("--protocol", protocol, "--judge", "lexical", "--out", str(out), "--json")
    checked = json.loads(run_cli("check", path, *made).out)["rates"]
    scored = json.loads(run_cli("score", str(out), "-m", "AlceRecall,AlcePrecision", "--json").out)
    shown = {one["rate"]: (one["value"], one["low"], one["high"], one["n"]) for one in checked}
    assert [shown["citation recall"], shown["citation precision"]] == [
        (one["value"], one["low"], one["high"], one["n"]) for one in scored
    ]
    # By the rules of ALCE's script: [9] and [7] fail their sentences and leave the denominator of precision.
    assert shown["citation recall"][0] == pytest.approx((1 / 3 + 1 + 1 / 2) / 3)
    assert shown["citation precision"][0] == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_a_run_without_a_gate_says_that_nothing_could_be_judged(run_cli, tmp_path):
    path = tmp_path / "in.md"
    for text in ("Statins lower LDL [1]. Tea is hot [2].", "Statins lower LDL [@a]. Tea is hot [@b]."):
        path.write_text(text)
        printed = run_cli("check", str(path), "-q")
        told = "vericite: nothing could be judged: the text of a source is at hand for none of 2 citations. The exit"
        assert printed.code == 0 and told in printed.err
        assert "nothing could be judged" not in run_cli("check", str(path), "--fail-over", "contradicted=0").err
    good = write(tmp_path / "good.jsonl", GOOD)
    assert "nothing could be judged" not in run_cli("check", good).err
