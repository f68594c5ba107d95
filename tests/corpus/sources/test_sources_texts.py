from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vericite.corpus.ingest import collect_sources
from vericite.errors import InputError
from vericite.records import Document
from vericite.text.roles import label_role


def only(items) -> Document:
    [item] = items
    assert isinstance(item, Document), item
    return item


def outline(document: Document) -> list[tuple[str | None, str]]:
    return [(section.label, section.text) for section in document.sections]


# Markdown

GUIDELINE = """---
title: "Iron: a guideline"
date: 2021-05-03
authors:
  - Doe, Jane
  - Roe, Al
lang: en
doi: 10.99999/guide
tags: [a, b]
---
<!-- a note
to ourselves -->
# Recommendations

Give **iron** every *other* day [^1], see
[the trial](https://example.org/a_(b) "Trial") or <https://example.org>.
![A picture](iron.png)

## Dose ##

| Drug | Dose |
|:-----|-----:|
| Iron | 60 mg |
| Vitamin C \\| E | none |

- Take it with water.
- [x] Not with tea,
  and not with `x_y_z`.

1. First
2. Second

Adults
------

> Quoted advice
> goes on.

```text
# no heading
kept as it is
```

### Very old

~~Struck out.~~ HLA-B\\*27 and HLA-B*27 with DRB1*15 cost 5 * 3, snake_case_word.

# References

1. Old A. A cited title.

[^1]: Unless they are
    pregnant.
[other]: https://example.org/other
"""


def test_a_guideline_in_markdown(read):
    document = only(read("iron.md", GUIDELINE))
    assert (document.id, document.title, document.date) == ("iron", "Iron: a guideline", "2021-05-03")
    assert (document.authors, document.languages, document.doi) == (("Doe J", "Roe A"), ("eng",), "10.99999/guide")
    assert outline(document) == [
        ("Recommendations", "Give iron every other day, see the trial or https://example.org."),
        (
            "Recommendations > Dose",
            "Drug: Iron; Dose: 60 mg.\nDrug: Vitamin C | E; Dose: none.\nTake it with water.\n"
            "Not with tea, and not with x_y_z.\nFirst\nSecond",
        ),
        ("Recommendations > Adults", "Quoted advice goes on.\n# no heading\nkept as it is"),
        (
            "Recommendations > Adults > Very old",
            "HLA-B*27 and HLA-B*27 with DRB1*15 cost 5 * 3, snake_case_word.",
        ),
        ("Footnotes", "Unless they are pregnant."),
    ]


@pytest.mark.parametrize(
    ("text", "title", "labels"),
    [
        ("# Iron\n\nWords.\n\n## Dose\n\nMore.", "Iron", [None, "Dose"]),
        ("Iron\n====\nWords.", "Iron", [None]),
        ("# Iron\nWords.\n# Zinc\nWords.", "", ["Iron", "Zinc"]),
        ("Words.\n\n# Iron\nWords.", "", [None, "Iron"]),
        ("# Iron {#iron}\n\nWords.", "Iron", [None]),
        ("#hashtag\n# Iron\nWords.", "", [None, "Iron"]),
        ("# Iron\n\n***\n\nWords.\n\n---\n\nMore.", "Iron", [None]),
        ("---\nWords.", "", [None]),
    ],
)
def test_the_title_is_the_one_heading_over_all_others(read, text: str, title: str, labels: list[str | None]):
    document = only(read("a.md", text))
    assert document.title == title
    assert [section.label for section in document.sections] == labels


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("See [the trial][t] and [Trial].\n\n[t]: http://a.b\n[trial]: http://c.d", "See the trial and Trial."),
        ("It rose [1][2] and [12].", "It rose [1][2] and [12]."),
        ("p &lt; 0.05 and 10<sup>3</sup><br>more", "p < 0.05 and 10^3 more"),
        ("a \\*star\\* `*code*`", "a *star* *code*"),
        ("***Both*** __strong__ _it_ un*frigging*believable", "Both strong it un*frigging*believable"),
        ("line one\\\nline two  \nline three", "line one line two line three"),
        ("a | b is no table", "a | b is no table"),
        ("[![badge](a.png)](b)Words.", "Words."),
        ("| a |\n|---|\n| `x` |", "a: x."),
    ],
)
def test_signs_of_markdown_are_read_as_what_they_mean(read, written: str, read_as: str):
    assert only(read("a.md", written)).text == read_as


def test_front_matter_is_only_read_and_a_rule_is_none(read):
    text = "---\ntitle: !!python/object/apply:os.system ['true']\nnested:\n  a: 1\n---\nWords."
    document = only(read("a.md", text))
    assert document.title.startswith("!!python/object")
    assert document.text == "Words."


# Plain text

PLAIN = """Iron deficiency in invented adults
An evidence summary

1. INTRODUCTION

Iron deficiency is com-
mon in adults. A double-
blind trial and another double-blind
trial were found.
Page 3 of 12
\f
2. Recommendations

2.1 Dose

Give iron every other day. Common
doses are:
  - 60 mg of iron,
    with water
  - 100 mg of iron

1. Take it in the morning
2. Not with tea

SIDE EFFECTS
Nausea is frequent.

Further reading
---------------

There is none.

REFERENCES

1. Old A. A cited title.
"""


def test_a_plain_text_with_headings(read):
    document = only(read("iron.txt", PLAIN))
    assert (document.id, document.title) == ("iron", "Iron deficiency in invented adults An evidence summary")
    assert outline(document) == [
        (
            "INTRODUCTION",
            "Iron deficiency is common in adults. A double-blind trial and another double-blind trial were found.",
        ),
        (
            "Recommendations > Dose",
            "Give iron every other day. Common doses are:\n60 mg of iron, with water\n100 mg of iron\n"
            "1. Take it in the morning\n2. Not with tea",
        ),
        ("SIDE EFFECTS", "Nausea is frequent."),
        ("SIDE EFFECTS > Further reading", "There is none."),
    ]


@pytest.mark.parametrize(
    ("text", "title", "read_as"),
    [
        ("One sentence only.", "", "One sentence only."),
        ("A title", "", "A title"),
        ("A first sentence.\n\nA second.", "", "A first sentence.\nA second."),
        ("A title\n=======\nWords.", "A title", "Words."),
        ("T\n\n1. Walk\n\n2. Rest\n\n3. Sleep", "T", "1. Walk\n2. Rest\n3. Sleep"),
        ("T\n\nsoft\u00adware and soft\u00ad\nware", "T", "software and software"),
        ("T\n\nIL-\n6 and beta-\nBlocker", "T", "IL- 6 and beta-Blocker"),
        ("T\n\nthe anti- and pro-\ntumour", "T", "the anti- and protumour"),
    ],
)
def test_lines_are_put_together_again(read, text: str, title: str, read_as: str):
    document = only(read("a.txt", text))
    assert (document.title, document.text) == (title, read_as)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_ends_of_lines(read, encoding: str, end: str):
    text = "Café\n\nIron helps\nadults.".replace("\n", end)
    document = only(read("a.txt", text.encode(encoding)))
    assert (document.title, document.text) == ("Café", "Iron helps adults.")


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_an_invalid_utf8_byte_is_reported(read, name: str):
    with pytest.raises(InputError, match=r"byte 0xe9 at 10, line 2"):
        read(name, "Words.\nCafé".encode("latin-1"))


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_a_hundred_pages_take_no_time(read, name: str):
    page = "## Part\n\n" + "Iron helps [some](http://a.b) adults *and* others, it is com-\nmon.\n" * 40 + "\n"
    begun = time.perf_counter()
    assert len(only(read(name, page * 100)).text) > 200_000
    assert time.perf_counter() - begun < 20


@pytest.mark.parametrize(
    "sign",
    [*"[(*_`<!|#-~>\\&{:", "![", "[^", "](", "- ", "> ", "<sup>", "|-", "a_", "$", " ", "\n", "# a ", "|", "1. "],
)
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_long_row_of_any_sign_takes_no_time(read, name: str, sign: str):
    begun = time.perf_counter()
    try:
        read(name, "Words.\n\n" + sign * 20_000)
    except InputError:
        pass
    assert time.perf_counter() - begun < 20


WORDS = st.text("abcdefgh, ", min_size=1).filter(lambda text: text.strip(" ,"))


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_no_word_of_a_text_is_lost(read, parts: list[tuple[str, str]]):
    text = "\n\n".join(f"## {title}\n\n{words}" for title, words in parts)
    document = only(read("a.md", "Begin.\n\n" + text))
    assert [label for label, _ in outline(document)[1:]] == [" ".join(title.split()) for title, _ in parts]
    assert [said for _, said in outline(document)[1:]] == [" ".join(words.split()) for _, words in parts]


def test_a_file_whose_name_is_not_utf_8_is_read_like_any_other(tmp_path: Path):
    """It stopped the build of a store for good."""
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.txt"))
    try:
        place.write_text("Aspirin works well.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    (tmp_path / "b.txt").write_text("Zinc shortens colds.")
    collected = collect_sources([tmp_path])
    documents = [item for source in collected.sources for item in source.items()]
    assert [document.text for document in documents] == ["Aspirin works well.", "Zinc shortens colds."]
    for name in (documents[0].id, *(source.name for source in collected.sources)):
        assert name.encode("utf-8")
    assert "a\\xff" in documents[0].id


def test_labels_within_a_printed_abstract_begin_sections_with_their_roles(read):
    (document,) = read(
        "trial.md",
        "# Zinc for colds\n\n## Abstract\n\nBackground: Zinc is used for colds.\nMethods: We randomised 253 adults. "
        "Results: Colds lasted 4 days. Conclusions: Zinc did not shorten colds.\n\n## Discussion\n\nNote: it passes.\n",
    )
    labels = [section.label for section in document.sections]
    assert labels == [
        "Abstract > Background", "Abstract > Methods", "Abstract > Results", "Abstract > Conclusions", "Discussion",
    ]  # fmt: skip
    assert [label_role(label) for label in labels[:4]] == ["background", "method", "result", "conclusion"]
    assert document.sections[3].text == "Zinc did not shorten colds."
