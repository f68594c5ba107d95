"""What notebooks show of answers, verdicts and comparisons."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import html as lxml_html

import vericite as vc
from browser import CHROMIUM, Browser
from vericite.reporting.notebook import html_of

HOSTILE = 'Statins <script>alert("1")</script> &amp; raise </div> LDL'
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def checked() -> vc.CheckedAnswer:
    return vc.check(f"Statins raise LDL [1]. {HOSTILE} [2].\n\nFish swim.", ["Statins <b>lower</b> LDL."], id="<i>")


def text_of(html: str) -> str:
    """Return the text of the page without its style sheet, which has the name of each kind of verdict."""
    shown = lxml_html.fromstring(html)
    for style in shown.xpath("//style"):
        style.drop_tree()
    return " ".join(shown.xpath("string(.)").split())


def test_texts_are_escaped_once(checked: vc.CheckedAnswer):
    shown = checked._repr_html_()
    assert HOSTILE in text_of(shown)
    assert "Statins <b>lower</b> LDL." in text_of(shown)
    assert not re.search("<script|<b>lower|<i>", shown)
    assert "<script" not in html_of(vc.parse_answer("<i>", f"{HOSTILE} [1].", [vc.Document.from_text("<b>", HOSTILE)]))


def test_every_rule_of_the_style_is_below_its_element(checked: vc.CheckedAnswer):
    css = re.search("<style>(.*?)</style>", checked._repr_html_(), re.DOTALL)
    assert css is not None
    rules = re.sub(r"@media [^{]*\{", "", css[1])
    selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", rules) for part in rule.split(",")]
    assert selectors and all(
        re.match(r"(\[data-jp-theme-light=\w+\] |\.vscode-\w+ )?\.vericite\b", one) for one in selectors
    )


def test_each_kind_of_value_is_shown(checked: vc.CheckedAnswer):
    verdict = text_of(checked.verdicts[0]._repr_html_())
    assert "contradicted" in verdict and "Fish" not in verdict
    assert "uncited" in text_of(checked._repr_html_())
    answer = vc.parse_answer(
        "a", "Statins lower LDL [1].", [vc.Document.from_text("doc", "Statins lower LDL.")], "Why?"
    )
    assert all(word in text_of(answer._repr_html_()) for word in ("Why?", "Statins lower LDL [1].", "1 source", "doc:"))
    (compared,) = vc.compare(str(EXAMPLES / "score" / "first"), str(EXAMPLES / "score" / "second"))
    assert all(word in text_of(compared._repr_html_()) for word in (compared.sentence, "95 % interval", "p = 0.50"))
    with pytest.raises(TypeError, match="expected an answer, verdicts or a comparison; found int"):
        html_of(3)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(("light", "ink"), [("true", "rgb(28, 36, 48)"), ("false", "rgb(230, 234, 240)")])
def test_the_colours_follow_jupyters_theme(checked: vc.CheckedAnswer, tmp_path: Path, light: str, ink: str):
    page = tmp_path / "page.html"
    page.write_text(f'<!doctype html><body data-jp-theme-light="{light}">{checked._repr_html_()}', encoding="utf-8")
    with Browser(tmp_path) as browser:
        browser.go(page.as_uri())
        assert browser.run("getComputedStyle(document.querySelector('.vericite td:nth-child(4)')).color") == ink


def test_progress_is_a_bar_in_a_notebook_and_nothing_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: Any):
    assert list(vc.progress(iter("abc"), 3)) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")
    shown: list[dict[str, str]] = []

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Any:
        shown.append(data)
        return SimpleNamespace(update=lambda data, raw: shown.append(data))

    monkeypatch.setattr("vericite.reporting.progress._notebook_display", lambda: display)
    monkeypatch.setattr("vericite.reporting.progress._BETWEEN", 0.0)
    assert list(vc.progress(["a", "b"], doing="<checking>")) == ["a", "b"]
    assert [data["text/plain"].split(",")[0] for data in shown] == [
        "<checking>: 0 of 2", "<checking>: 1 of 2", "<checking>: 2 of 2", "<checking>: 2 of 2",
    ]  # fmt: skip
    assert 'max="2" value="1"' in shown[1]["text/html"] and "&lt;checking&gt;" in shown[1]["text/html"]
    list(vc.progress(iter(()), doing="nothing"))
    assert shown[-1]["text/plain"].startswith("nothing: 0 of 0")
