"""Examples to learn from that no language model made.

``bioasq`` is the domain itself: ideal answers' sentences before gold documents and their neighbours. Nobody labelled
which document says which sentence, so what is nearly all in a gold snippet counts as said there, what has little in
common with a source counts as not said, and the rest is unknown. The others are from elsewhere: claims that people
labelled (``healthver``, ``scifact``), conclusions of abstracts (``pubmedqa``), and claims written for this project,
alone (``written``), joined from two sources (``joined``) and needing two invented ones (``two``).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from mix.passages import Rarity, clean, joined, sentences, text_hash
from mix.recipe import MixConfig, Shelf
from mix.written import WrittenClaim, WrittenLine, lowered, written_texts
from pools import SOURCES, Asked, Part, Pools
from vericite.lab.train.data import LabelledPair
from vericite.lab.train.examples import AttributionExample, ExampleSource
from vericite.lab.train.written import gold_of
from vericite.records import Document, Gold, read_jsonl
from vericite.retrieve.local import BM25

SAID, UNSAID, APART = 0.62, 0.3, 0.45
"""Weighed shares of a sentence's words: in a snippet that says it; in a gold source, and another, that may not."""

BARE = 0.15
"""Share of such sentences that get neighbours alone, and so have no source."""

JOINTS = (", and ", ", and ", ", while ", ", whereas ", "; ", ", but ")
LONGEST = 50
BARE_ANSWER = re.compile(r"(yes|no)\W*", re.IGNORECASE)
"""A sentence that says yes or no and nothing else."""


def bioasq(pools: Pools, most: int, seed: int) -> Iterator[AttributionExample]:
    """Sentences of ideal answers, two of a question at most."""
    rarity = Rarity(document.titled_text for document in pools.documents[::4])
    draw = random.Random(f"{seed}|bioasq")
    left = most
    for asked in pools.asked("train", seed):
        for number, text in draw.sample(asked.sentences, min(2, len(asked.sentences))):
            if left <= 0:
                return
            if pools.guard.refuses_claim(text, "attribution"):
                continue
            supports, unknown = _weak(text, asked.sources, asked.snippets, rarity)
            if not supports:
                continue
            left -= 1
            sources = asked.sources
            if draw.random() < BARE:
                near = pools.neighbours(asked.question, {it.id for it in sources}, "train")
                sources = tuple(_source(next(near)) for _ in range(SOURCES))
                supports = []
                unknown = [
                    place
                    for place, it in enumerate(sources, start=1)
                    if rarity.coverage(text, f"{it.title} {it.text}") >= APART
                ]
            yield AttributionExample(
                id=f"{asked.id}:{number}",
                question=asked.question,
                sentence=text,
                sources=sources,
                supports=tuple(supports),
                unknown=tuple(unknown),
                kind="weak",
                made_from="bioasq",
                group=f"bioasq:{asked.id}",
            )


def whole_answers(
    pools: Pools, part: Literal["train", "dev", "test"], most: int, seed: int
) -> Iterator[AttributionExample]:
    """All sentences of ideal answers, of which one at least has a source: what in-line models learn to write.

    A bare "Yes." stays, for it is what a question asks; it cites nothing.
    """
    rarity = Rarity(document.titled_text for document in pools.documents[::4])
    left = most
    for asked in pools.asked(part, seed):
        if left <= 0:
            return
        shown = asked.sources, asked.snippets
        labels = [
            (number, text, *(([], []) if BARE_ANSWER.fullmatch(text) else _weak(text, *shown, rarity)))
            for number, text in asked.whole
        ]
        refused = part != "test" and any(pools.guard.refuses_claim(text, "attribution") for _, text, *_ in labels)
        if refused or not any(supports for _, _, supports, _ in labels):
            continue
        left -= 1
        for number, text, supports, unknown in labels:
            yield AttributionExample(
                id=f"{asked.id}:{number}",
                question=asked.question,
                sentence=text,
                sources=asked.sources,
                supports=tuple(supports),
                unknown=tuple(unknown),
                kind="weak",
                made_from="bioasq",
                group=f"bioasq:{asked.id}",
            )


def gold_answers(pools: Pools, part: Part, asked: Iterable[AttributionExample]) -> Iterator[Gold]:
    """What the answers should say and cite; a bare yes or no is the short answer, and no claim."""
    types = {f"bioasq:{question['id']}": question for question in pools.questions[part]}
    groups: dict[str, list[AttributionExample]] = {}
    for it in asked:
        groups.setdefault(it.group, []).append(it)
    for group, said in groups.items():
        question = types[group]
        claims = [it for it in said if not BARE_ANSWER.fullmatch(it.sentence)]
        known = gold_of(group, claims or said)
        exact = question.get("exact_answer")
        if question["type"] == "yesno" and isinstance(exact, str):
            known = known.model_copy(update={"type": "yesno", "exact": ((exact.lower(),),)})
        yield known


def for_models(
    pools: Pools, without: Sequence[AttributionExample], most_words: int, most: int, seed: int
) -> Iterator[tuple[Asked, tuple[str, int] | None]]:
    """Training questions that a language model is to write about, those of 13b first.

    None is one of these examples' questions, and none of its sources is among theirs. A small model on a small machine
    reads no more than so many words of sources. With each: a sentence of its answer that one of its sources says, and
    the number of that source.
    """
    rarity = Rarity(document.titled_text for document in pools.documents[::4])
    groups = {it.group for it in without}
    shown = {source.id for it in without for source in it.sources}
    latest = {question["id"] for question in pools.data.questions("bioasq13b")}
    usable = [
        one
        for one in pools.asked("train", seed)
        if f"bioasq:{one.id}" not in groups
        and not any(source.id in shown for source in one.sources)
        and sum(len(f"{it.title} {it.text}".split()) for it in one.sources) <= most_words
        and not any(pools.guard.refuses_claim(text, "attribution") for _, text in one.sentences)
    ]
    for one in sorted(usable, key=lambda it: it.id not in latest)[:most]:
        said = [
            (text, supports[0])
            for _, text in one.sentences
            if (supports := _weak(text, one.sources, one.snippets, rarity)[0])
        ]
        yield one, said[0] if said else None


def short_and_long(pools: Pools, most: int, seed: int) -> Iterator[tuple[AttributionExample, AttributionExample]]:
    """Of one question each: question and short answer as one sentence, and the first sentence of its long answer.

    Both before the same sources. The gold documents whose snippets have the short answer support both; other gold
    documents are unknown.
    """
    exact = {item["id"]: item.get("exact_answer") for item in pools.questions["train"] if item["type"] == "factoid"}
    left = most
    for asked in pools.asked("train", seed):
        entries = exact.get(asked.id) or ()
        names = [name for entry in entries for name in ([entry] if isinstance(entry, str) else entry)]
        if not names or left <= 0:
            continue
        held = [
            place
            for place, snippets in asked.snippets.items()
            if any(name.lower() in snippet.lower() for name in names for snippet in snippets)
        ]
        long = asked.sentences[0][1]
        text = f"{asked.question.rstrip('?. ')}: {names[0].rstrip('.')}."
        stated = any(name.lower() in long.lower() for name in names)
        if not held or not stated or any(pools.guard.refuses_claim(it, "attribution") for it in (text, long)):
            continue
        left -= 1
        unknown = tuple(sorted(set(asked.snippets) - set(held)))
        short = AttributionExample(
            id=asked.id,
            question=asked.question,
            sentence=text,
            sources=asked.sources,
            supports=tuple(sorted(held)),
            unknown=unknown,
            kind="short",
            made_from="bioasq",
            group=f"bioasq:{asked.id}",
        )
        yield short, short.model_copy(update={"id": f"{asked.id}:long", "sentence": long, "kind": "long"})


def _weak(
    text: str, sources: Sequence[ExampleSource], snippets: dict[int, list[str]], rarity: Rarity
) -> tuple[list[int], list[int]]:
    supports: list[int] = []
    unknown: list[int] = []
    for place, source in enumerate(sources, start=1):
        told = max((rarity.coverage(text, snippet) for snippet in snippets.get(place, ())), default=0.0)
        held = rarity.coverage(text, f"{source.title} {source.text}")
        if told >= SAID:
            supports.append(place)
        elif (place in snippets and held >= UNSAID) or held >= APART:
            unknown.append(place)
    return supports, unknown


class Nearby:
    """Documents of a set, and for each text those nearest to it."""

    def __init__(self, documents: Sequence[ExampleSource]) -> None:
        self.documents = list(documents)
        self._index = BM25(f"{it.title} {it.text}" for it in self.documents)

    def find(self, text: str, without: set[str], count: int, skip: int = 0) -> list[ExampleSource]:
        """The nearest, but for some."""
        ranked = (-self._index.scores(text)).argsort(kind="stable")
        found: list[ExampleSource] = []
        for place in ranked:
            if len(found) == count + skip:
                break
            if self.documents[place].id not in without:
                found.append(self.documents[place])
        return found[skip:]


def labelled(pools: Pools, name: str, claims: str, corpus: str, most: int, seed: int) -> Iterator[AttributionExample]:
    """Claims before the documents that they cite, as people labelled them, and neighbours of these."""
    rows = {str(row["doc_id"]): row for row in pools.data.jsonl(corpus)}
    nearby = Nearby(
        [ExampleSource(id=id, title=row["title"] or "", text=" ".join(row["abstract"])) for id, row in rows.items()]
    )
    by_id = {it.id: it for it in nearby.documents}
    rarity = Rarity(it.text for it in nearby.documents)
    draw = random.Random(f"{seed}|{name}")
    tested = _tested(pools, name)
    items = list(pools.data.jsonl(claims))
    draw.shuffle(items)
    for row in items:
        text = clean(row["claim"])
        cited = [str(id) for id in row.get("cited_doc_ids") or row.get("doc_ids") or ()]
        cited = [id for id in cited if id in by_id and id not in tested and by_id[id].text]
        if not cited or len(text.split()) < 5 or pools.guard.refuses_claim(text, name):
            continue
        if most <= 0:
            return
        most -= 1
        chosen = draw.sample(cited, min(len(cited), draw.choice((1, 2, 3, 4))))
        near = nearby.find(text, set(map(str, row.get("cited_doc_ids") or row.get("doc_ids") or ())) | tested, 4)
        sources = [by_id[id] for id in chosen] + near[: SOURCES - len(chosen)]
        draw.shuffle(sources)
        labels = {id: evidence[0]["label"] for id, evidence in row["evidence"].items() if evidence}
        supports = [place for place, it in enumerate(sources, start=1) if labels.get(it.id) == "SUPPORT"]
        unknown = [
            place
            for place, it in enumerate(sources, start=1)
            if it.id not in cited and rarity.coverage(text, it.text) > APART
        ]
        yield _example(f"{name}-{row['id']}", text, sources, supports, unknown, "gold", name, f"{name}:{row['id']}")


def _tested(pools: Pools, name: str) -> set[str]:
    if name != "scifact":
        return set()
    cited = (row["cited_doc_ids"] for row in pools.data.jsonl("scifact/data/claims_dev.jsonl"))
    return {str(id) for ids in cited for id in ids}


def pubmedqa(pools: Pools, most: int, seed: int) -> Iterator[AttributionExample]:
    """Sentences of conclusions before the rest of their abstract, where that has nearly all of their words."""
    tested = pools.data.json("pubmedqa/test_ground_truth.json")
    items = {pmid: it for pmid, it in pools.data.json("pubmedqa/ori_pqal.json").items() if pmid not in tested}
    rarity = Rarity(context for it in items.values() for context in it["CONTEXTS"])
    draw = random.Random(f"{seed}|pubmedqa")
    for pmid in sorted(items):
        item = items[pmid]
        own = ExampleSource(id=pmid, title=item["QUESTION"], text=" ".join(item["CONTEXTS"]))
        if pools.guard.refuses_document(f"pmid:{pmid}", "attribution", item["QUESTION"]):
            continue
        for number, text in enumerate(sentences(item["LONG_ANSWER"])):
            held = rarity.coverage(text, own.text)
            if len(text.split()) < 6 or held < 0.55 or most <= 0 or pools.guard.refuses_claim(text, "attribution"):
                continue
            most -= 1
            near = pools.neighbours(item["QUESTION"], {pmid}, "train")
            sources = [own, *(_source(next(near)) for _ in range(SOURCES - 1))]
            draw.shuffle(sources)
            unknown = [
                place for place, it in enumerate(sources, 1) if it is not own and rarity.coverage(text, it.text) > APART
            ]
            yield _example(
                f"{pmid}:{number}", text, sources, [sources.index(own) + 1], unknown, "conclusion", "pubmedqa",
                f"pubmedqa:{pmid}",
            )  # fmt: skip


def written(pools: Pools, files: Sequence[str], most: int, seed: int) -> Iterator[AttributionExample]:
    """Claims written about texts, alone, and two by two where their texts are near each other.

    One in five lacks the source of a half, and then has no source at all.
    """
    shelf = Shelf(pools.data, MixConfig(), pools.guard, 0)
    lines = [line.root for path in files for line in read_jsonl(WrittenLine, path)]
    claims = [
        it
        for it in lines
        if isinstance(it, WrittenClaim) and it.supported and it.document.startswith(("pmid", "scifact"))
    ]
    wanted = {claim.document for claim in claims}
    texts = {key: text for key, text in written_texts(shelf, wanted) if key in wanted}
    usable = [
        it for it in claims if it.document in texts and text_hash(joined(texts[it.document], it.sentences)) == it.check
    ]
    titles = {f"pmid:{it.id}": it.title for it in pools.documents}
    nearby = Nearby(
        [ExampleSource(id=key, title=titles.get(key, ""), text=" ".join(text)) for key, text in texts.items()]
    )
    sources = {it.id: it for it in nearby.documents}
    by_document: dict[str, list[WrittenClaim]] = {}
    for claim in usable:
        by_document.setdefault(claim.document, []).append(claim)
    draw = random.Random(f"{seed}|written")
    draw.shuffle(usable)
    for number, claim in enumerate(usable[:most]):
        own = sources[claim.document]
        alone = draw.random() < 0.3
        near = nearby.find(claim.supported or "", {own.id}, 8)
        partner = next((it for it in near[1:] if by_document.get(it.id)), None)
        if alone or partner is None:
            broken = draw.random() < 0.3
            text = claim.broken if broken else claim.supported or ""
            chosen, kind, supports = [own], "written", [] if broken else [own.id]
        else:
            other = draw.choice(by_document[partner.id])
            halves = [claim.supported or "", other.supported or ""]
            wrong = draw.random() < 0.1
            if wrong:
                halves[1] = other.broken
            if draw.random() < 0.5:
                halves.reverse()
            text = f"{halves[0].rstrip('. ')}{draw.choice(JOINTS)}{lowered(halves[1])}"
            lacking = draw.random() < 0.15
            chosen, kind = [own] if lacking else [own, partner], "joined"
            supports = [] if lacking or wrong else [own.id, partner.id]
            near = [it for it in near if it.id != partner.id] + nearby.find(
                other.supported or "", {own.id, partner.id}, 2, 1
            )
        if len(text.split()) > LONGEST or pools.guard.refuses_claim(text, "attribution"):
            continue
        more = [it for it in dict.fromkeys(near) if it.id not in {one.id for one in chosen}]
        every = [*chosen, *draw.sample(more, min(len(more), SOURCES - len(chosen)))]
        draw.shuffle(every)
        places = [place for place, it in enumerate(every, start=1) if it.id in supports]
        yield _example(f"{kind}-{number}", text, every, places, [], kind, "written", f"written:{claim.document}")


def two_sources(path: Path, seed: int) -> Iterator[AttributionExample]:
    """Sentences written for this project that two invented sources support only together.

    Each comes twice: with both, and with one of them alone; then it has no source.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    draw = random.Random(f"{seed}|two")
    for row in rows:
        others = [
            draw.choice((it["first"], it["second"], it["beside"])) for it in draw.sample(rows, 4) if it is not row
        ]
        for kind, own in (
            ("two", [row["first"], row["second"]]),
            ("half", [draw.choice((row["first"], row["second"]))]),
        ):
            chosen = [*own, row["beside"], *others][:SOURCES]
            places = draw.sample(range(len(chosen)), len(chosen))
            sources = [
                ExampleSource(id=f"s{place}", title=chosen[place]["title"], text=chosen[place]["text"])
                for place in places
            ]
            supports = [number for number, place in enumerate(places, start=1) if place < 2] if kind == "two" else []
            yield _example(f"{row['id']}-{kind}", row["sentence"], sources, supports, [], kind, "invented", row["id"])


def single_sources(it: AttributionExample) -> Iterator[LabelledPair]:
    """A sentence beside each of its sources, as single-source NLI is fine-tuned: a part of support is support."""
    for number, source in enumerate(it.sources, start=1):
        if number not in it.unknown:
            yield LabelledPair(
                premise=source.document.titled_text,
                claim=it.sentence,
                label="entails" if number in it.supports else "neutral",
                source=it.made_from,
                kind=it.kind,
                group=it.group or it.id,
                binary=True,
            )


def _source(document: Document) -> ExampleSource:
    return ExampleSource(id=document.id, title=document.title, text=document.text)


def _example(
    id: str,
    text: str,
    sources: Sequence[ExampleSource],
    supports: Sequence[int],
    unknown: Sequence[int],
    kind: str,
    made_from: str,
    group: str,
) -> AttributionExample:
    return AttributionExample(
        id=id,
        sentence=text,
        sources=tuple(sources),
        supports=tuple(supports),
        unknown=tuple(unknown),
        kind=kind,
        made_from=made_from,
        group=group,
    )
