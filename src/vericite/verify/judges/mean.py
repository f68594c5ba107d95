"""Several judges asked at once, whose probabilities are averaged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee

import numpy as np

from vericite.errors import InputError
from vericite.models import Pair
from vericite.verify.judging import Inquiring, Judge, Judgement, Limited, Slow
from vericite.verify.tempering import mean_of


class MeanJudge:
    """The mean of other judges' probabilities: judges that err on different pairs correct each other.

    It reads as much as the one that reads least, and takes as long as all together. A pair that one of them could not
    judge is not judged.

    Raises:
        InputError: There are fewer than two, or one of them only says labels.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        if len(judges) < 2:
            raise InputError(f"expected two judges or more to take the mean of; found {len(judges)}")
        for judge in judges:
            if not getattr(judge, "graded", True):
                raise InputError(
                    f"expected judges with probabilities to take the mean of; {judge.signature} only says a label"
                )
        self.judges = tuple(judges)
        self.signature = f"mean({' + '.join(judge.signature for judge in judges)})"
        # Traits are told by the attributes that are there.
        self._limited = [judge for judge in judges if isinstance(judge, Limited)]
        if self._limited:
            self.capacity, self.length = min(judge.capacity for judge in self._limited), self._length
        if slow := [judge.pairs_at_once for judge in judges if isinstance(judge, Slow)]:
            self.pairs_at_once = min(slow)
        if inquiring := [judge.reads_question for judge in judges if isinstance(judge, Inquiring)]:
            self.reads_question = any(inquiring)

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """The mean of what each says of a pair; a judgement that is none where one of them has none."""
        asked = tee(pairs, len(self.judges))
        said = [judge.judge(own) for judge, own in zip(self.judges, asked, strict=True)]
        return (self._mean(judgements) for judgements in zip(*said, strict=True))

    def _mean(self, judgements: Sequence[Judgement]) -> Judgement:
        for judge, judgement in zip(self.judges, judgements, strict=True):
            if judgement.failure is not None:
                return judgement._replace(failure=f"{judge.signature}: {judgement.failure}")
        mean = mean_of([judgement.probabilities for judgement in judgements])
        notes = dict.fromkeys(judgement.note for judgement in judgements if judgement.note)
        return Judgement(np.asarray(mean, dtype=np.float32), note="; ".join(notes) or None)

    def _length(self, text: str) -> int:
        return max(math.ceil(judge.length(text) * self.capacity / judge.capacity) for judge in self._limited)
