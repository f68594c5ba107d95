# torch is in the extra [train] alone, and annotates its own functions only in part.
# pyright: reportMissingImports=false, reportUnknownMemberType=false
"""How this process computes."""

from __future__ import annotations

import contextlib
import ctypes

import torch

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Numbers of glibc's mallopt."""


def set_up(threads: int) -> None:
    """Set the cores, and let the allocator keep what it has.

    glibc hands every large tensor back to the kernel and faults its pages in again at the next step:
    batches of whole abstracts take 4 times as long that way.
    """
    torch.set_num_threads(threads)
    # Another C library than glibc has no such functions, and no such trouble.
    with contextlib.suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, 2**30)
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def give_back() -> None:
    """Return what the allocator has kept in pieces: batches of all lengths leave gaps, gigabytes in an hour."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
