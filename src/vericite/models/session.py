# onnxruntime annotates its own functions only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""How ONNX graphs are opened, so that a model gives the same numbers on every processor."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vericite.environment import EXACT_BYTES, is_on, text
from vericite.models.folder import WEIGHTS

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

EXACT_PRODUCTS = "session.x64quantprecision"
"""ONNX Runtime's setting for products of bytes without overflow, which are slower on x86."""


def open_session(graph: str | bytes, cores: int = 1, fits: bool = False) -> InferenceSession:
    """Open a graph on the CPU, with exact products of bytes.

    Args:
        graph: A file name, or a graph's content.
        cores: Number of cores for one run.
        fits: Whether activations have 7 bits, so that no product overflows and fast products are exact everywhere.

    Raises:
        Exception: ONNX Runtime cannot read the graph; its exceptions have no common base.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # The arena keeps all memory it ever used, about 60 MB a model, and `malloc_trim` cannot return it. Without it the
    # judge needs 1 % more processor time.
    options.enable_cpu_mem_arena = False
    if not fits and needs_exact_products():
        # This is 1.7 times slower, so it is only used where needed.
        options.add_session_config_entry(EXACT_PRODUCTS, "1")
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def needs_exact_products() -> bool:
    """Whether to open graphs with exact products of bytes: if the processor overflows, or as the user sets."""
    return bytes_overflow() if text(EXACT_BYTES) is None else is_on(EXACT_BYTES)


@cache
def bytes_overflow() -> bool:
    """Whether this processor overflows 16 bits in products of unsigned and signed bytes.

    x86 processors without VNNI do. There is no portable way to ask, so the largest possible product is computed.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    probe = onnxruntime.InferenceSession(str(WEIGHTS / "probe.onnx"), options, providers=["CPUExecutionProvider"])
    (found,) = probe.run(None, {"bytes": np.full((16, 64), 255, dtype=np.uint8)})
    return bool(np.any(np.asarray(found) != 64 * 255 * 127))
