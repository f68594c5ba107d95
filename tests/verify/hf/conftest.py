from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from vericite.verify.judges.hf import NliJudge

# Without the extra [hf] this file is read all the same, so that only fixtures import torch, and what imports it.


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


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    import tiny_models

    folder = tmp_path_factory.mktemp("checkpoints")
    return {kind: tiny_models.classifier(kind, folder / kind) for kind in tiny_models.KINDS}


@pytest.fixture(scope="module")
def judges(checkpoints: Mapping[str, Path]) -> Mapping[str, NliJudge]:
    return {kind: NliJudge(str(folder), device="cpu") for kind, folder in checkpoints.items()}


@pytest.fixture
def bert(checkpoints: Mapping[str, Path], tmp_path: Path) -> Path:
    """A checkpoint to spoil."""
    return Path(shutil.copytree(checkpoints["bert"], tmp_path / "bert"))
