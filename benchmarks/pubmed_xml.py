"""Reading PubMed's XML: records a second and peak memory, against pubmed-parser.

Usage: python benchmarks/pubmed_xml.py [FILE ...] [--repeat N] [--rounds N]

FILE is a baseline or update file, plain or gzipped; by default the sample under ../shared/data. The citations of all
files are written N times (20) into one made file of today's form, for pubmed-parser passes over the citations of files
before 2017. Both readers then read it in alternating rounds, each in a process of its own, and what counts is the
time of this process's own work. pubmed-parser runs with its defaults, in which it leaves out affiliations by
author, the day of publication, and more; it is left out where it is not installed. What both take is compared once,
but for white space and for the marks that we set before a superscript.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SAMPLE = Path("../shared/data/pubmed_baseline/medline16n0902.xml.gz")
PEER = "pubmed-parser"
INSTALL = "pip install pubmed-parser==0.5.1"
ARTICLE = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.DOTALL)
CITATION = re.compile(rb"<MedlineCitation[ >].*?</MedlineCitation>", re.DOTALL)


def read_ours(path: Path) -> int:
    """How many records there are, each read in full."""
    from vericite.corpus.pubmed import PubMedRecord, read_pubmed

    return sum(isinstance(item, PubMedRecord) for item in read_pubmed(path))


def read_peer(path: Path) -> int:
    """The same with pubmed-parser."""
    from pubmed_parser import parse_medline_xml

    return sum(1 for _ in parse_medline_xml(str(path)))


READERS: dict[str, Callable[[Path], int]] = {"vericite": read_ours, PEER: read_peer}


def articles(files: Iterable[Path]) -> list[bytes]:
    """The files' records in today's form."""
    found: list[bytes] = []
    for file in files:
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        whole = ARTICLE.findall(data)
        found += whole or [b"<PubmedArticle>\n" + one + b"\n</PubmedArticle>" for one in CITATION.findall(data)]
    return found


def write_made(path: Path, records: list[bytes], repeat: int) -> None:
    """Write the records so many times into one file."""
    with gzip.open(path, "wb", compresslevel=6) as file:
        file.write(b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        for _ in range(repeat):
            file.write(b"\n".join(records) + b"\n")
        file.write(b"</PubmedArticleSet>\n")


def measure(name: str, path: Path) -> None:
    """Read the file once and print what it took, for the process that asked."""
    # What is imported on the first call is not what is measured.
    read = READERS[name]
    warm = path.with_name("warm.xml.gz")
    read(warm)
    start, work = time.perf_counter(), time.process_time()
    records = read(path)
    spent = {"records": records, "seconds": time.perf_counter() - start, "work": time.process_time() - work}
    print(json.dumps({**spent, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def asked(name: str, path: Path) -> dict[str, Any]:
    """What a reader took, in a process of its own."""
    command = [sys.executable, __file__, "--one", name, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def inked(*texts: str | None) -> str:
    """The characters of texts, without white space and marks of superscripts, by which both readers say the same."""
    return "".join(" ".join(filter(None, texts)).translate({ord("^"): None, ord("_"): None}).split())


def pairs_of(listed: str) -> list[str]:
    """The names in pubmed-parser's lists such as ``D000328:Adult; D005260:Female``."""
    return [inked(item.partition(":")[2]) for item in listed.split("; ") if item]


def agreement(path: Path) -> None:
    """Print of how many records each field that both readers take is the same; the sections' labels are ours alone."""
    from pubmed_parser import parse_medline_xml

    from vericite.corpus.pubmed import PubMedRecord, read_pubmed

    ours = [item.document for item in read_pubmed(path) if isinstance(item, PubMedRecord)]
    theirs = list(parse_medline_xml(str(path), nlm_category=False, author_list=True))
    same: dict[str, int] = {}
    for document, other in zip(ours, theirs, strict=True):
        fields = {
            "pmid": document.pmid == other["pmid"],
            "title": inked(document.title) in (inked(other["title"]), inked(other["vernacular_title"])),
            "abstract": all(inked(section.text) in inked(other["abstract"]) for section in document.sections),
            "journal": inked(document.journal) == inked(other["journal"]),
            "year": str(document.year or "") == other["pubdate"],
            "languages": ";".join(document.languages) == other["languages"],
            "mesh": [inked(name) for name in document.mesh] == pairs_of(other["mesh_terms"]),
            "types": [inked(name) for name in document.publication_types] == pairs_of(other["publication_types"]),
            "last names": all(inked(one["lastname"]) in inked(*document.authors) for one in other["authors"]),
        }
        for name, holds in fields.items():
            same[name] = same.get(name, 0) + holds
    print("fields equal: " + ", ".join(f"{name} {count} of {len(ours)}" for name, count in same.items()))


def table(rounds: dict[str, list[dict[str, Any]]]) -> None:
    """Print records a second (of all rounds: median, least, most), and memory."""
    print("| reader | records | records/s: median [least, most] | by the clock: median | peak memory |")
    print("|---|---|---|---|---|")
    for name, runs in rounds.items():
        rates = [run["records"] / run["work"] for run in runs]
        clock = statistics.median(run["records"] / run["seconds"] for run in runs)
        spread = f"{statistics.median(rates):.0f} [{min(rates):.0f}, {max(rates):.0f}]"
        memory = max(run["megabytes"] for run in runs)
        print(f"| {name} | {runs[0]['records']} | {spread} | {clock:.0f} | {memory:.0f} MB |")
    if PEER in rounds:
        ratios = [theirs["work"] / ours["work"] for ours, theirs in zip(rounds["vericite"], rounds[PEER], strict=True)]
        print(f"\nratio: median {statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}], round by round")


def compare(files: list[Path], repeat: int, times: int) -> None:
    """Make the file, let both read it in turns, print."""
    names = [name for name in READERS if name != PEER or find_spec("pubmed_parser")]
    if PEER not in names:
        print(f"<!-- {PEER}: not installed, left out; {INSTALL} -->")
    with tempfile.TemporaryDirectory() as folder:
        made, records = Path(folder) / "made.xml.gz", articles(files)
        write_made(made, records, repeat)
        write_made(made.with_name("warm.xml.gz"), records[:20], 1)
        print(f"{len(records)} records, {repeat} times: {made.stat().st_size / 1e6:.1f} MB gzipped; {times} rounds")
        if PEER in names:
            write_made(made.with_name("once.xml.gz"), records, 1)
            agreement(made.with_name("once.xml.gz"))
        rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for number in range(times):
            for name in names if number % 2 else names[::-1]:
                rounds[name].append(asked(name, made))
        table(rounds)


def main() -> None:
    """Read the arguments, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=[SAMPLE])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", choices=READERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure(arguments.one, arguments.files[0])
        return
    for path in arguments.files:
        if not path.is_file():
            print(f"skipped: expected PubMed XML at {path}; found no such file")
            return
    compare(arguments.files, arguments.repeat, arguments.rounds)


if __name__ == "__main__":
    main()
