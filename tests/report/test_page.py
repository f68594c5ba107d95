"""Reports: their content, that every text stays text, and the page's permissions."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from hostile import HOSTILE
from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.records import Answer, Change, Document, Trimmed
from vericite.reporting.data import Report, make_report, with_verdicts
from vericite.reporting.page import Page, make_page, write_page
from vericite.text.citations import parse_answer

SOURCE = "Zelotrine reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def answer(
    id: str, text: str, source: str = SOURCE, question: str = "Does zelotrine reduce pain?", title: str = "Zelotrine"
) -> Answer:
    return parse_answer(id, text, [Document.from_text("d1", source, title)], question)


def system(name: str, *answers: Answer, changes: tuple[Change, ...] = ()) -> System:
    return with_verdicts(
        System(name, tuple(Item(answer.id, answer, changes=changes) for answer in answers)), "vericite", "lexical"
    )


def report_of(*systems: System) -> Report:
    return make_report(systems, Bootstrap(100, 0))


def page_of(*systems: System) -> str:
    return make_page(report_of(*systems), "A title").html


def data_in(html: str) -> dict[str, object]:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])  # pyright: ignore


def test_a_report_has_each_answer_with_its_verdicts_and_each_document_once():
    first = system("one", answer("a", "Zelotrine reduced pain in 40 of 80 adults [1]. Nobody knows [4]. It rains."))
    second = system("two", answer("a", "Zelotrine reduced pain in 40 of 80 adults [1]."))
    made = report_of(first, second)
    assert list(made.documents) == ["d1"]
    assert [[claim["kind"] for claim in row["claims"]] for row in made.answers] == [
        ["supported", "dangling", "uncited"],
        ["supported"],
    ]
    assert all(row["differs"] for row in made.answers)
    key, start, end = made.answers[0]["claims"][0]["verdicts"][0]["evidence"][0]
    assert made.documents[key]["text"][start:end] == "Zelotrine reduced pain in 40 of 80 adults."
    assert len(made.comparisons) == 1
    assert made.systems[0].rates["supported"].count == 1


def test_two_documents_with_the_same_id_are_both_included():
    made = report_of(
        system("one", answer("a", "It works [1].")), system("two", answer("a", "It works [1].", "Another text."))
    )
    assert len(made.documents) == 2


def test_offsets_are_those_of_javascript():
    made = report_of(
        system("one", answer("a", "\U0001f600 Pain fell [1]. Pain fell [1].", "\U0001f600 So. Pain fell."))
    )
    text = made.answers[0]["text"].encode("utf-16-le")
    spans = [(claim["start"], claim["end"]) for claim in made.answers[0]["claims"]]
    assert [text[2 * start : 2 * end].decode("utf-16-le") for start, end in spans][-1] == "Pain fell [1]."


def test_repairs_are_shown():
    change = Change(
        sentence=0, action="rewritten", before="It rained [1].", after="It poured [1].", why="not supported", round=1
    )
    made = report_of(system("one", answer("a", "It poured [1]."), changes=(change,)))
    assert made.answers[0]["changes"][0]["after"] == "It poured [1]."


def test_a_sentence_that_repair_quotes_is_not_counted_as_supported():
    made = report_of(system("one", answer("a", "It rained [1]. It poured [1].", "It rained. It poured.")))
    assert made.answers[0]["counts"] == {"supported": 2}
    change = Change(
        sentence=1, action="rewritten", before="It snowed [1].", after="It poured [1].", why="[1] contradicts it",
        round=1, by="quotation",
    )  # fmt: skip
    text = "It rained [1]. It poured [1]."
    made = report_of(system("one", answer("a", text, "It rained. It poured."), changes=(change,)))
    assert made.answers[0]["counts"] == {"supported": 1, "quoted": 1}
    assert made.answers[0]["claims"][1]["verdicts"][0]["kind"] == "quoted"


def test_evidence_that_a_model_did_not_see_is_reported():
    made = report_of(system("one", answer("a", "It rained [1].")))
    assert made.answers[0]["cut"] == ""
    given = answer("a", "It rained [1].")
    first, *_ = given.documents
    trimmed = (Trimmed(document=first.id, shown=0, sentences=3),)
    made = report_of(system("one", given.model_copy(update={"trimmed": trimmed})))
    number = len(given.documents)
    assert made.answers[0]["cut"] == (
        f"Evidence was cut for want of room: of {number} documents found the model saw {number - 1} whole, 0 in part "
        "and 1 not at all."
    )


def hostile() -> list[System]:
    answers = [
        answer(
            f"{number}-{text[:60]}", f"{text} [1]. Zelotrine reduced pain [1].", f"{text} {SOURCE}", f"{text}?", text
        )
        for number, text in enumerate(HOSTILE)
    ]
    return [system(HOSTILE[1], *answers), system(HOSTILE[13], *answers)]


def test_no_text_can_leave_its_place_in_the_page():
    html = page_of(*hostile())
    # Data, words, and the script itself.
    assert html.count("<script") == 3
    assert html.count("</script>") == 3
    assert "<img src=x" not in html and "<iframe" not in html and "{{ 7*7 }}" in json.dumps(data_in(html))
    assert len(html) < 15_000_000


def test_the_page_only_allows_its_own_style_and_script():
    html = page_of(system("one", answer("a", "It works [1].")))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")  # pyright: ignore
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)[0]
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)[0]
    for text in (script, style):
        assert f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy and "http" not in policy


def test_data_may_be_in_a_separate_file(tmp_path: Path):
    page = make_page(report_of(system("one", answer("a", "It works [1]."))), "A title", external_data=True)
    write_page(page, tmp_path / "out")
    assert "It works" not in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "data.js").read_text(encoding="utf-8").startswith("window.REPORT = {")


def dump(html: str, tmp_path: Path) -> str:
    """Return the page in a browser after its script has run."""
    write_page(Page(html), tmp_path / "page.html")
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    found = subprocess.run(
        [*command, "--virtual-time-budget=5000", "--dump-dom", f"file://{tmp_path / 'page.html'}"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return found.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_answers_and_runs_nothing_of_theirs(tmp_path: Path):
    shown = dump(page_of(*hostile()), tmp_path)
    assert "<title>A title</title>" in shown
    assert 'class="row"' in shown and 'class="claim' in shown
    assert "<iframe" not in shown and "<img src=" not in shown.replace('<img src="data:image/svg', "")
    assert "<base" not in shown and "<object" not in shown


def words_of(html: str) -> str:
    """Return the words of a page that are seen without opening anything, before its script runs."""
    html = re.sub(r"<(script|style|details).*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_figures_stand_side_by_side_with_two_decimals_and_without_rows_of_zeros():
    first = system(
        "one", answer("a", "Zelotrine reduced pain in 40 of 80 adults [1]. It cured baldness [1]. It rains.")
    )
    second = system("two", answer("a", "Zelotrine reduced pain in 40 of 80 adults [1]."))
    html = page_of(first, second)
    words = words_of(html)
    assert "one two answers 1 1 sentences 3 1 supported of citations judged 0.50" in words
    assert "not found in the source of citations judged 0.50" in words
    assert "undecided" not in words and "no such source" not in words, "an outcome that no answer has is left out"
    assert not re.search(r"\d\.\d{3}", words)
    for word in ("irrelevant", "dangling", "abstained", "judged cases", "protocol", "native"):
        assert word not in words, word
    assert html.count("<dt>protocol</dt>") == 1, "what made the figures is said once for both"


def test_sentences_that_repair_deleted_are_next_to_the_figures():
    change = Change(sentence=1, action="dropped", before="It rained [4].", why="[4] points at no source", round=1)
    html = page_of(system("one", answer("a", "It poured [1]."), answer("b", "It poured [1]."), changes=(change,)))
    assert "sentences 2 and 2 deleted by repair" in words_of(html)


def test_plots_are_pictures_with_alternative_text():
    pytest.importorskip("vl_convert")
    made = report_of(
        system("one", *(answer(f"q{n}", "Zelotrine reduced pain in 40 of 80 adults [1].") for n in range(12)))
    )
    for number, row in enumerate(made.answers):
        row["type"] = ("yesno", "list")[number % 2]
    html = make_page(made, "A title").html
    assert '<img src="data:image/svg+xml;base64,' in html
    svg = base64.b64decode(html.split('src="data:image/svg+xml;base64,')[1].split('"')[0]).decode()
    assert "prefers-color-scheme: dark" in svg and 'fill="white"' not in svg
    assert "role-legend" not in svg, "one system needs no legend"
    assert "by type of question. one, yesno: 1.00 (n 6); one, list: 1.00 (n 6)" in html


def test_a_page_says_nothing_of_what_its_maker_lacks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    answers = [
        parse_answer(
            f"a{n}",
            "Zinc shortened colds [1].",
            [Document.from_text(f"d{k}", "Zinc shortened colds.") for k in range(n)],
        )
        for n in (1, 2)
    ]
    items = tuple(Item(answer.id, answer) for answer in answers)
    page = make_page(make_report([with_verdicts(System("one", items), judge="lexical")]), "A title")
    assert "pip install" in page.remark and "pip install" not in page.html
    assert "undecided" not in page.html.partition("<main")[2].partition("<script")[0]
