"""Protocols: every published way to judge a citation is a choice of four parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from vericite.errors import InputError, UnknownNameError, expect_type
from vericite.models.contracts import Judge
from vericite.verify.aggregators import (
    QUOTES,
    Aggregator,
    AnyEntails,
    Faithfulness,
    LeaveOneOut,
    NuggetRule,
    TwoViews,
)
from vericite.verify.claims import AtomicStatements, ClaimPlan, WholeSentence, WholeThenStatements
from vericite.verify.judges.hf import REPRODUCTION
from vericite.verify.premises import (
    Assembly,
    Context,
    Joint,
    MostSimilar,
    Nuggets,
    PremisePlan,
    Splitter,
    WholeDocument,
    Windows,
)


@dataclass(frozen=True)
class Protocol:
    """What is judged, against what, by which judge, and how judgements are combined. The judge is a name or an object.

    Verdicts with a probability below ``abstain_below`` become abstentions; 0 never abstains, as in the papers. With
    ``precision``, supported verdicts of which fewer than this share are right on data sets that the judge was not
    trained on become abstentions; for the protocols and judges for which that was measured. With
    ``quotes``, a sentence that is quoted word for word entails the claim without asking the judge. With ``published``,
    every sentence of every language is judged, even one that gives orders to the reader. ``splitter`` splits sources
    into sentences.
    """

    claim: ClaimPlan = field(default_factory=WholeSentence)
    premise: PremisePlan = field(default_factory=Windows)
    judge: Judge | str = "bundled"
    aggregate: Aggregator = field(default_factory=AnyEntails)
    name: str = "custom"
    abstain_below: float = 0.0
    precision: float | None = None
    quotes: bool = False
    published: bool = False
    splitter: Splitter = "rules"

    def __post_init__(self) -> None:
        if not 0 <= self.abstain_below <= 1:
            raise InputError(f"expected abstain_below to be between 0 and 1; found {self.abstain_below}")
        if self.precision is not None and not 0 < self.precision < 1:
            raise InputError(f"expected precision to be between 0 and 1; found {self.precision}")

    @property
    def signature(self) -> str:
        """The full protocol, without the judge's own signature, which a provenance has separately."""
        judge = self.judge if isinstance(self.judge, str) else self.judge.signature
        parts = (self.claim.signature, self.premise.signature, judge, self.aggregate.signature)
        options = [f"abstain_below={self.abstain_below:g}"] if self.abstain_below else []
        options += [f"precision={self.precision:g}"] if self.precision is not None else []
        options += [QUOTES] if self.quotes else []
        options += ["as published"] if self.published else []
        options += [f"splitter={self.splitter}"] if self.splitter != "rules" else []
        more = "".join(f", {part}" for part in options)
        return "{}(claim={}, premise={}, judge={}, aggregate={}{})".format(self.name, *parts, more)


def precision_in(signature: str) -> float | None:
    """Return the precision of a protocol from its signature; None if it has none."""
    named = re.search(r", precision=([0-9.e-]+)[,)]", signature)
    return None if named is None else float(named[1])


@dataclass(frozen=True)
class Preset:
    """A named protocol: a one-sentence summary and the judges that its paper uses.

    ``published`` describes the paper's own version, available with the suffix ``-as-published``, and ``splitter`` is
    its way to split sentences.
    """

    summary: str
    make: Callable[[int], Protocol]
    usual: int | None = None
    papers_judges: tuple[str, ...] = ()
    published: str | None = None
    splitter: Splitter = "rules"

    @property
    def sized(self) -> bool:
        """Whether its name takes a number, as in ``windows(3)``."""
        return self.usual is not None


def _named(name: str, **parts: Any) -> Callable[[int], Protocol]:
    return lambda _: Protocol(name=name, **parts)


def _ours(name: str, views: TwoViews) -> Callable[[int], Protocol]:
    parts = {"claim": WholeThenStatements(), "premise": Assembly(), "aggregate": views}
    return _named(name, **parts, quotes=True)


AS_PUBLISHED = "-as-published"
"""Suffix of a name: the protocol as in its paper."""

_EVERY_SENTENCE = (
    "judges every sentence of every language and abstains from none; the usual setting leaves out sentences and titles "
    "of sources that give orders, and abstains from claims and sources that are not English"
)
_PUNKT = f"{_EVERY_SENTENCE}. Sentences of sources are those of NLTK's Punkt; usually, of our rules"

PRESETS: dict[str, Preset] = {
    "default": Preset(
        "all cited documents at once: each of their sentences, then the most relevant ones together, and the mean of "
        "both; a claim not supported as a whole is cut into atomic statements, and is supported if all of them are",
        _ours("default", TwoViews()),
    ),
    "fast": Preset(
        "as default, but of the sentences first the fifth that share most words with the claim, and the others only if "
        "none of these decides: nearly always the same label, a little sooner",
        _ours("fast", TwoViews(first=0.2)),
    ),
    "vericite": Preset(
        "each sentence of each cited document; supported if any entails the claim, else contradicted if any "
        "contradicts it, else irrelevant. The title is no evidence",
        _named("vericite"),
        papers_judges=(f"hf:{REPRODUCTION}",),
        published=_EVERY_SENTENCE,
    ),
    "early": Preset(
        "as vericite, the sentences that share most words with the claim first, and no more once one entails it: the "
        "same labels, sooner",
        _named("early", aggregate=AnyEntails(early=True)),
    ),
    "statements": Preset(
        "the same, for each atomic statement of the claim; all must be supported",
        _named("statements", claim=AtomicStatements()),
    ),
    "windows": Preset(
        "each run of N sentences of each cited document",
        lambda size: Protocol(premise=Windows(size), name=f"windows({size})"),
        usual=3,
    ),
    "alce": Preset(
        "all cited documents together, with their titles; where they support the claim, which of them it does not "
        "need (neither enough alone nor missed by the others)",
        _named("alce", premise=Joint(title=True, apart=True), aggregate=LeaveOneOut()),
        papers_judges=("hf-seq2seq:google/t5_xxl_true_nli_mixture",),
        published=_EVERY_SENTENCE,
    ),
    "bioace-document": Preset(
        "each cited document whole, with its title",
        _named("bioace-document", premise=WholeDocument()),
        papers_judges=("llm-binary:MODEL", "llm:MODEL", "hf-seq2seq:CHECKPOINT", "hf-attrscore:CHECKPOINT"),
        published=_EVERY_SENTENCE,
    ),
    "bioace-maxsim": Preset(
        "of each cited document the one sentence most like the claim, by the cosine of the bundled embedder",
        _named("bioace-maxsim", premise=MostSimilar()),
        papers_judges=("llm-binary:MODEL", "llm:MODEL", "hf-seq2seq:CHECKPOINT", "hf-attrscore:CHECKPOINT"),
        published=_PUNKT,
        splitter="punkt",
    ),
    "bioace-nuggets": Preset(
        "each atomic statement of the claim against each of each cited document; contradicted if any pair contradicts, "
        "else supported if any statement is",
        _named("bioace-nuggets", claim=AtomicStatements(), premise=Nuggets(), aggregate=NuggetRule()),
        published=_EVERY_SENTENCE,
    ),
    "bioace-nuggets-every": Preset(
        "the same, but supported only if every statement is, as BioACE's prompt has it; its text has the other rule",
        _named("bioace-nuggets-every", claim=AtomicStatements(), premise=Nuggets(), aggregate=NuggetRule(every=True)),
        published=_EVERY_SENTENCE,
    ),
    "context": Preset(
        "the first N documents together, cited or not, for every claim",
        lambda top: Protocol(premise=Context(top), name=f"context({top})"),
        usual=5,
    ),
    "reason-verify": Preset(
        "each atomic statement, and each item of a numbered list in one, against the first N documents together, cited "
        "or not, in eight categories; a claim is CORRECT if all its statements are",
        lambda top: Protocol(
            AtomicStatements(enumerations=True), Context(top), aggregate=Faithfulness(), name=f"reason-verify({top})"
        ),
        usual=5,
        papers_judges=("llm-eight:MODEL",),
        published=_EVERY_SENTENCE,
    ),
}
"""Protocols by name."""

DEFAULT = "default"
MEASURED = (DEFAULT, "fast")
"""The protocols whose supported verdicts were compared with labels, for ``precision``."""


def protocol_names() -> tuple[str, ...]:
    """Return the names for ``get_protocol``, with ``N`` for a number."""
    return tuple(f"{name}(N)" if preset.sized else name for name, preset in PRESETS.items())


def get_protocol(name: str) -> Protocol:
    """Return a protocol by name, such as ``vericite``, ``alce`` or ``windows(3)``; the number is optional.

    With the suffix ``-as-published``, as in ``reason-verify-as-published(5)``, it is the paper's own version.

    Raises:
        UnknownNameError: Unknown protocol.
        InputError: The number is less than one.
    """
    expect_type(name, str, "the name of a protocol", "`vericite protocols` lists the names")
    found = re.fullmatch(rf"([\w-]+?)({AS_PUBLISHED})?(?:\((\d{{1,4}})\))?", name)
    preset = PRESETS.get(found[1]) if found else None
    if not found or preset is None or (found[3] and not preset.sized):
        raise UnknownNameError("protocol", name, protocol_names())
    size = int(found[3] or preset.usual or 1)
    if found[3] and int(found[3]) < 1:
        raise InputError(f"expected a number of at least 1 in {name!r}; found {found[3]}")
    made = preset.make(size)
    if not found[2]:
        return made
    if preset.published is None:
        named = ", ".join(name for name, other in PRESETS.items() if other.published)
        raise InputError(f"expected {AS_PUBLISHED} after the name of a paper's protocol ({named}); found {name!r}")
    sized = f"({size})" if preset.sized else ""
    return replace(made, name=f"{found[1]}{AS_PUBLISHED}{sized}", published=True, splitter=preset.splitter)
