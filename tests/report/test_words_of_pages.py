"""The words of pages in their languages: complete, used, and with the same values in each."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from vericite.evaluate.citation_rates import ALCE, SHARES, CitationRates
from vericite.reporting.page import ANSWER_SCRIPTS
from vericite.reporting.words import LANGUAGES, Wording, chosen_language, phrases

ANSWER_TABLES = {name.removesuffix(".js") for _, name in ANSWER_SCRIPTS}
TABLES_OF = {"page.js": ANSWER_TABLES | {"page", "review"}}
"""Tables of scripts that are on fewer pages than those of answers; others have their own and those of answers."""
OTHERS = {"notebook.html.j2"}
"""Templates of what is no page: in English."""


def files() -> dict[str, str]:
    """Scripts and templates of pages, and the modules that give them words."""
    folders = [resources.files(package).joinpath("page") for package in ("vericite.reporting", "vericite.serve")]
    found = {file.name: file.read_text() for folder in folders for file in folder.iterdir() if file.name not in OTHERS}
    modules = [resources.files("vericite.serve").joinpath(name) for name in ("pages.py", "app.py")]
    modules.append(resources.files("vericite.reporting").joinpath("page.py"))
    found |= {f"module {file.name}": file.read_text() for file in modules}
    return {name: text for name, text in found.items() if name.endswith((".js", ".j2", ".py"))}


def named_keys(text: str) -> set[str]:
    """The keys in a text. A key that is made of parts is there as its beginning, up to a full stop or a hyphen."""
    tables = "|".join(sorted({key.partition(".")[0] for key in phrases()}))
    named = re.findall(rf"""["'`]((?:{tables})\.[a-z0-9-]*)(?=["'`$])""", text)
    return {name for name in named if not name.endswith((".js", ".css"))}


def values_of(phrase: str) -> list[str]:
    return sorted(re.findall(r"\{(\w+)\}", phrase))


@pytest.mark.parametrize("key", phrases())
def test_a_phrase_has_all_languages_with_the_same_values(key: str):
    phrase = phrases()[key]
    assert list(phrase) == list(LANGUAGES), key
    kinds = {type(words) for words in phrase.values()}
    assert len(kinds) == 1, "plural in one language, and not in another"
    for words in phrase.values():
        forms = [words] if isinstance(words, str) else list(words.values())
        if not isinstance(words, str):
            assert list(words) == ["one", "other"]
            forms = forms[1:] if "{n}" not in forms[0] else forms
        english = phrase["en"] if isinstance(phrase["en"], str) else phrase["en"]["other"]
        for form in forms:
            assert form.strip() and values_of(form) == values_of(english), key


@pytest.mark.parametrize("name", [*SHARES, *ALCE])
def test_a_rate_and_what_it_is_a_share_of_have_words(name: str):
    words = Wording("de")
    of = CitationRates.denominator(name)
    assert words.known("rates.", name) != name and words.known("rates.of-", of) != of


def test_every_phrase_is_used_and_every_used_one_is_there():
    named = {key for text in files().values() for key in named_keys(text)}
    whole, beginnings = ({key for key in named if key.endswith((".", "-")) is is_part} for is_part in (False, True))
    assert not whole - set(phrases())
    unused = {key for key in phrases() if key not in whole and not key.startswith(tuple(beginnings) or ("?",))}
    assert not unused


def test_a_page_gets_the_words_that_its_scripts_use():
    for name, text in files().items():
        if name.endswith(".js"):
            tables = TABLES_OF.get(name, ANSWER_TABLES | {name.removesuffix(".js")})
            assert {key.partition(".")[0] for key in named_keys(text)} <= tables, name


NAMES = {
    "use strict", "noreferrer noopener", "dropped citation", "full text", "not found", "partly supported",
    "not judged", "source not at hand", "The sources disagree", "Ctrl", "Enter", "Escape", "Esc", "ArrowDown",
    "ArrowUp", "Home", "End", "Files", "Markdown", "Word", "Content-Type", "VeriCite", "JSON", "JSON:", "PMID", "PDF",
}  # fmt: skip
"""Names in scripts and templates that no reader sees, and names that are the same in all languages."""


def words_in_script(text: str) -> set[str]:
    """Texts in a script that look like words for a reader: two words, or a capital letter."""
    text = re.sub(r"(?m)(^|\s)//.*$", "", text)
    # Classes, selectors and the names of events.
    text = re.sub(r"""(class(?:Name)?(?::| =)|querySelector(?:All)?\(|closest\()\s*(["`]).*?\2""", "", text)
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)
    found += [part for whole in re.findall(r"`([^`]*)`", text) for part in re.split(r"\$\{[^}]*\}", whole)]
    return {part.strip() for part in found if re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}|^\W*[A-Z][a-z]{2,}", part)}


def words_in_template(text: str) -> set[str]:
    """Texts in a template that it does not get from the file of words."""
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|<style>.*?</style>|<link[^>]*>", "", text, flags=re.DOTALL)
    told = re.findall(r'(?:aria-label|placeholder|title|alt)="([^"]*)"', text)
    return {part.strip() for part in [*told, *re.split(r"<[^>]*>", text)] if re.search(r"[A-Za-z]{2,}", part)}


@pytest.mark.parametrize("name", [name for name in files() if name.endswith((".js", ".j2"))])
def test_no_words_are_left_in_scripts_and_templates(name: str):
    text = files()[name]
    found = words_in_script(text) if name.endswith(".js") else words_in_template(text)
    assert found - NAMES == set()


@pytest.mark.parametrize(
    ("kept", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "fr, en;q=0.5, es;q=0.8", "es"),
        ("", "fr, es;q=0, *", "en"),
        ("es", "de", "es"),
        ("xx", "de;q=2, " + "en," * 99, "de"),
        ("../de", "\x00;q=, de;q=x", "de"),
    ],
)
def test_the_language_is_the_readers_choice_or_else_the_browsers(kept: str, accepted: str, language: str):
    assert chosen_language(kept, accepted) == language


def test_values_of_phrases_are_text_and_never_html():
    from markupsafe import Markup

    words = Wording("de")
    assert words("components.sentences", n=1) == "1 Satz" and words("components.sentences", n=2) == "2 Sätze"
    made = words("components.sentences", n=Markup("<b>2</b>"))
    assert made == "<b>2</b> Sätze" and isinstance(made, Markup)
