# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""What a verifier is asked to minimise."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vericite.verify.judging import CONTRADICTS, ENTAILS, NEUTRAL


def support(logits: Tensor) -> Tensor:
    """Log odds of entailment against the two other labels together."""
    return logits[:, ENTAILS] - torch.logsumexp(logits[:, [CONTRADICTS, NEUTRAL]], dim=1)


def label_losses(logits: Tensor, columns: Tensor, binary: Tensor, smoothing: float) -> Tensor:
    """One loss a pair: over three labels, or over two where the data do not tell contradiction from neutral."""
    three = F.cross_entropy(logits, columns, reduction="none", label_smoothing=smoothing)
    entailed = (columns == ENTAILS).to(logits.dtype) * (1 - smoothing) + smoothing / 2
    two = F.binary_cross_entropy_with_logits(support(logits), entailed, reduction="none")
    return torch.where(binary, two, three)


def taught_losses(
    logits: Tensor, own: Tensor, taught: list[tuple[float, float, float] | None], told: list[bool], share: float
) -> Tensor:
    """Losses of which a part is the cross entropy with a teacher's probabilities, where there are any.

    Args:
        logits: Of one batch.
        own: Its losses by the data's labels.
        taught: The teacher's probabilities, by row.
        told: Whether the data have a label at all; where they have none, the teacher's word is all.
        share: The teacher's part where they have one.
    """
    parts = torch.tensor(
        [0.0 if row is None else share if known else 1.0 for row, known in zip(taught, told, strict=True)]
    )
    targets = torch.tensor([row or (0.0, 0.0, 0.0) for row in taught])
    learned = -(targets * F.log_softmax(logits, dim=1)).sum(dim=1)
    return (1 - parts) * own + parts * learned


def margin_losses(logits: Tensor, columns: Tensor, units: list[list[int]], margin: float) -> Tensor:
    """For each supported claim and each broken twin of it, how far the one's odds are from exceeding the other's.

    Args:
        logits: Of one batch.
        columns: Its labels.
        units: Rows that are twins of one another.
        margin: By how much they must.
    """
    better: list[int] = []
    worse: list[int] = []
    gold = columns.tolist()
    for unit in units:
        true = [row for row in unit if gold[row] == ENTAILS]
        broken = [row for row in unit if gold[row] != ENTAILS]
        better += [row for row in true for _ in broken]
        worse += broken * len(true)
    odds = support(logits)
    return F.relu(margin - (odds[better] - odds[worse]))
