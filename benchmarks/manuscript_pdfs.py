"""Citing places and references of PDF manuscripts that LaTeX and Chromium print from invented text: how many are right.

    python benchmarks/manuscript_pdfs.py make FOLDER     # needs pdflatex and chromium
    python benchmarks/manuscript_pdfs.py score FOLDER

The files differ in columns, in the form of the marks and in the style of the references. Every citing sentence has a
number of its own ("cohort 17"), by which a mark that was found is compared with the one that was printed.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from vericite.corpus.manuscript.registry import read_manuscript


def _styles() -> ModuleType:
    spec = importlib.util.spec_from_file_location("printed_styles", Path(__file__).with_name("printed_references.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PRINTED = _styles()

DOCUMENTS = (
    ("numeric-1", 1, "numeric", "Vancouver"),
    ("numeric-2", 2, "numeric", "IEEE"),
    ("numeric-3", 2, "numeric", "Elsevier"),
    ("parentheses-1", 1, "parentheses", "AMA"),
    ("superscript-1", 1, "superscript", "Nature"),
    ("superscript-2", 2, "superscript", "Lancet"),
    ("superscript-3", 2, "superscript", "AMA"),
    ("author-year-1", 1, "author-year", "APA"),
    ("author-year-2", 2, "author-year", "Springer"),
    ("author-year-3", 2, "author-year", "Harvard"),
    ("browser-numeric-1", 1, "numeric", "Vancouver"),
    ("browser-numeric-2", 2, "numeric", "Elsevier"),
    ("browser-parentheses-2", 2, "parentheses", "AMA"),
    ("browser-superscript-1", 1, "superscript", "Nature"),
    ("browser-superscript-2", 2, "superscript", "Lancet"),
    ("browser-author-year-1", 1, "author-year", "APA"),
    ("browser-author-year-2", 2, "author-year", "Springer"),
)
"""Name, columns, form of the marks, style of the references. Chromium prints those of the name "browser"."""

_SUBJECTS = (
    "older adults", "nurses on night shifts", "patients with heart failure", "children with asthma",
    "kidney recipients", "people who had survived an infarction", "runners", "pregnant women",
    "residents of nursing homes",
)  # fmt: skip
_FINDINGS = (
    "mortality was considerably lower after the intervention", "hospitalisation occurred less frequently",
    "quality of life improved substantially", "adverse events were distributed evenly between the groups",
    "the concentration of haemoglobin remained unchanged", "rehabilitation shortened the convalescence",
)  # fmt: skip
_PLAIN = (
    "We followed all participants for twelve months and asked them about their symptoms at every visit.",
    "The score of pain [0--10] was 4 and the body mass index 27 kg/m$^2$ at baseline.",
    "Leucocytes were counted as 10$^3$ per microlitre, and the difference had a 95\\% CI [3, 9].",
    "Table 1 and Figure 2 show the participants (n = 12) who withdrew in March (2019) or later.",
    "We (a) screened records, (b) read full texts, and (c) extracted the data independently.",
)
_HEADINGS = ("Introduction", "Methods", "Results", "Discussion", "Limitations", "Conclusions")


def _tex(text: str) -> str:
    for sign, written in (
        ("&", r"\&"),
        ("%", r"\%"),
        ("_", r"\_"),
        ("#", r"\#"),
        ("–", "--"),
        ("“", "``"),
        ("”", "''"),
    ):
        text = text.replace(sign, written)
    for sign, written in (("‘", "`"), ("Å", r"\AA{}"), ("Ł", r"\L{}"), ("ł", r"\l{}"), ("ø", r"\o{}")):
        text = text.replace(sign, written)
    return text


def _named(work: Any, narrative: bool) -> str:
    names = [family for family, _ in work.authors]
    joint = " and " if narrative else " \\& "
    name = names[0] if len(names) == 1 else joint.join(names) if len(names) == 2 else f"{names[0]} et al."
    return f"{name} ({work.year})" if narrative else f"{name}, {work.year}"


def _numbers(keys: list[int]) -> str:
    parts: list[str] = []
    for key in keys:
        if parts and int(parts[-1].rsplit("--", 1)[-1]) == key - 1:
            parts[-1] = f"{parts[-1].split('--')[0]}--{key}"
        else:
            parts.append(str(key))
    return ",".join(parts)


def _sentence(number: int, keys: list[int], form: str, works: list[Any], draw: random.Random) -> str:
    who, what = draw.choice(_SUBJECTS), draw.choice(_FINDINGS)
    if form == "author-year" and len(keys) == 1 and draw.random() < 0.4:
        return f"In cohort {number}, {_named(works[keys[0] - 1], True)} reported that among {who} {what}."
    mark = {
        "numeric": lambda: f" [{_numbers(keys)}].",
        "parentheses": lambda: f" ({_numbers(keys)}).",
        "superscript": lambda: f".\\textsuperscript{{{_numbers(keys)}}}",
        "author-year": lambda: f" ({'; '.join(_named(works[key - 1], False) for key in keys)}).",
    }[form]()
    return f"In cohort {number} among {who} {what}{mark}"


def document(name: str, columns: int, form: str, style: str, seed: str = "") -> tuple[str, dict[str, Any]]:
    """Return the source of a document, in LaTeX or HTML, and what it cites."""
    draw = random.Random(f"{name}{seed}")
    works = draw.sample([work for work in PRINTED.works() if work.year != 2019], 24)
    if form == "author-year":
        works.sort(key=lambda work: PRINTED.folded(work.authors[0][0]))
    order = list(range(1, len(works) + 1))
    cited: dict[str, list[str]] = {}
    sections: list[tuple[str, list[str]]] = []
    number = 0
    for heading in _HEADINGS:
        paragraphs: list[str] = []
        for _ in range(2):
            sentences: list[str] = []
            for _ in range(4):
                number += 1
                count = draw.choice([1, 1, 1, 2, 3])
                start = draw.randrange(len(order))
                keys = sorted(order[start : start + count] if draw.random() < 0.5 else draw.sample(order, count))
                cited[str(number)] = [str(key) for key in keys]
                sentences.append(_sentence(number, keys, form, works, draw))
                if draw.random() < 0.4:
                    sentences.append(draw.choice(_PLAIN))
            paragraphs.append(" ".join(sentences))
        sections.append((heading, paragraphs))
    entries = [PRINTED.STYLES[style](work) for work in works]
    label = ("sup" if style == "Nature" else "[]") if "num" in name else "."
    written = _html if name.startswith("browser") else _latex
    truth = {
        "cited": cited,
        "references": [{"title": work.title, "first author": work.authors[0][0], "year": work.year} for work in works],
    }
    return written(sections, entries, columns, "" if form == "author-year" else label), truth


_TITLE = "Rehabilitation and prevention: an invented review"
_ABSTRACT = "We reviewed what is known. Nothing in this text is true."
Sections = list[tuple[str, list[str]]]


def _latex(sections: Sections, references: list[str], columns: int, label: str) -> str:
    body: list[str] = []
    for heading, paragraphs in sections:
        body.append(rf"\section{'' if columns == 2 else '*'}{{{heading}}}")
        body += [f"{paragraph}\n" for paragraph in paragraphs]
    entries = [_tex(entry) for entry in references]
    if label:
        shown = {"sup": r"\textsuperscript{\arabic{enumi}}", "[]": r"[\arabic{enumi}]", ".": r"\arabic{enumi}."}[label]
        items = "\n".join(rf"\item {entry}" for entry in entries)
        listed = rf"\renewcommand\labelenumi{{{shown}}}\begin{{enumerate}}{items}\end{{enumerate}}"
    else:
        listed = "\n\n".join(rf"\noindent\hangindent=1em {entry}" for entry in entries)
    options = "10pt,a4paper" + (",twocolumn" if columns == 2 else "")
    return "\n".join(
        [
            rf"\documentclass[{options}]{{article}}",
            r"\usepackage[utf8]{inputenc}\usepackage{url}\pagestyle{headings}\emergencystretch=2em",
            r"\markboth{Invented Journal of Trials}{Invented Journal of Trials}\begin{document}",
            rf"\title{{{_TITLE}}}",
            r"\author{Jane Doe\textsuperscript{1,2}, John Roe\textsuperscript{3}\\"
            r"\textsuperscript{1} School of Trials, \textsuperscript{2} House of Tests}\maketitle",
            rf"\section*{{Abstract}} {_ABSTRACT}",
            *body,
            r"\section*{References}",
            r"\sloppy",
            listed,
            r"\end{document}",
        ]
    )


_STYLE = """
@page { size: A4; margin: 20mm }
body { font: 10pt/1.35 "Liberation Serif", serif; text-align: justify; hyphens: auto }
h1 { font-size: 18pt; text-align: left } h2 { font: bold 12pt "Liberation Sans", sans-serif }
sup { font-size: 70%; line-height: 0 }
.hanging p { padding-left: 1.5em; text-indent: -1.5em; margin: 0.3em 0 }
.entry { display: flex; margin: 0.3em 0 } .entry > :first-child { flex: 0 0 2.4em }
"""
_HTML_SIGNS = (
    (r"\textsuperscript{", "<sup>"), ("}", "</sup>"), ("$^2$", "<sup>2</sup>"), ("$^3$", "<sup>3</sup>"),
    ("--", "–"), (r"\%", "%"), (r"\&", "&amp;"),
)  # fmt: skip


def _of_tex(text: str) -> str:
    for sign, written in _HTML_SIGNS:
        text = text.replace(sign, written)
    return text


def _html(sections: Sections, references: list[str], columns: int, label: str) -> str:
    body: list[str] = []
    for heading, paragraphs in sections:
        body.append(f"<h2>{heading}</h2>")
        body += [f"<p>{_of_tex(paragraph)}</p>" for paragraph in paragraphs]
    entries = [html.escape(entry, quote=False) for entry in references]
    if not label:
        listed = f'<div class="hanging">{"".join(f"<p>{entry}</p>" for entry in entries)}</div>'
    elif label == ".":
        listed = f"<ol>{''.join(f'<li>{entry}</li>' for entry in entries)}</ol>"
    else:
        shown = "<sup>{}</sup>" if label == "sup" else "[{}]"
        listed = "".join(
            f'<div class="entry"><span>{shown.format(number)}</span><span>{entry}</span></div>'
            for number, entry in enumerate(entries, start=1)
        )
    columned = f' style="columns: {columns}; column-gap: 8mm"' if columns > 1 else ""
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{_TITLE}</title><style>{_STYLE}</style>'
        f"<h1>{_TITLE}</h1><p>Jane Doe<sup>1,2</sup>, John Roe<sup>3</sup></p>"
        "<p><sup>1</sup> School of Trials, <sup>2</sup> House of Tests</p>"
        f"<div{columned}><h2>Abstract</h2><p>{_ABSTRACT}</p>{''.join(body)}<h2>References</h2>{listed}</div></html>"
    )


def make(folder: Path, seed: str = "") -> None:
    """Print all documents into a folder, each with a JSON file of what it cites."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns, form, style in DOCUMENTS:
        source, truth = document(name, columns, form, style, seed)
        with tempfile.TemporaryDirectory() as place:
            printed = Path(place) / f"{name}.pdf"
            if name.startswith("browser"):
                page = printed.with_suffix(".html")
                page.write_text(source, encoding="utf-8")
                command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={place}/own"]
                command += ["--no-pdf-header-footer", f"--print-to-pdf={printed}", page.as_uri()]
            else:
                printed.with_suffix(".tex").write_text(source, encoding="utf-8")
                command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode or not printed.exists():
                sys.exit(f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
            (folder / f"{name}.pdf").write_bytes(printed.read_bytes())
        (folder / f"{name}.json").write_text(json.dumps(truth, ensure_ascii=False) + "\n", encoding="utf-8")


_COHORT = re.compile(r"cohort (\d{1,3})")


def scored(path: Path) -> tuple[set[tuple[str, str]], set[tuple[str, str]], int, int]:
    """Return the links that were found, those that there are, and how many references were read right, of how many."""
    truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    manuscript = read_manuscript(path)
    found: set[tuple[str, str]] = set()
    for citation in manuscript.citations:
        before = _COHORT.findall(manuscript.text[: citation.span.start])
        sentence = before[-1] if before and citation.span.start - manuscript.text.rfind("cohort") < 10**6 else "none"
        found |= {(sentence, key) for key in citation.keys}
    expected = {(number, key) for number, keys in truth["cited"].items() for key in keys}
    right = 0
    for number, fields in enumerate(truth["references"], start=1):
        reference = next((each for each in manuscript.references if each.key == str(number)), None)
        if reference is not None:
            read = PRINTED.read(reference)
            right += all(PRINTED.is_same(name, value, read[name]) for name, value in fields.items())
    return found, expected, right, len(truth["references"])


def main() -> None:
    """Make the documents, or print precision and recall of the links and the share of references read right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("make", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--seed", default="", help="Make other documents of the same forms, such as those to measure on"
    )
    given = parser.parse_args()
    if given.action == "make":
        make(given.folder, given.seed)
        return
    total = [0, 0, 0, 0, 0]
    for path in sorted(given.folder.glob("*.pdf")):
        found, expected, right, count = scored(path)
        both = len(found & expected)
        print(
            f"{path.stem:22} links {both} of {len(found)} found and of {len(expected)}; references {right} of {count}"
        )
        total = [sum(pair) for pair in zip(total, (both, len(found), len(expected), right, count), strict=True)]
    print(
        f"precision {total[0] / total[1]:.3f}, recall {total[0] / total[2]:.3f}, references {total[3] / total[4]:.3f}"
    )


if __name__ == "__main__":
    main()
