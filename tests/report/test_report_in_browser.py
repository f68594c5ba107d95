"""Reports in a browser: the sentences that need a person, systems side by side, repairs, one answer alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser
from hostile import HOSTILE
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.records import Change, Document, Selected, SourceStance, UnsupportedWords
from vericite.reporting.data import make_report, with_verdicts
from vericite.reporting.page import make_page, write_page
from vericite.reporting.words import Language, Wording
from vericite.text.citations import parse_answer

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]
SOURCE = "Zelotrine reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."
GOOD, BAD, NOWHERE = (
    "Zelotrine reduced pain in 40 of 80 adults [1].",
    "It cured baldness in all men [1].",
    "It is old [4].",
)


def system(name: str, *texts: str, changes: tuple[Change, ...] = ()) -> System:
    found = [
        parse_answer(f"q{n}", text, [Document.from_text("d1", SOURCE, "A trial")], f"Question {n}?")
        for n, text in enumerate(texts)
    ]
    items = tuple(Item(answer.id, answer, changes=changes) for answer in found)
    return with_verdicts(System(name, items), "vericite", "lexical")


def opened(browser: Browser, folder: Path, *systems: System) -> None:
    page = folder / "page.html"
    write_page(make_page(make_report(systems, Bootstrap(100, 0)), "A title"), page)
    browser.go(page.as_uri())
    assert set(browser.requests) == {page.as_uri()}, "the page asks for nothing"
    assert browser.complaints == []


def text(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({selector!r}).textContent")


def count(browser: Browser, selector: str) -> int:
    return browser.run(f"document.querySelectorAll({selector!r}).length")


def test_a_report_opens_with_the_sentences_that_need_a_person(tmp_path: Path):
    with Browser(tmp_path) as browser:
        opened(
            browser,
            tmp_path,
            system("one", f"{GOOD} {BAD} It rains.", f"{NOWHERE} {GOOD}"),
            system("two", f"{BAD} {GOOD}", GOOD),
        )
        assert (
            browser.run("document.querySelector('main section:not([hidden]) h2').textContent")
            == "Sentences that need a person"
        )
        assert text(browser, "#review .total") == "4 of 8 sentences need a person"
        assert count(browser, "#review .finding") == 3, "a sentence that both have is one card"
        assert text(browser, "#review .finding").startswith("∅ No such source")
        assert "one, two · Question 0?" in text(browser, "#review li:nth-child(2) .foot")
        browser.run("document.querySelector('#review .needs li:last-child button').click()")
        assert text(browser, "#review .sentence") == "It rains."
        browser.run("document.querySelector('#review .needs li:last-child button').click()")
        browser.run("document.querySelector('#review .finding button').click()")
        assert text(browser, "#reader h3") == "Question 1?"
        assert browser.run("document.activeElement.matches('.systems .claim.open .chip')")
        assert "There is no source" in text(browser, "#reader .held .verdict")
        assert browser.run("location.hash") == "#one/q1"


def test_a_sentence_whose_sources_disagree_needs_a_person(tmp_path: Path):
    (item,) = system("one", GOOD).items
    assert item.answer is not None
    other = Document.from_text("d2", "Zelotrine did not reduce pain.", "Another trial")
    stance = SourceStance(yes=("d1",), no=("d2",), probability=0.7)
    answer = item.answer.model_copy(update={"documents": (*item.answer.documents, other), "stance": stance})
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, with_verdicts(System("one", (Item(answer.id, answer),)), "vericite", "lexical"))
        assert text(browser, "#review .total") == "1 of 1 sentence needs a person"
        assert text(browser, "#review .finding .head").startswith("! Another source says the opposite")


NOT_JUDGED = "whether it answers the question was not judged"


def quoting() -> System:
    """An answer made of a quotation, which no judge read."""
    (item,) = system("one", GOOD).items
    assert item.answer is not None
    answer = item.answer.model_copy(update={"selected": (Selected(answers=0.5, role="result"),)})
    return with_verdicts(System("quoting", (Item(answer.id, answer),)), "vericite", "lexical")


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ((quoting(),), [f"The sentence is quoted from its source; {NOT_JUDGED}"]),
        ((system("one", "It rains."),), ["1 of 1 sentence needs a person"]),
        (
            (quoting(), system("two", BAD)),
            ["1 of 2 sentences need a person", f"1 of 2 sentences is quoted from its source; {NOT_JUDGED}"],
        ),
    ],
)
def test_a_sentence_without_a_verdict_is_not_said_to_need_no_person(
    systems: tuple[System, ...], said: list[str], tmp_path: Path
):
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, *systems)
        assert browser.run("[...document.querySelectorAll('#review .total')].map((it) => it.textContent)") == said


def test_answers_to_a_question_stand_side_by_side(tmp_path: Path):
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, system("one", BAD, GOOD), system("two", GOOD, GOOD))
        browser.look(tmp_path / "look.png", width=1280)
        assert count(browser, "#list .row") == 2 and text(browser, "#count") == "2 of 2 questions"
        tops = (
            "[...document.querySelectorAll('.systems section')].map((it) => Math.round(it.getBoundingClientRect().top))"
        )
        assert len(set(browser.run(tops))) == 1
        browser.run("document.querySelector('#f-differs').click()")
        assert text(browser, "#count") == "1 of 2 questions"
        browser.run(
            "const it = document.querySelector('#f-system'); it.value = '1'; it.dispatchEvent(new Event('input'))"
        )
        assert text(browser, "#reader h4.system") == "two" and count(browser, ".systems section, #reader section") == 1
        browser.look(tmp_path / "look.png", width=390)
        assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_repair_is_accepted_or_refused_change_by_change(tmp_path: Path):
    changes = (
        Change(
            sentence=0, action="rewritten", before="Zelotrine cured pain [1].", after=GOOD, why="[1] contradicts it",
            round=1, by="quotation",
        ),
        Change(sentence=2, action="dropped", before=NOWHERE, why="[4] points at no source", round=1),
    )  # fmt: skip
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, system("one", f"{GOOD} It rains.", changes=changes))
        assert count(browser, "#list") == 0, "one answer needs no list"
        assert (
            text(browser, ".repair-summary .total")
            == "Of 3 sentences: 1 as before, 1 replaced by words of its source, 1 deleted."
        )
        assert "Deleted: 1 of 3" in text(browser, ".repair-summary")
        refuse = "document.querySelectorAll('.change:not(.same) .choice button:last-child')"
        browser.run(f"{refuse}[1].click()")
        assert text(browser, ".kept") == f"{GOOD} It rains. {NOWHERE}"
        browser.run(f"{refuse}[0].click()")
        assert text(browser, ".kept") == f"Zelotrine cured pain [1]. It rains. {NOWHERE}"
        assert browser.run(f"{refuse}[0].getAttribute('aria-pressed')") == "true"


def test_hostile_texts_of_a_repair_stay_texts(tmp_path: Path):
    with Browser(tmp_path) as browser:
        for hostile in HOSTILE:
            change = Change(
                sentence=1, action="dropped", before=f"{hostile[:2_000]} [4].", why=hostile[:200] or "x", round=1
            )
            opened(
                browser, tmp_path, system(hostile[:60] or "one", GOOD, f"{hostile[:2_000]} {GOOD}", changes=(change,))
            )
            browser.run("for (const it of document.querySelectorAll('.choice button')) it.click()")
            assert browser.run("document.title") == "A title"
            assert count(browser, "main img:not([src^='data:image/svg']), main iframe, main script") == 0
            browser.requests.clear()


@pytest.mark.parametrize("language", ["de", "es"])
def test_a_report_in_another_language_has_its_words_and_fits(language: Language, tmp_path: Path):
    dropped = Change(sentence=1, action="dropped", before=BAD, why="nothing supports it", round=1)
    systems = (system("one", f"{GOOD} {BAD} It rains.", GOOD, changes=(dropped,)), system("two", f"{BAD} {GOOD}", GOOD))
    page = tmp_path / "page.html"
    write_page(make_page(make_report(systems, Bootstrap(100, 0)), "A title", language=language), page)
    words = Wording(language)
    with Browser(tmp_path) as browser:
        for direction in ("ltr", "rtl"):
            for width in (1280, 360):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
                browser.ask("Emulation.setDeviceMetricsOverride", **size)
                browser.go(page.as_uri())
                browser.run(f"document.documentElement.dir = {direction!r}")
                assert browser.run("document.documentElement.lang") == language
                assert text(browser, "#review h2") == words("page.review")
                assert words("review.irrelevant") in text(browser, "#review .needs")
                browser.run("for (const it of document.querySelectorAll('details')) it.open = true")
                browser.keys("n")
                assert browser.run("document.documentElement.scrollWidth") <= width, (direction, width)
                browser.keys("?")
                assert words("components.keys") in text(browser, "dialog h2")
                browser.keys("Escape")
        assert browser.complaints == []


def test_a_supported_sentence_whose_source_has_another_figure_needs_a_person(tmp_path: Path):
    (made,) = system("one", f"{GOOD} Nausea was common [1].").items
    assert made.checked is not None
    first, second = made.checked.verdicts
    words = UnsupportedWords(kind="number", text="40", start=GOOD.index("40"), end=GOOD.index("40") + 2)
    told = first.model_copy(update={"words": (words,), "because": "The source says 39; the claim says 40."})
    softer = second.model_copy(update={"because": "The source does not say “common”."})
    item = replace(made, checked=made.checked.model_copy(update={"verdicts": (told, softer)}))
    other = replace(item, id="q1")
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, System("one", (item, other)))
        assert text(browser, "#review .total") == "2 of 4 sentences need a person"
        assert text(browser, "#review .finding .head").startswith("≠ Another figure in its source")
        assert text(browser, "#review .finding .why") == "The source says 39; the claim says 40."
        assert text(browser, "#reader .claim .chip .sign") == "≠", "the mark is at the citation"
        assert "1 supported, another figure in the source" in text(browser, "#reader .legend")
        browser.run("document.querySelector('#reader .chip').click()")
        assert "Supported by [1], with another figure there" in text(browser, "#reader .held .verdict")
        marks = "[...document.querySelectorAll('#f-kind option')].map((option) => option.value)"
        assert browser.run(marks) == ["", "supported", "differs"], "the filter finds it"
        counted = (
            "const view = new AnswerView(document.createElement('p'), {}); "
            "view.it = JSON.parse(document.querySelector('#data').textContent).answers[0]; view.told(countsOf(view.it))"
        )
        assert browser.run(counted) == "1 of 2 sentences has another figure than its source"


def test_a_sentence_that_is_partly_supported_says_so(tmp_path: Path):
    (made,) = system("one", f"{GOOD} {BAD} {BAD}").items
    assert made.checked is not None
    first, second, third = made.checked.verdicts
    partly = second.model_copy(update={"degree": "partly supported", "probabilities": {"irrelevant": 0.45}})
    item = replace(made, checked=made.checked.model_copy(update={"verdicts": (first, partly, third)}))
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, System("one", (item, replace(item, id="q1"))))
        heads = "[...document.querySelectorAll('#review .finding .head')].map((head) => head.textContent)"
        plain, *_, shown = browser.run(heads)
        assert plain.startswith("≁ Not found in its source · cites [1]")
        assert shown.startswith("◐ Not found in its source, partly supported · cites [1]")
        assert shown.endswith("about as likely as not 0.45"), "a card says how likely its verdict is"
        signs = "[...document.querySelectorAll('#reader .chip .sign')].map((sign) => sign.textContent)"
        assert browser.run(signs) == ["✓", "◐", "≁"]
        assert "1 not found, partly supported" in text(browser, "#reader .legend")
        browser.run("document.querySelector('#reader .claim:nth-of-type(2) .chip').click()")
        assert "a part of it may be supported" in text(browser, "#reader .held .verdict")


def test_answers_to_one_question_are_told_apart_by_their_beginning(tmp_path: Path):
    (first, second) = system("one", GOOD, BAD).items
    assert second.answer is not None and first.answer is not None
    same = replace(second, answer=second.answer.model_copy(update={"question": first.answer.question}))
    with Browser(tmp_path) as browser:
        opened(browser, tmp_path, System("one", (first, same)))
        shown = "[...document.querySelectorAll('#list .row .beginning')].map((row) => row.textContent)"
        assert browser.run(shown) == [GOOD, BAD]
        opened(browser, tmp_path, System("one", (first, second)))
        assert browser.run(shown) == []
