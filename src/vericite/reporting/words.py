"""The words of pages in several languages: one file, ``page/words.toml``, has them all.

A table of that file is named like the script or the template that uses its words. A page gets the words of its scripts,
in its own language. Scripts and templates use them in the same way: ``t("ask.title")``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from markupsafe import Markup, escape

from vericite.pipeline.plan import Language

LANGUAGES: dict[Language, str] = {"en": "English", "de": "Deutsch", "es": "Español"}
"""Languages by their codes, each in its own words."""

Phrase = str | dict[str, str]
"""Words with ``{name}`` for values, or their forms by the plural categories of Unicode for the value ``n``."""


@lru_cache
def phrases() -> dict[str, dict[Language, Phrase]]:
    """Return all words: by their key, then by language."""
    text = resources.files("vericite.reporting").joinpath("page", "words.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return {f"{table}.{name}": words for table, named in tables.items() for name, words in named.items()}


@dataclass(frozen=True)
class Wording:
    """The words of one language, as templates use them."""

    language: Language = "en"

    def __call__(self, key: str, /, **values: object) -> str:
        """Return words with their values; HTML if one of the values is HTML."""
        phrase = phrases()[key][self.language]
        if isinstance(phrase, dict):
            phrase = phrase["one" if values["n"] == 1 else "other"]
        if any(isinstance(value, Markup) for value in values.values()):
            return Markup(escape(phrase)).format(**values)
        return phrase.format(**values)

    def known(self, beginning: str, name: str) -> str:
        """Return the words for a name, whose key has this beginning; the name itself if there are none."""
        key = beginning + re.sub("[^a-z]+", "-", name)
        return self(key) if key in phrases() else name

    def decimals(self, value: float) -> str:
        """Return a value with two decimals."""
        return f"{value:.2f}" if self.language == "en" else f"{value:.2f}".replace(".", ",")

    def of(self, tables: Iterable[str]) -> Mapping[str, Phrase]:
        """Return the words of these tables, by key."""
        wanted = set(tables)
        return {key: words[self.language] for key, words in phrases().items() if key.partition(".")[0] in wanted}


def chosen_language(kept: str, accepted: str) -> Language:
    """Return the language of a page.

    Args:
        kept: The reader's choice, or an empty text.
        accepted: The header ``Accept-Language``.
    """
    ranked: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:200].split(",")):
        name, _, rest = part.strip().partition(";")
        weight = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", rest)
        ranked.append((-float(weight[1]) if weight else -1.0, place, name.partition("-")[0].strip().lower()))
    wanted = [kept, *(name for weight, _, name in sorted(ranked) if weight < 0)]
    for name in wanted:
        for language in LANGUAGES:
            if name == language:
                return language
    return "en"
