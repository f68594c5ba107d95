"""A baseline: the verdicts of an earlier run, with which the answers of this run are compared one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from pydantic import Discriminator, RootModel, Tag

from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.gates import GATE_SHARES, BaselineCounts, why_unjudged
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.significance import EMPTY, Comparison, DifferencePhrase, Score, Scored, compare
from vericite.pipeline.manuscript import ManuscriptCheck
from vericite.records import CheckedAnswer, Run, Summary, number_jsonl
from vericite.text.counted import counted

BADNESS = {
    "supported": 0,
    "quoted": 0,
    "abstained": 1,
    "uncited": 2,
    "irrelevant": 3,
    "dangling": 4,
    "contradicted": 5,
}
"""Outcomes of a sentence from best to worst. One that could not be judged is neither better nor worse."""

_LISTED = 20
"""Maximum number of sentences that are listed because they got worse."""
_NAMED = 3
"""Maximum number of missing answers whose ids are printed."""
_SHARE = GATE_SHARES["supported"]
_PHRASE = DifferencePhrase("supported citations", "supports", "more citations")


@dataclass(frozen=True)
class WorseSentence:
    """A sentence with a worse outcome than in the baseline.

    Attributes:
        answer: Id of the answer.
        sentence: The sentence, without markers.
        before: Its outcome in the baseline; None if the answer did not have this sentence.
        now: Its outcome now.
    """

    answer: str
    sentence: str
    before: str | None
    now: str

    @property
    def line(self) -> str:
        """The change in one line."""
        return f"{_folded(self.answer)}: {self.before or 'new sentence'} -> {self.now}: {self.sentence}"


def sentence_outcomes(checked: CheckedAnswer) -> dict[str, str]:
    """Return the worst outcome of each sentence of an answer; without sentences that could not be judged."""
    found: dict[str, str] = {}
    kinds = [(verdict.claim, checked.kind_of(verdict)) for verdict in checked.verdicts]
    for claim, kind in [*kinds, *((claim.claim, "uncited") for claim in checked.uncited)]:
        key = _folded(claim)
        found[key] = max(found.get(key, kind), kind, key=BADNESS.__getitem__)
    for failure in checked.failures:
        found.pop(_folded(failure.claim), None)
    return found


def _folded(text: str) -> str:
    return " ".join(text.split())


def _form(line: object) -> str:
    fields = cast("dict[str, object]", line) if isinstance(line, dict) else dict[str, object]()
    return "<manuscript>" if "manuscript" in fields else "<run>" if "evidence" in fields else "<answer>"


class _Line(
    RootModel[
        Annotated[
            Annotated[CheckedAnswer, Tag("<answer>")]
            | Annotated[ManuscriptCheck, Tag("<manuscript>")]
            | Annotated[Run, Tag("<run>")],
            Discriminator(_form),
        ]
    ]
):
    """A line with verdicts: of ``check``, of ``check`` for a manuscript, or of ``ask``."""

    @property
    def checked(self) -> CheckedAnswer:
        if isinstance(self.root, ManuscriptCheck):
            return self.root.gated
        return self.root if isinstance(self.root, CheckedAnswer) else self.root.checked


@dataclass
class Baseline:
    """The verdicts of an earlier run, and what was added of this run so far.

    Attributes:
        path: The file of the earlier run.
        problems: Receives the records of both runs that are not compared.
        worse: The sentences of this run that got worse.
        new: Number of answers of this run that the baseline lacks.
        protocols: Signatures of what judged the baseline, and of what judged this run.
    """

    path: Path
    problems: Problems
    worse: list[WorseSentence] = field(default_factory=list[WorseSentence])
    new: int = 0
    protocols: tuple[set[str], set[str]] = field(default_factory=lambda: (set[str](), set[str]()))
    _before: dict[str, Summary] = field(default_factory=dict[str, Summary])
    _now: dict[str, Summary] = field(default_factory=dict[str, Summary])
    # Hashes take less memory than sentences.
    _outcomes: dict[str, dict[int, str]] = field(default_factory=dict[str, dict[int, str]])

    @classmethod
    def read(cls, path: Path, problems: Problems) -> Baseline:
        """Read the verdicts that ``check --out`` wrote.

        Raises:
            InputError: The file cannot be read, or has no verdicts.
        """
        found = cls(path, problems)
        for number, line in problems.kept(number_jsonl(_Line, path)):
            checked = line.checked
            if checked.id in found._before:
                problems.append(_repeated(path, number, checked))
                continue
            found._before[checked.id] = checked.summary
            found.protocols[0].add(checked.provenance.protocol or "")
            outcomes = sentence_outcomes(checked)
            found._outcomes[checked.id] = {hash(sentence): kind for sentence, kind in outcomes.items()}
        if not found._before:
            raise InputError(
                f"expected the verdicts of an earlier run, as written by check --out; found none in {path}."
                + problems.first_of(path)
            )
        return found

    def add(self, checked: CheckedAnswer, file: Path, line: int) -> None:
        """Add an answer of this run.

        Args:
            checked: Its verdicts.
            file: The file of the answer.
            line: The line of its record; 0 if it is unknown.
        """
        if checked.id in self._now:
            self.problems.append(_repeated(file, line, checked))
            return
        self.new += checked.id not in self._before
        self._now[checked.id] = checked.summary
        self.protocols[1].add(checked.provenance.protocol or "")
        before = self._outcomes.get(checked.id)
        if before is None:
            return
        for sentence, kind in sentence_outcomes(checked).items():
            was = before.get(hash(sentence))
            if BADNESS[kind] > BADNESS[was or "supported"]:
                self.worse.append(WorseSentence(checked.id, sentence, was, kind))

    def is_known(self, answer: str, sentence: str, kind: str) -> bool:
        """Whether the sentence of this answer was already as bad in the baseline.

        A source that is retracted now, or a failed judgement, is never known: the baseline does not keep them.
        """
        was = self._outcomes.get(answer, {}).get(hash(_folded(sentence)))
        return was is not None and kind in BADNESS and BADNESS[kind] <= BADNESS[was]

    @property
    def missing(self) -> tuple[str, ...]:
        """The ids of the answers of the baseline that this run lacks."""
        return tuple(id for id in self._before if id not in self._now)

    @property
    def counts(self) -> BaselineCounts:
        """The counts of the answers that both runs have, and of those that only this run has."""
        both = [id for id in self._before if id in self._now]
        return BaselineCounts(
            before=_sum(self._before[id] for id in both),
            now=_sum(self._now[id] for id in both),
            new=_sum(counts for id, counts in self._now.items() if id not in self._before),
            missing=len(self.missing),
        )

    def result(self) -> BaselineResult:
        """Compare the answers that both runs have.

        Raises:
            InputError: There are none.
        """
        if not self._before.keys() & self._now.keys():
            some = ", ".join(repr(id[:40]) for id in list(self._before)[:3])
            raise InputError(
                f"expected answers with the same ids as in the baseline; found none. {self.path} has {some}. "
                "Give each answer an id that stays the same."
            )
        first, second = Scored("this run", _scores(self._now)), Scored("the baseline", _scores(self._before))
        found = compare(first, second, _PHRASE, Bootstrap())
        before, now = self.protocols
        why = why_unjudged(_sum(self._now.values()))
        return BaselineResult(found, tuple(self.worse), self.new, self.missing, before == now, why)


def _repeated(file: Path, line: int, checked: CheckedAnswer) -> RecordError:
    return RecordError(file, line, "id", f"expected a unique id to compare by; {checked.id!r:.80} is repeated")


def _sum(counts: Iterable[Summary]) -> Summary:
    return sum(counts, Summary())


def _scores(counts: Mapping[str, Summary]) -> dict[str, Score]:
    return {id: _score(summary) for id, summary in counts.items()}


def _score(summary: Summary) -> Score:
    of = _SHARE.of(summary)
    return (float(_SHARE.count(summary)), float(of)) if of else EMPTY


@dataclass(frozen=True)
class BaselineResult:
    """The difference between this run and the baseline.

    Attributes:
        comparison: The share of supported citations, paired by answer, with its interval.
        worse: The sentences that got worse.
        new: Number of answers that only this run has.
        missing: Ids of the answers that only the baseline has.
        same_protocol: Whether both runs were judged by the same protocol and judge, in the same versions.
        unjudged: Why nothing of this run was judged; empty if something was.
    """

    comparison: Comparison
    worse: tuple[WorseSentence, ...]
    new: int = 0
    missing: tuple[str, ...] = ()
    same_protocol: bool = True
    unjudged: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether this run fails: see ``failure``."""
        return bool(self.failure)

    @property
    def failure(self) -> str:
        """Why this run is worse than the baseline, in one line; empty if it is not.

        It is if the share of supported citations fell, and its interval excludes no change; or if nothing was judged.
        Without an interval, as for one answer or if all fell by the same amount, it is if a sentence got worse, too.
        """
        found = self.comparison.difference
        if self.unjudged:
            return f"baseline failed: nothing was judged; {self.unjudged}"
        if found.value is None or found.value >= 0:
            return ""
        now, before = self.comparison.values
        fell = f"baseline failed: the share of supported citations fell from {before:.3f} to {now:.3f}"
        if found.high is not None:
            return f"{fell}, and the 95 % interval of the difference excludes 0" if found.high < 0 else ""
        compared = "one answer is compared" if self.comparison.compared == 1 else "all answers fell alike"
        return f"{fell} and a sentence got worse; there is no interval, because {compared}" if self.worse else ""

    @property
    def sentence(self) -> str:
        """The result in one line."""
        parts = [f"baseline: {self._difference}"]
        if self.unjudged:
            parts.append(f"{self.unjudged[0].upper()}{self.unjudged[1:]}")
        parts += filter(None, [self.uncompared])
        if not self.same_protocol:
            parts.append(
                "The baseline was judged otherwise (another judge, protocol or version): write it again with --out."
            )
        return " ".join(parts)

    @property
    def uncompared(self) -> str:
        """The answers that only one of the runs has, in a sentence; empty if both have the same."""
        told = [f"{self.new} new"] if self.new else []
        if self.missing:
            some = ", ".join(_folded(id)[:40] for id in self.missing[:_NAMED])
            more = ", ..." if len(self.missing) > _NAMED else ""
            told.append(f"{len(self.missing)} of the baseline that this run lacks ({some}{more})")
        return f"Answers not compared: {', '.join(told)}." if told else ""

    @property
    def _difference(self) -> str:
        """The difference in one sentence. Without an interval, nothing says that a fall may be chance."""
        found = self.comparison.difference
        if found.value is None or found.value >= 0 or found.high is not None or not self.worse:
            return self.comparison.sentence
        count = counted(self.comparison.compared, "answer")
        fewer = f"{-100 * found.value:.1f} points fewer citations than the baseline"
        return f"This run supports {fewer} ({count}, no interval)."

    def lines(self) -> Iterable[str]:
        """Yield a line for each sentence that got worse, the worst first, then how many are not listed."""
        if not self.worse:
            return
        yield f"{counted(len(self.worse), 'sentence')} got worse:"
        ranked = sorted(self.worse, key=lambda found: -BADNESS[found.now])
        yield from (f"  {found.line}" for found in ranked[:_LISTED])
        if len(ranked) > _LISTED:
            yield f"  ... and {len(ranked) - _LISTED} more"

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
        found = self.comparison.difference
        return {
            "difference": found.value,
            "low": found.low,
            "high": found.high,
            "p": self.comparison.p,
            "answers": self.comparison.compared,
            "new": self.new,
            "missing": len(self.missing),
            "missing_ids": list(self.missing),
            "same_protocol": self.same_protocol,
            "is_worse": self.is_worse,
            "failure": self.failure,
            "worse": [vars(sentence) for sentence in self.worse],
        }
