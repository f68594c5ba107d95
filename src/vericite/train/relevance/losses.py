# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""What a reranker is asked to minimise."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def list_losses(logits: Tensor, sizes: list[int]) -> Tensor:
    """One loss a list: how unlikely its first document is as the softmax's choice."""
    return torch.stack([torch.logsumexp(part, 0) - part[0] for part in logits.split(sizes)])


def point_losses(logits: Tensor, sizes: list[int]) -> Tensor:
    """One loss a list: its first document's log loss and the mean of the others', half and half."""
    return torch.stack([(F.softplus(-part[0]) + F.softplus(part[1:]).mean()) / 2 for part in logits.split(sizes)])
