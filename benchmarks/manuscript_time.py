"""Time and memory of checking a manuscript of 60 pages and 150 references against a folder of 50 articles in PDF.

    python benchmarks/manuscript_time.py make FOLDER [--pages 60] [--references 150] [--articles 50]
    python benchmarks/manuscript_time.py run FOLDER [--explain]

All is invented. Each page has six sentences that cite, half of them one work and half two. An article has eight pages,
among its sentences those that cite it; a quarter of these is changed, so that there is something to report. Printed
are the seconds, the processor seconds of the command and its children, and the largest memory of one process. The
cache is empty at the beginning of a run.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipes/references"))

from invented import InventedWork, made_works
from pdf_files import Page, pdf
from printed_references import STYLES

_DRUGS = "metformin colchicine warfarin aspirin zinc iron magnesium ketamine dapagliflozin vitamin D".split()
_VERBS = ("lowered", "raised", "did not change", "halved", "doubled")
_OUTCOMES = (
    "the rate of falls", "blood pressure", "mortality after one year", "the length of stay", "the number of relapses",
    "haemoglobin", "pain at rest", "admissions for heart failure", "the risk of stroke", "quality of life",
)  # fmt: skip
_PEOPLE = (
    "older women", "children with asthma", "patients on dialysis", "nurses on night shifts", "adults with gout",
    "men after an infarction", "people in nursing homes", "runners", "pregnant women", "adolescents with epilepsy",
)  # fmt: skip
_PLACES = "Peru Sweden Ghana Canada India Norway Chile Kenya Japan Poland".split()


def finding(draw: random.Random) -> str:
    """Return an invented finding, without a full stop."""
    drug, verb, outcome, people, place = map(draw.choice, (_DRUGS, _VERBS, _OUTCOMES, _PEOPLE, _PLACES))
    return f"{drug.capitalize()} {verb} {outcome} in {people} in {place} within {draw.randint(2, 36)} months"


def _plain(draw: random.Random) -> str:
    people, outcome = draw.choice(_PEOPLE), draw.choice(_OUTCOMES)
    return draw.choice(
        (
            f"We followed {draw.randint(40, 900)} {people} and recorded {outcome} at every visit.",
            f"Whether {outcome} differs between centres was not known at the time.",
            f"The interviews with {people} were held by trained staff in a quiet place.",
            f"All participants gave consent, and {outcome} was measured by the same device.",
        )
    )


def _pages(title: str, paragraphs: list[str], end: list[str]) -> list[Page]:
    """Set paragraphs, and after the heading References entries, in pages of one column."""
    pages = [Page()]
    pages[0].at(60, 780, title, 15, "B")
    y = 750.0
    for number, text in enumerate([*paragraphs, *(["# References"] if end else []), *end]):
        if y < 60 + 12 * (len(text) // 90 + 2):
            pages.append(Page())
            y = 780.0
        if text.startswith("# "):
            y -= 8
            pages[-1].at(60, y, text[2:], 13, "B")
            y -= 20
        else:
            y = pages[-1].flow(60, y, 470, text, 10, indent=0 if number > len(paragraphs) else 12) - 4
    return pages


def make(folder: Path, pages: int, count: int, articles: int, seed: int = 5) -> None:
    """Write the manuscript and the articles."""
    draw = random.Random(seed)
    works: list[InventedWork] = list(made_works(draw, count))
    said: dict[int, list[str]] = {number: [] for number in range(1, count + 1)}
    paragraphs: list[str] = []
    for page in range(pages - 5):
        if page % 6 == 0:
            paragraphs.append(f"# {('Introduction', 'Methods', 'Results', 'Discussion')[page // 6 % 4]}")
        for _ in range(3):
            sentences: list[str] = []
            for cited in (1, 2):
                keys = sorted(draw.sample(sorted(said), cited))
                text = finding(draw)
                for key in keys:
                    said[key].append(text)
                sentences += [f"{text} [{', '.join(map(str, keys))}].", *(_plain(draw) for _ in range(8))]
            paragraphs.append(" ".join(sentences))
    entries = [f"{number}. {STYLES['Vancouver'](work)}" for number, work in enumerate(works, start=1)]
    (folder / "articles").mkdir(parents=True, exist_ok=True)
    (folder / "review.pdf").write_bytes(pdf(_pages("What is known: an invented review", paragraphs, entries)))
    for number in draw.sample(sorted(said), articles):
        body = list(_article(draw, said[number]))
        work = works[number - 1]
        made = _pages(work.title[:70], [work.title, f"doi:{work.doi}", *body], [])
        (folder / "articles" / f"article-{number}.pdf").write_bytes(pdf(made, title=work.title))


def _article(draw: random.Random, said: list[str]) -> Iterator[str]:
    left = [text if draw.random() < 0.75 else finding(draw) for text in said]
    for section in ("Introduction", "Methods", "Results", "Discussion"):
        yield f"# {section}"
        for _ in range(18):
            own = [f"{left.pop()}."] if left and section != "Methods" else []
            yield " ".join(
                [*(_plain(draw) for _ in range(3)), *own, f"{finding(draw)}.", *(_plain(draw) for _ in "12")]
            )


def run(folder: Path, explain: bool) -> None:
    """Check the manuscript, and print what it took."""
    command = [sys.executable, "-m", "vericite", "check", str(folder / "review.pdf"), "--rows", "0"]
    command += ["--documents", str(folder / "articles"), "--out", str(folder / "review-checked.pdf")]
    with tempfile.TemporaryDirectory() as cache:
        began = time.monotonic()
        environment = {**os.environ, "VERICITE_CACHE": cache, "VERICITE_OFFLINE": "1"}
        subprocess.run([*command, *(["--explain"] if explain else [])], env=environment, check=True)
        seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{seconds:.0f} s, processor {used.ru_utime + used.ru_stime:.0f} s, memory {used.ru_maxrss / 1024:.0f} MB")


def main() -> None:
    """Make the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("make", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--references", type=int, default=150)
    parser.add_argument("--articles", type=int, default=50)
    parser.add_argument("--explain", action="store_true")
    given = parser.parse_args()
    if given.action == "make":
        make(given.folder, given.pages, given.references, given.articles)
    else:
        run(given.folder, given.explain)


if __name__ == "__main__":
    main()
