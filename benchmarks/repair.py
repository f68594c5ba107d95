"""Repair: citations broken on purpose, found and mended; and answers of a language model before and after.

    python benchmarks/repair.py broken [--answers 300] [--seed 0] [--by NAME] [--out FILE] [--llm NAME]
    python benchmarks/repair.py written --answers FILE --judge NAME [--format NAME] [--llm NAME] [--out FILE]

``broken`` makes answers from the demonstration corpus: the extractive answers to its questions, and answers of
statements of its abstracts, reworded a little so that they are no quotations, each with the neighbours of the abstract
as further sources. Of each answer some sentences are broken, one way each: another document is cited; a number is
changed; a direction is turned. It is told how many were found (changed at all) and how many mended or dropped: the
right document is cited again, or the broken words are gone. A sound sentence is harmed if it does not cite its document
any more. Exits with 1 if a bar is missed, or if the support rate of any answer fell.

``written`` repairs answers made elsewhere, in the forms that check reads, and has the citations before and after judged
by another judge than repair used: a name that ``--judge`` of check takes.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from vericite.attribution import load_attributor
from vericite.corpus import demo_documents, demo_questions, demo_vectors
from vericite.errors import RecordError
from vericite.formats import AnswerToCheck, answers_in
from vericite.llm import LLM, Settings
from vericite.models import Embedder
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.check import check_many
from vericite.pipeline.repair import Repairer, SentenceRewriter
from vericite.records import Answer, Document, Question, Rate, RateTally, Repaired, write_jsonl
from vericite.records.results import support
from vericite.retrieve.local import MemoryRetriever
from vericite.text.citations import parse_answer
from vericite.text.sentences import document_sentences
from vericite.text.statements import looks_dependent, split_statements

Way = Literal["document swapped", "number changed", "direction turned"]
WAYS: tuple[Way, ...] = ("document swapped", "number changed", "direction turned")
SOURCES, MOST_SENTENCES, SHARE = 5, 4, 0.5
FOUND_BAR, HARMED_BAR, CONTENT_BAR = 0.80, 0.05, 0.60
_TURNS = dict(
    pair.split("/")
    for one in """increased/decreased reduced/increased lowered/raised improved/worsened higher/lower more/fewer
    reduces/increases lowers/raises improves/worsens increases/decreases prevents/promotes prevented/promoted
    greater/smaller longer/shorter fell/rose reduction/increase inhibits/activates decreased/increased
    lower/higher fewer/more shorter/longer rose/fell reducing/increasing increasing/reducing""".split()
    for pair in (one,)
)
_TURN = re.compile(rf"(?<![\w-])(?:{'|'.join(_TURNS)})(?![\w-])")
_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?![\w/-]|[.,]\d)")
_ASIDE = re.compile(r"\s\([^()]*\)")
_LEAD = re.compile(r"^(?:and|but|whereas|while|although)\s+")


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer: as it was, as it is put, the document it is of, what it cites, how it was broken."""

    right: str
    text: str
    document: int
    cites: int
    way: Way | None = None


@dataclass(frozen=True)
class Made:
    """An answer, some of whose sentences are broken."""

    id: str
    question: str
    documents: tuple[Document, ...]
    sentences: tuple[Sentence, ...]

    @property
    def answer(self) -> Answer:
        """As a generator would give it."""
        text = " ".join(f"{item.text.rstrip('.')} [{item.cites}]." for item in self.sentences)
        return parse_answer(self.id, text, self.documents, self.question)


def sound_answers(count: int, drawn: random.Random) -> list[Made]:
    """Answers without a broken sentence: those to the questions, then statements of abstracts."""
    found = [*_extractive(), *_of_abstracts(drawn)]
    drawn.shuffle(found)
    while len(found) < count:
        found += list(_of_abstracts(drawn))
    return found[:count]


def _extractive() -> Iterator[Made]:
    pipeline = Pipeline.over()
    for question in demo_questions():
        answer = pipeline.run(question, SOURCES).answer
        cited = [(claim.text, claim.citations[0].marker) for claim in answer.claims if claim.citations]
        sentences = tuple(Sentence(text, text, number, number) for text, number in cited)
        if sentences:
            yield Made(f"question {question.id}", question.text, answer.documents, sentences)


def _of_abstracts(drawn: random.Random) -> Iterator[Made]:
    retriever = MemoryRetriever(demo_documents(), Embedder.shared(), demo_vectors())
    for document in demo_documents():
        question = Question(id=document.id, text=document.title)
        near = [hit.document for hit in retriever.retrieve(question, SOURCES + 1) if hit.document.id != document.id]
        documents = [document, *near[: SOURCES - 1]]
        drawn.shuffle(documents)
        told = [
            (text, place)
            for place, own in enumerate(documents, start=1)
            for text in statements(own)
            if own in documents
        ]
        own = documents.index(document) + 1
        first = [item for item in told if item[1] == own]
        rest = [item for item in told if item[1] != own]
        chosen = drawn.sample(first, min(2, len(first))) + drawn.sample(rest, min(MOST_SENTENCES - 2, len(rest)))
        sentences = tuple(Sentence(text, text, place, place) for text, place in chosen)
        if sentences:
            yield Made(f"abstract {document.id} {drawn.random():.6f}", document.title, tuple(documents), sentences)


def statements(document: Document) -> Iterator[str]:
    """What an abstract says, a statement each, without asides in parentheses."""
    for sentence in document_sentences(document):
        whole = sentence.text_in(document)
        if looks_dependent(whole) or whole.endswith("?"):
            continue
        for span in split_statements(whole):
            text = _LEAD.sub("", _ASIDE.sub("", whole[span.slice])).rstrip(".;, ")
            text = f"{text[:1].upper()}{text[1:]}."
            if 6 <= len(text.split()) <= 40 and not looks_dependent(text) and _reads_back(text):
                yield text


def _reads_back(text: str) -> bool:
    claims = parse_answer("x", f"{text.rstrip('.')} [1].", (Document.from_text("d", "x"),)).claims
    return len(claims) == 1 and claims[0].text == text


def broken(made: Made, drawn: random.Random, used: Counter[Way]) -> Made:
    """The answer with about half of its sentences broken, one at least, the way first that was least used so far."""
    order = list(range(len(made.sentences)))
    drawn.shuffle(order)
    most = max(1, round(SHARE * len(order)))
    sentences = list(made.sentences)
    for place in order[:most]:
        ways = sorted(WAYS, key=lambda way: used[way])
        told = (_broken(sentences[place], way, len(made.documents), drawn) for way in ways)
        sentences[place] = next((found for found in told if found is not None), sentences[place])
        if (way := sentences[place].way) is not None:
            used[way] += 1
    return Made(made.id, made.question, made.documents, tuple(sentences))


def _broken(sentence: Sentence, way: Way, documents: int, drawn: random.Random) -> Sentence | None:
    if way == "document swapped":
        others = [number for number in range(1, documents + 1) if number != sentence.document]
        return Sentence(sentence.right, sentence.text, sentence.document, drawn.choice(others), way) if others else None
    pattern = _NUMBER if way == "number changed" else _TURN
    found = list(pattern.finditer(sentence.text))
    if not found:
        return None
    match = drawn.choice(found)
    other = _other_number(match[0], drawn) if way == "number changed" else _TURNS[match[0]]
    text = sentence.text[: match.start()] + other + sentence.text[match.end() :]
    return Sentence(sentence.right, text, sentence.document, sentence.cites, way) if _reads_back(text) else None


def _other_number(text: str, drawn: random.Random) -> str:
    """Between 1.5 and 3 times as much, as exactly given."""
    decimals = len(text.partition(".")[2])
    return f"{float(text) * drawn.uniform(1.5, 3) + 10**-decimals:.{decimals}f}"


def measure(made: Sequence[Made], repairer: Repairer) -> tuple[dict[str, dict[str, RateTally]], list[Repaired], int]:
    """By way of breaking what was found and mended, the repaired answers, and how many have a lower support rate."""
    tallies = {way: {name: RateTally() for name in ("found", "mended", "recited", "gone")} for way in (*WAYS, "all")}
    tallies["sound"] = {"harmed": RateTally()}
    repaired = list(repairer.repair_many(item.answer for item in made))
    for item, found in zip(made, repaired, strict=True):
        now = final(item, found)
        sound = [place for place, told in enumerate(item.sentences) if told.way is None]
        harmed = sum(is_harmed(item, place, now) for place in sound)
        tallies["sound"]["harmed"].add(harmed, len(sound))
        for way in (*WAYS, "all"):
            places = [place for place, told in enumerate(item.sentences) if told.way and way in (told.way, "all")]
            for name, count in count_of(item, places, now, found).items():
                tallies[way][name].add(count, len(places))
    lower = sum(support_fell(found) for found in repaired)
    return tallies, repaired, lower


Now = dict[int, tuple[str, frozenset[str | None]] | None]
"""What each sentence is in the end, and what it cites; None where it is gone."""


def final(made: Made, found: Repaired) -> Now:
    """What became of each sentence."""
    before = made.answer
    assert [claim.text for claim in before.claims] == [sentence.text for sentence in made.sentences], made.id
    gone = {number for number, action in found.actions.items() if action == "dropped"}
    claims = iter(found.answer.claims)
    now: Now = {}
    for place in range(len(made.sentences)):
        claim = None if place in gone else next(claims)
        now[place] = (claim.text, frozenset(it.document for it in claim.citations)) if claim else None
    return now


def is_harmed(made: Made, place: int, now: Now) -> bool:
    """Whether a sound sentence does not cite its document any more, or says something else."""
    sentence, found = made.sentences[place], now[place]
    return found is None or found[0] != sentence.text or made.documents[sentence.document - 1].id not in found[1]


def count_of(made: Made, places: Sequence[int], now: Now, found: Repaired) -> dict[str, int]:
    """Of broken sentences those that were changed, are mended, are broken still with other citations, and are gone."""
    counts = Counter[str]()
    for place in places:
        sentence, told = made.sentences[place], now[place]
        right = made.documents[sentence.document - 1].id
        changed = place in found.actions
        words_kept = told is not None and told[0] == sentence.text
        still = words_kept and (sentence.way != "document swapped" or right not in told[1])
        counts["found"] += changed
        counts["mended"] += not still
        counts["recited"] += changed and still
        counts["gone"] += told is None
    return {name: counts[name] for name in ("found", "mended", "recited", "gone")}


def support_fell(found: Repaired) -> bool:
    """Whether fewer of an answer's citations are supported after its repair."""
    then, now = support(found.before), support(found.checked.summary)
    return now[0] * then[1] < then[0] * now[1]


def show_broken(console: Console, tallies: dict[str, dict[str, RateTally]]) -> None:
    """A row a way."""
    table = Table("broken", "n", "found", "mended or dropped", "of these dropped", "cited elsewhere", box=None)
    for way in (*WAYS, "all"):
        row = tallies[way]
        cells = [told(row[name].rate) for name in ("found", "mended", "gone", "recited")]
        table.add_row(way, str(row["found"].n), *cells)
    console.print(table)
    console.print(f"sound sentences harmed: {told(tallies['sound']['harmed'].rate)}")


def show_content(console: Console, repaired: Sequence[Repaired]) -> tuple[float, float]:
    """What became of the sentences, and the support rate before and after; the content kept."""
    kept, words, before, after = RateTally(), RateTally(), RateTally(), RateTally()
    for found in repaired:
        kept.add(*found.content)
        words.add(found.words_kept, found.words)
        before.add(*support(found.before))
        after.add(*support(found.checked.summary))
    counts = {"kept": sum(found.kept for found in repaired)}
    for action in ("re-cited", "rewritten", "dropped"):
        counts[action] = sum(found.count(action) for found in repaired)
    restored = Counter(
        change.by or "" for found in repaired for change in found.changes if change.action == "rewritten"
    )
    console.print(", ".join(f"{name} {count}" for name, count in counts.items()) + f" of {kept.n} sentences")
    console.print("rewritten by: " + (", ".join(f"{by} {count}" for by, count in restored.items()) or "nobody"))
    console.print(f"sentences kept or re-cited {told(kept.rate)}; words kept {told(words.rate)}")
    console.print(f"support rate before {told(before.rate)}, after {told(after.rate)}")
    return kept.rate.value or 0.0, after.rate.value or 0.0


def told(rate: Rate) -> str:
    """A rate with its interval."""
    if rate.value is None:
        return "-"
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}] ({rate.count}/{rate.n})"


def run_broken(options: argparse.Namespace, console: Console) -> bool:
    """The first table; whether the bars are met."""
    drawn = random.Random(options.seed)
    used = Counter[Way]()
    made = [broken(item, drawn, used) for item in sound_answers(options.count, drawn)]
    begun = time.perf_counter()
    tallies, repaired, lower = measure(made, repairer_of(options))
    seconds = time.perf_counter() - begun
    show_broken(console, tallies)
    content, _ = show_content(console, repaired)
    console.print(f"answers with a lower support rate: {lower} of {len(made)}; {seconds / len(made):.2f} s an answer")
    if options.out:
        with options.out.open("w", encoding="utf-8") as file:
            write_jsonl(repaired, file)
    mended, harmed = tallies["all"]["mended"].rate.value or 0.0, tallies["sound"]["harmed"].rate.value or 0.0
    met = mended >= FOUND_BAR and harmed <= HARMED_BAR and content >= CONTENT_BAR and not lower
    console.print(
        f"bars: mended or dropped {FOUND_BAR:.2f}, harmed {HARMED_BAR:.2f}, kept or re-cited {CONTENT_BAR:.2f}, none "
        f"lower: {'met' if met else 'missed'}"
    )
    return met


def run_written(options: argparse.Namespace, console: Console) -> bool:
    """The second table: the same answers plain and repaired, by another judge."""
    answers = [item for item in answers_in(options.answers, options.format) if not isinstance(item, RecordError)]
    repaired = list(repairer_of(options).repair_many(answers))
    show_content(console, repaired)
    table = Table("", "support rate by the other judge", box=None)
    rates: list[float] = []
    for name, items in (("plain", answers), ("repaired", [found.answer for found in repaired])):
        tally = RateTally()
        for checked in check_many(items, options.protocol, options.judge, cache=True):
            tally.add(*support(checked.summary))
        rates.append(tally.rate.value or 0.0)
        table.add_row(name, told(tally.rate))
    console.print(table)
    empty = sum(found.answer.insufficient for found in repaired)
    console.print(
        f"difference {100 * (rates[1] - rates[0]):.1f} points; {empty} of {len(answers)} answers say nothing now"
    )
    if options.out:
        with options.out.open("w", encoding="utf-8") as file:
            write_jsonl((AnswerToCheck.of(found.answer) for found in repaired), file)
    return not any(map(support_fell, repaired))


def repairer_of(options: argparse.Namespace) -> Repairer:
    """As the options have it."""
    patient = Settings(timeout=1200.0, deadline=3600.0, concurrency=1)
    rewriter = SentenceRewriter(LLM(options.llm, patient)) if options.llm else None
    attributor = load_attributor(options.by) if options.by else None
    return Repairer(options.protocol, attributor=attributor, rewriter=rewriter)


def main() -> int:
    """Arguments, one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    first, second = kinds.add_parser("broken"), kinds.add_parser("written")
    for own in (first, second):
        own.add_argument("--protocol", default="default")
        own.add_argument("--llm", help="who rewrites, such as gguf:/model.gguf")
        own.add_argument(
            "--by", help="who finds sources, as --by of attribute; the verifier as long as nobody is named"
        )
        own.add_argument("--out", type=Path)
    first.add_argument("--answers", dest="count", type=int, default=300)
    first.add_argument("--seed", type=int, default=0)
    second.add_argument("--answers", type=Path, required=True)
    second.add_argument("--judge", required=True)
    second.add_argument("--format", default="auto")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 190)
    run = run_broken if options.kind == "broken" else run_written
    return 0 if run(options, console) else 1


if __name__ == "__main__":
    sys.exit(main())
