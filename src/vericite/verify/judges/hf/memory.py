"""What a judge says of a pair that its device cannot hold."""

from __future__ import annotations

from vericite.verify.judging import Judgement


def too_large(tokens: int) -> Judgement:
    """The failure of a pair of so many tokens."""
    return Judgement.failed(f"the device's memory does not hold a pair of {tokens} tokens")
