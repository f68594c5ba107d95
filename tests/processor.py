"""For tests of models in torch: how they compute."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def plain_processor() -> Iterator[None]:
    """One thread, faster for models this small, and 32-bit floats also where there is an accelerator."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        for backend in (torch.cuda, torch.backends.mps):
            patch.setattr(backend, "is_available", lambda: False)
        yield
    torch.set_num_threads(threads)
