"""Claims written for this project about texts of the data, joined in pairs, and claims of the data in other words."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Discriminator, RootModel, Tag, model_validator

from mix.corpus import labelled_elsewhere, open_documents, refused
from mix.example import Example, Label
from mix.passages import Rarity, abstract, joined, reports, sentences, text_hash, window
from mix.rationales import attribution_group, reference_sentences, wice_group, wice_sentences
from mix.recipe import Harvest, MixConfig, Shelf, blank
from vericite.records import Record, read_jsonl

KIND = "conjoined"
_PER_TEXT, _ACROSS, _ASIDE, _EITHER = 2, 0.8, 0.7, 0.5
_JOINTS = (", and ", ", and ", ", while ", ", whereas ", "; ")
_LONGEST = 45

_PROPER = frozenset(
    "Parkinson Alzheimer Crohn Huntington Hodgkin Down Japan China India Africa Europe America Australia Canada "
    "Germany "
    "France Sweden Denmark Norway Finland Taiwan Korea England Brazil Iran Asian Chinese Japanese African European "
    "American Korean Indian Caucasian Hispanic Latino Black White English Medicare Medicaid Gram Doppler Notch Hippo "
    "Wnt Akt Ras Myc Bcl Hedgehog Kaplan Cox Cochrane Helicobacter Escherichia Staphylococcus Streptococcus Candida "
    "Mycobacterium Plasmodium Pseudomonas Salmonella Drosophila Arabidopsis Clostridium Toxoplasma Listeria January "
    "February March April May June July August September October November December Bayesian Western Northern Southern "
    "Toll Fas Swedish German French Danish Israeli Iranian Italian Spanish Dutch Turkish Egyptian Thai Chagas "
    "Lyme Zika Ebola Dengue Facebook Internet Polish Greek Romanian Malaysian Nigerian Australian Canadian Italy "
    "Spain Israel "
    "Iran Turkey Egypt Mexico Mexican Nigeria Kenya Uganda Ethiopia Pakistan Bangladesh Thailand Vietnam Sjogren "
    "Kawasaki Bell Cushing Graves Marfan Turner Klinefelter Leishmania Trypanosoma Chlamydia Legionella Aspergillus "
    "Saccharomyces Caenorhabditis Xenopus Wilms Ewing Kaposi Burkitt Barrett Raynaud Monte Likert Apgar".split()
)
_STARTS = frozenset("The These This Those Our Their Its In With Treatment Both Use Patients People Mean".split())


class Half(NamedTuple):
    """A claim that its premise supports, beside one that it does not.

    Attributes:
        aside: A sentence of the same text that tells no result, if there is one.
        apart: No other set labels the text, so that it may stand before claims about any other: their splits differ.
    """

    supported: str
    broken: str
    label: Label
    sentences: frozenset[int]
    premise: str
    aside: str | None
    document: str
    group: str
    apart: bool


def conjoined(halves: Sequence[Half], dice: random.Random) -> list[Example]:
    """Two of one text before both premises, with a twin of which half is broken; two of two texts before both and one.

    Only those of two texts stand before one: within a text either premise may well tell what the other half says.
    """
    texts: dict[str, list[Half]] = {}
    kinds: dict[str, list[str]] = {}
    for half in halves:
        if half.apart and half.document not in texts:
            kinds.setdefault(_kind(half), []).append(half.document)
        texts.setdefault(half.document, []).append(half)
    found: list[Example] = []
    for document, held in texts.items():
        apart = [pair for pair in combinations(held, 2) if not pair[0].sentences & pair[1].sentences]
        for first, second in dice.sample(apart, min(_PER_TEXT, len(apart))):
            found += _broken(first, second, dice)
        first = dice.choice(held)
        other = dice.choice(kinds.get(_kind(first), [document]))
        if other.split(":")[:2] != document.split(":")[:2] and dice.random() < _ACROSS:
            found += _lacking(first, dice.choice(texts[other]), dice)
    long = {example.twin for example in found if len(example.claim.split()) > _LONGEST}
    return [example for example in found if example.twin not in long]


def _broken(first: Half, second: Half, dice: random.Random) -> list[Example]:
    """Twins by the claim: one of its halves is another."""
    premise = _together(first.premise, second.premise, dice)
    told, twisted = [first.supported, second.supported], [first.supported, second.broken]
    if dice.random() < _EITHER:
        told, twisted = told[::-1], twisted[::-1]
    joint = dice.choice(_JOINTS)
    start = _start(first, second)
    return [
        replace(start, premise=premise, claim=_joined(told, joint), label="entails"),
        replace(start, premise=premise, claim=_joined(twisted, joint), label=second.label),
    ]


def _lacking(first: Half, second: Half, dice: random.Random) -> list[Example]:
    """Twins by the premise: what one of the halves stands on is missing."""
    told = [first.supported, second.supported]
    dice.shuffle(told)
    start = replace(_start(first, second), claim=_joined(told, dice.choice(_JOINTS)))
    less = _together(first.premise, second.aside, dice) if second.aside and dice.random() < _ASIDE else first.premise
    return [
        replace(start, premise=_together(first.premise, second.premise, dice), label="entails"),
        replace(start, premise=less, label="neutral"),
    ]


def _start(first: Half, second: Half) -> Example:
    drawn = f"{first.document}\n{first.supported}\n{second.document}\n{second.supported}"
    twin = f"conjoined:{hashlib.sha256(drawn.encode()).hexdigest()[:16]}"
    beside = second.document if second.document != first.document else None
    return replace(blank("", "neutral", "written", KIND, first.group, first.document), twin=twin, beside=beside)


def _joined(claims: Sequence[str], joint: str) -> str:
    first, second = claims
    return f"{first.rstrip('. ')}{joint}{lowered(second)}"


def _together(first: str, second: str, dice: random.Random) -> str:
    return f"{first} {second}" if dice.random() < _EITHER else f"{second} {first}"


def _kind(half: Half) -> str:
    """The set its text is of: texts of one set are more alike than those of two."""
    return half.document.split(":")[0]


def lowered(text: str) -> str:
    """The beginning of a sentence as it would stand within one; names and abbreviations keep their capitals."""
    word = re.match(r"[^\s,;:)]+", text)
    if word and len(word[0]) > 1 and re.match(r" (?!I\b)[A-Z][a-z]", text[word.end() :]) and word[0] not in _STARTS:
        return text
    if not word or not re.fullmatch(r"[A-Z][a-z]+(?:-[a-z]+)*|A(?= [a-z])", word[0]):
        return text if not text.startswith("A ") else "a" + text[1:]
    stem = word[0].split("-")[0]
    return text if stem in _PROPER or stem.removesuffix("n") in _PROPER else text[0].lower() + text[1:]


_DEV_SHARE = 0.05
_WINDOW, _ABSTRACT, _ELSEWHERE = 0.35, 0.12, 0.4
_APART = 0.3


Kind = Literal[
    "certainty", "comparator", "direction", "entity", "merged", "method", "negation", "number", "outcome", "overreach",
    "population", "quantity", "time", "unstated",
]  # fmt: skip


class WrittenClaim(Record):
    """A line of such a file.

    Attributes:
        document: Its text: ``pmid:1``, ``scifact:2``, ``wice:3`` or ``attributionbench:4:0`` (row, reference).
        sentences: Those that decide the claims, by number; what they leave open the whole text does.
        check: Of these sentences, so that a text that was cut otherwise since is noticed (``text_hash``).
        kind: What is broken; ``unstated`` where no claim is supported.
        supported: A claim that the sentences entail, if any.
        broken: One that they do not.
        label: What they make of that one.
    """

    document: str
    sentences: tuple[int, ...]
    check: str
    kind: Kind
    supported: str | None = None
    broken: str
    label: Literal["contradicts", "neutral"]


class InventedClaims(Record):
    """A line that brings its own premise, invented for it, and what that makes of two or three like claims.

    Attributes:
        topic: Shared by lines about one matter, which may have claims in common; a topic is never split.
        premise: One sentence or a few.
        kind: What the claims differ in.
        supported: A claim that the premise entails.
        contradicted: One that cannot be true beside it.
        neutral: One that it leaves open.
    """

    topic: str
    premise: str
    kind: Literal[
        "absence", "abbreviation", "arithmetic", "arm", "assertion", "causation", "class", "dose", "eligibility",
        "noninferior", "parts", "roles", "tenfold", "trend", "units", "unknown", "unreported",
    ]  # fmt: skip
    supported: str
    contradicted: str | None = None
    neutral: str | None = None

    @model_validator(mode="after")
    def _compared(self) -> Self:
        if not (self.contradicted or self.neutral):
            raise ValueError("expected a contradicted or a neutral claim beside the supported one; found neither")
        return self

    @property
    def examples(self) -> list[Example]:
        """The claims before the premise, as twins."""
        start = blank("", "entails", "written", self.kind, f"invented:{self.topic}", self.document)
        start = replace(start, premise=self.premise, twin=f"{self.document}:{text_hash(self.supported)}")
        claims: list[tuple[str | None, Label]] = [
            (self.supported, "entails"), (self.contradicted, "contradicts"), (self.neutral, "neutral")
        ]  # fmt: skip
        return [replace(start, claim=claim, label=label) for claim, label in claims if claim]

    @property
    def document(self) -> str:
        """A name for the premise."""
        return f"invented:{text_hash(self.premise)}"

    @property
    def half(self) -> Half:
        """What a claim of two things can be made of it."""
        broken, label = (self.contradicted, "contradicts") if self.contradicted else (self.neutral or "", "neutral")
        group = f"invented:{self.topic}"
        return Half(self.supported, broken, label, frozenset((0,)), self.premise, None, self.document, group, True)


def _form(line: Any) -> str:
    return "invented" if isinstance(line, dict) and "premise" in line else "written"


class WrittenLine(
    RootModel[
        Annotated[
            Annotated[InventedClaims, Tag("invented")] | Annotated[WrittenClaim, Tag("written")], Discriminator(_form)
        ]
    ]
):
    """A line of either form."""


def written(shelf: Shelf) -> Harvest:
    """The claims of every file the shelf names, at three sizes of premise and before sentences that leave them open."""
    harvest, dice = Harvest(), shelf.dice("written")
    # Left out by name they must not take their texts from the other sets, as those of other sets that are left out do.
    if not shelf.written or "written" in shelf.without:
        return harvest
    lines = [line.root for path in shelf.written for line in read_jsonl(WrittenLine, path)]
    claims = [line for line in lines if isinstance(line, WrittenClaim)]
    wanted = {claim.document for claim in claims}
    texts = {key: text for key, text in written_texts(shelf, wanted) if key in wanted}
    rarity = Rarity(sentence for text in texts.values() for sentence in text)
    labelled = labelled_elsewhere(shelf)
    halves: list[Half] = []
    for claim in claims:
        text = texts.get(claim.document)
        if text is None:
            harvest.note("text that a test holds, or that is left out")
        elif text_hash(joined(text, claim.sentences)) != claim.check:
            harvest.note("text cut otherwise now")
        else:
            group = f"written:{claim.document}"
            apart = claim.document not in labelled
            dev = "written_dev" if apart and shelf.is_dev(group, _DEV_SHARE) else None
            case = _Case(claim, text, group)
            harvest.add(case.examples(dice, rarity, wide=dev is None), dev)
            halves += case.halves(apart) if dev is None else []
    for line in lines:
        if isinstance(line, InventedClaims):
            dev = "invented_dev" if shelf.is_dev(f"invented:{line.topic}", _DEV_SHARE) else None
            harvest.add(line.examples, dev)
            halves += [line.half] if dev is None else []
    harvest.add(conjoined(halves, shelf.dice("conjoined")), None)
    return harvest


@dataclass(frozen=True, slots=True)
class _Case:
    """A line with its text."""

    claim: WrittenClaim
    text: list[str]
    group: str

    def examples(self, dice: random.Random, rarity: Rarity, *, wide: bool) -> list[Example]:
        """Both claims before the same premises, and one of them before a sentence that says something else."""
        claim, chosen = self.claim, list(self.claim.sentences)
        premises = [joined(self.text, chosen)]
        if wide and dice.random() < _WINDOW and len(self.text) > len(chosen):
            premises.append(window(self.text, chosen))
        if wide and dice.random() < _ABSTRACT and len(self.text) > 3:
            premises.append(abstract(self.text, chosen))
        found: list[Example] = []
        for premise in premises:
            broken = replace(self._start(claim.broken, claim.label), premise=premise)
            if claim.supported:
                twin = f"{self.group}:{text_hash(premise + claim.broken)}"
                entailed = replace(self._start(claim.supported, "entails"), premise=premise, twin=twin)
                found += [entailed, replace(broken, twin=twin)]
            else:
                found.append(broken)
        if wide and claim.supported and dice.random() < _ELSEWHERE:
            found += self._elsewhere(dice.choice((claim.supported, claim.broken)), dice, rarity)
        return found

    def halves(self, apart: bool) -> list[Half]:
        """What a claim of two things can be made of it."""
        claim, quiet = self.claim, self._quiet()
        if not claim.supported:
            return []
        return [
            Half(
                claim.supported,
                claim.broken,
                claim.label,
                frozenset(claim.sentences),
                joined(self.text, claim.sentences),
                quiet[-1] if quiet else None,
                claim.document,
                self.group,
                apart,
            )
        ]

    def _quiet(self) -> list[str]:
        """What was asked or done: another result may well settle the claim, in words that it does not share."""
        before = self.text[: max(0, min(self.claim.sentences) - 1)]
        return [sentence for sentence in before if not reports(sentence) and len(sentence.split()) > 4]

    def _start(self, text: str, label: Label, kind: str | None = None) -> Example:
        return blank(text, label, "written", kind or self.claim.kind, self.group, self.claim.document)

    def _elsewhere(self, text: str, dice: random.Random, rarity: Rarity) -> list[Example]:
        usable = [sentence for sentence in self._quiet() if rarity.coverage(text, sentence) < _APART]
        return [replace(self._start(text, "neutral", "same-text"), premise=dice.choice(usable))] if usable else []


def written_texts(shelf: Shelf, wanted: set[str]) -> Iterator[tuple[str, list[str]]]:
    """The texts that may be used, by name; of pieces and pages only what is wanted, as each is looked up or cut."""
    for document in open_documents(shelf):
        yield document.key, document.sentences
    if "bioasq" not in shelf.without:
        for row in shelf.data.jsonl("corpus/pubmed_corpus.jsonl.gz"):
            key = f"pmid:{row['pmid']}"
            if key in wanted and not row["full"] and not refused(shelf, key, row["title"], row["abstract"]):
                yield key, sentences(row["abstract"])
    if not shelf.permissive:
        yield from _web_texts(shelf, wanted)


def _web_texts(shelf: Shelf, wanted: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Of the halves that are trained on."""
    half = shelf.config.half_share
    for number, row in enumerate(shelf.data.jsonl("attributionbench/dev.jsonl")):
        if "attributionbench" not in shelf.without and not shelf.is_dev(attribution_group(row), half):
            for place, reference in enumerate(row["references"]):
                if (key := f"attributionbench:{number}:{place}") in wanted:
                    yield key, reference_sentences(reference)
    for number, row in enumerate(shelf.data.jsonl("wice/claim_dev.jsonl")):
        key = f"wice:{number}"
        if key in wanted and "wice" not in shelf.without and not shelf.is_dev(wice_group(row), half):
            yield key, wice_sentences(row)


KINDS = frozenset({"alike", "denied", "opposite", "other"})
"""Of examples that were made here."""

# A whole abstract may well say something of the other matter, too.
_SHORT = 90
# Few of these are hard: most name other things than the set is about, and more would teach just that.
_OTHER = 0.25
# Else what is denied in this manner would always be decided.
_BROKEN_OPEN = 0.4
# Sentences of which nobody said that they bear on the claim; the opposite says more, and others may well refute that.
_SILENT = frozenset({"unsupporting", "same-abstract"})
# What its readers called refuted is often only not borne out, so that the denial does not follow.
_LOOSELY_REFUTED = frozenset({"healthver"})


class ParaphrasedClaim(Record):
    """A line of such a file.

    Attributes:
        source: The set that has the claim.
        check: What the claim is recognised by (``text_hash``).
        alike: The same claim in other words.
        denied: What is true if and only if the claim is false.
        opposite: What cannot be true beside the claim, though both may be false.
        other: A claim that looks like it, of which nothing is said by what proves or disproves it.
    """

    source: str
    check: str
    alike: tuple[str, ...]
    denied: str | None = None
    opposite: str | None = None
    other: str | None = None


class Paraphrases:
    """What was written about claims, looked up by them; of two lines about one claim the later one counts."""

    def __init__(self, files: Iterable[Path]) -> None:
        lines = (line for path in files for line in read_jsonl(ParaphrasedClaim, path))
        self._lines = {(line.source, line.check): line for line in lines}
        self._met: set[tuple[str, str]] = set()

    @property
    def unmet(self) -> int:
        """How many lines are about no claim that was seen so far."""
        return len(self._lines.keys() - self._met)

    def of(self, name: str, examples: Iterable[Example], config: MixConfig, dice: random.Random) -> list[Example]:
        """The claims of a set's examples said anew before the same premises.

        A claim in other words stands beside one that the premise tells apart from it, as its twin.
        """
        found: list[Example] = []
        for number, example in enumerate(examples):
            key = (example.source, text_hash(example.claim))
            line = self._lines.get(key)
            if line is None:
                continue
            self._met.add(key)
            share = config.paraphrased_share if example.label != "neutral" else config.paraphrased_neutral_share
            if example.twin is None and dice.random() < share:
                found += _said_anew(example, line, dice, f"paraphrased:{name}:{number}")
        return found


def _said_anew(example: Example, line: ParaphrasedClaim, dice: random.Random, twin: str) -> Iterator[Example]:
    open_ones = list(_left_open(example, line))
    if open_ones and dice.random() < _BROKEN_OPEN:
        yield dice.choice(open_ones)
        return
    alike = replace(example, claim=dice.choice(line.alike), kind="alike") if line.alike else None
    apart = list(_told_apart(example, line))
    if alike and apart:
        yield replace(alike, twin=twin)
        yield replace(dice.choice(apart), twin=twin)
    elif alike or apart:
        yield alike or dice.choice(apart)
    decided = example.label != "neutral" and len(example.premise.split()) <= _SHORT
    if line.other and decided and dice.random() < _OTHER:
        yield replace(example, claim=line.other, kind="other", label="neutral")


def _told_apart(example: Example, line: ParaphrasedClaim) -> Iterator[Example]:
    """Claims on which the premise has the other word; what it is only known not to entail it may yet leave open."""
    if example.label == "entails":
        broken = "neutral" if example.binary else "contradicts"
        if line.denied:
            yield replace(example, claim=line.denied, kind="denied", label=broken)
        if line.opposite:
            yield replace(example, claim=line.opposite, kind="opposite", label=broken)
    elif example.label == "contradicts" and line.denied and example.source not in _LOOSELY_REFUTED:
        yield replace(example, claim=line.denied, kind="denied", label="entails")


def _left_open(example: Example, line: ParaphrasedClaim) -> Iterator[Example]:
    """Broken claims of which a premise says as little as of the claim."""
    if example.label == "neutral" and not example.binary:
        if line.denied:
            yield replace(example, claim=line.denied, kind="denied")
        if line.opposite and example.kind in _SILENT:
            yield replace(example, claim=line.opposite, kind="opposite")
