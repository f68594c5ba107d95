from __future__ import annotations

import importlib
import importlib.util
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from math import isnan
from pathlib import Path

import pytest
from cited_answers import ANSWERS, PARTLY, QUESTION, SCORES, SOURCES, SUPPORTED, UNMARKED, expected

import vericite
from vericite.errors import UnsupportedAnswerError
from vericite.integrations.promptfoo import call_api, get_assert
from vericite.integrations.scores import ScoreName, answer_with, score_answer

HOSTS = ["inspect_ai", "ragas", "deepeval", "langchain", "llama_index", "haystack", "dspy"]
PACKAGE = {
    "inspect_ai": "inspect-ai",
    "langchain": "langchain-core",
    "llama_index": "llama-index-core",
    "haystack": "haystack-ai",
}
ROOT = Path(__file__).parents[2]
LIBRARY = {"langchain": "langchain_core"}


def scored(name: ScoreName, text: str, **options: object):
    return score_answer(name, answer_with(text, SOURCES, QUESTION), **options)  # pyright: ignore


@pytest.mark.parametrize("text", ANSWERS)
@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_that_of_check(name: ScoreName, text: str):
    assert scored(name, text).value == expected(name, text)


def test_the_scores_differ_where_they_should():
    values = {name: expected(name, PARTLY) for name in SCORES}
    assert values == {
        "support": pytest.approx(1 / 3),
        "contradiction": 0.5,
        "citation_recall": pytest.approx(1 / 3),
        "citation_precision": 0.5,
    }


def test_a_reason_has_a_line_for_each_sentence_with_verdict_and_evidence():
    first, *lines = scored("support", PARTLY).reason.splitlines()
    assert first == "1 of 2 citations supported, 1 contradicted, 1 uncited"
    assert lines[0].startswith("supported [1]: Zinc lozenges shortened colds by two days. Source:")
    assert lines[1].startswith("contradicted (0.")
    assert '[2]: Nausea was rare. Source: "Nausea and a bad taste were frequent."' in lines[1]
    assert lines[2] == "uncited: Many people take them."


@pytest.mark.parametrize("id", ["a: b", "a>", "<CheckedAnswer 'a': >"])
def test_a_reason_begins_with_the_counts_whatever_the_id(id: str):
    answer = vericite.parse_answer(
        id, "Zinc lozenges shortened colds by two days [1].", [vericite.Document.from_text("1", SOURCES[0])]
    )
    assert score_answer("support", answer).reason.splitlines()[0] == "1 of 1 citations supported"


def test_a_reason_says_what_was_assumed():
    assert scored("support", UNMARKED).reason.endswith(
        "No sentence has a marker, so each was taken to cite all 2 contexts."
    )
    assert "taken to cite" not in scored("support", PARTLY).reason


def test_words_of_an_answer_are_no_markup_in_a_reason_in_markdown():
    hostile = "# Zinc *shortens* <script>alert(1)</script> [a](http://x) colds [1]."
    reason = score_answer("support", hostile, SOURCES).markdown_reason
    assert "<script" not in reason.replace("\\<", "")
    assert "*shortens*" not in reason.replace("\\*", "")


def test_an_answer_without_sentences_has_no_score():
    found = scored("support", "")
    assert found.value is None
    assert isnan(found.number)


def test_a_failed_judgement_is_no_score():
    def broken(premise: str, claim: str) -> bool:
        raise RuntimeError("no")

    assert scored("support", "Zinc helps [1].", judge=broken).value is None


def test_an_unknown_score_is_refused():
    with pytest.raises(vericite.InputError, match=r"found .suport.\. Did you mean .support."):
        scored("suport", SUPPORTED)  # pyright: ignore


def test_scores_of_one_answer_check_it_once_even_in_threads():
    names: list[ScoreName] = ["support", "contradiction"] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: scored(name, SUPPORTED).checked, names))
    assert len({id(checked) for checked in found}) == 1


def test_another_question_protocol_or_context_is_another_check():
    first = scored("support", SUPPORTED).checked
    assert scored("citation_recall", SUPPORTED).checked is not first
    assert score_answer("support", answer_with(SUPPORTED, SOURCES[:1], QUESTION)).checked is not first


@pytest.mark.parametrize("host", HOSTS)
def test_without_its_library_an_integration_says_how_to_install_it(host: str):
    if importlib.util.find_spec(LIBRARY.get(host, host)) is not None:
        pytest.skip("installed here")
    with pytest.raises(vericite.VeriCiteError, match=r"Install it: pip install [a-z]"):
        importlib.import_module(f"vericite.integrations.{host}")


@pytest.mark.parametrize("host", [*HOSTS, "promptfoo"])
def test_the_module_of_a_host_is_small(host: str):
    module = Path(vericite.__file__).parent / "integrations" / f"{host}.py"
    assert len(module.read_text().splitlines()) <= 120


def test_a_guards_error_survives_pickling():
    found = scored("support", PARTLY)
    error = pickle.loads(pickle.dumps(UnsupportedAnswerError(found.checked, found.value, 0.9, found.reason)))
    assert error.share == found.value
    assert "expected at least 0.9 of the sentences" in str(error)


def context(text: str, **config: object) -> dict[str, object]:
    return {"vars": {"answer": text, "documents": SOURCES}, "config": config}


@pytest.mark.parametrize("name", SCORES)
def test_promptfoos_assertion(name: str):
    found = get_assert(PARTLY, context(PARTLY, kind=name))
    value = expected(name, PARTLY)
    assert found["score"] == pytest.approx(1 - value if name == "contradiction" else value)
    assert found["pass"] is False
    assert len(found["componentResults"]) == 3 and not found["componentResults"][2]["pass"]
    assert get_assert(PARTLY, context(PARTLY, kind=name, threshold=value))["pass"]


def test_promptfoos_assertion_names_a_missing_variable():
    with pytest.raises(vericite.InputError, match="the variable 'sources' of the test"):
        get_assert(PARTLY, context(PARTLY, documents="sources"))


def test_promptfoos_provider_answers_from_the_tests_documents():
    found = call_api(QUESTION, {}, {"vars": {"documents": SOURCES}})
    assert found["output"] == "Zinc lozenges shortened colds by two days [1]."


def test_the_page_says_the_versions_that_are_tested():
    page = (ROOT / "docs" / "integrations.md").read_text()
    for path in (ROOT / "tests" / "integrations" / "hosts").glob("*-oldest.txt"):
        host = path.name.removesuffix("-oldest.txt")
        package = PACKAGE.get(host, host)
        versions = [
            re.search(rf"^{package}==(\S+)", (path.parent / f"{host}-{name}.txt").read_text(), re.MULTILINE)
            for name in ("oldest", "newest")
        ]
        assert all(versions), host
        assert " to ".join(found[1] for found in versions if found) in page, host
