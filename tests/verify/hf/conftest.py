from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from processor import plain_processor
from vericite.verify.judges.hf import NliJudge

# Without the extra [hf] this file is read all the same, so that only fixtures import torch, and what imports it.


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


__all__ = ["bert", "checkpoints", "judges", "plain_processor"]
