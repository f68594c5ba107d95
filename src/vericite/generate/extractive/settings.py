"""How sentences are chosen and questions decided."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class ExtractiveSettings:
    """How sentences are chosen and questions decided.

    The worth of a sentence is its cosine to the question, plus ``wording`` times the share of the question's words it
    has, plus ``source`` times its document's cosine to the question, plus, where there is a reranker, ``reading``
    times the probability of being relevant that that gives the sentence. Set on 54 BioASQ questions apart from the 100
    that are reported on (``benchmarks/extractive.py``).

    Attributes:
        shortest: Sentences an answer has at least, where the evidence has as many to give.
        longest: Sentences it has at most.
        sufficient: What the cosines of the best sentence and the best document to the question must add up to, or the
            evidence is insufficient. Of 24 short questions that the demonstration corpus answers 2 are refused at 1.0,
            of 24 that it does not answer all.
        wording: See above.
        source: See above.
        reading: See above.
        relevant: Share of the best sentence's worth that a sentence must reach.
        spare: The same for a sentence that is taken only to reach ``shortest``.
        same: Cosine from which a sentence repeats one already taken, unless their polarity differs: "reduced" and
            "did not reduce" are near in meaning to an embedder, and both must be seen.
        novelty: Weight of being unlike the sentences already taken, against worth.
        votes: Sentences that have a vote on a yes/no question, at most.
        voting: Share of the best sentence's worth that one with a vote must reach.
        sharpness: Power of a sentence's worth, as a share of the best one's, by which its vote counts.
        concluding: How much more a source's last sentence counts in the vote than its first: conclusions stand last.
        judged: Weight in a vote of the judge's word, against that of words that deny or turn round what is asked.
        sure: How far all that is said has to lean one way for a decision to be stated: at 0.25 the demonstration
            corpus states 7 of 22 and all rightly, at 0 it states all and errs in 5.
        opposing: Vote from which a sentence that speaks against the decision is shown beside it.
        lists: State the things that a question for a list asks for. Off: of what enumerations of the sources give too
            little is right (F1 of 0.12 on 28 development questions).
        entries: Things that a list has at most, where the question does not say how many.
    """

    shortest: int = 4
    longest: int = 6
    sufficient: float = 1.0
    wording: float = 0.2
    source: float = 0.6
    reading: float = 0.5
    relevant: float = 0.8
    spare: float = 0.5
    same: float = 0.85
    novelty: float = 0.15
    votes: int = 8
    voting: float = 0.6
    sharpness: float = 1.0
    concluding: float = 8.0
    judged: float = 0.85
    sure: float = 0.25
    opposing: float = 0.3
    lists: bool = False
    entries: int = 8

    def floor(self, taken: int) -> float:
        """The share of the best sentence's worth that the next sentence must reach."""
        return self.relevant if taken >= self.shortest else self.spare

    @property
    def changed(self) -> list[str]:
        """Those that are not the usual."""
        usual = asdict(ExtractiveSettings())
        return [f"{name}={value:g}" for name, value in asdict(self).items() if value != usual[name]]
