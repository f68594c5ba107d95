from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vericite.errors import ModelCardError, ModelHashError, ModelMissingError
from vericite.models import ModelFolder, folder
from vericite.models.folder import CARD_FORMAT, EMBEDDER, SHIPPED, WEIGHTS
from vericite.models.manifest import MANIFEST, expect_as_shipped, read_manifest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copyfile(WEIGHTS / MANIFEST, tmp_path / MANIFEST)
    (tmp_path / EMBEDDER).mkdir()
    for path in (WEIGHTS / EMBEDDER).iterdir():
        (tmp_path / EMBEDDER / path.name).symlink_to(path)
    monkeypatch.setattr(folder, "WEIGHTS", tmp_path)
    return tmp_path


def changed(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def test_the_list_is_made_from_the_weights():
    done = subprocess.run([sys.executable, "recipes/manifest.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_weights_lie_there_that_the_list_lacks():
    assert [model.name for model in read_manifest().models] == list(SHIPPED)
    assert {path.name for path in WEIGHTS.iterdir() if path.is_dir()} == set(SHIPPED)


def test_an_intact_model_is_as_listed(copied: Path):
    assert expect_as_shipped(EMBEDDER).name == EMBEDDER


def test_a_card_that_was_changed_is_refused(copied: Path):
    card = json.loads((copied / EMBEDDER / "card.json").read_text(encoding="utf-8"))
    changed(copied / EMBEDDER / "card.json", json.dumps({**card, "licence": "none"}).encode())
    with pytest.raises(ModelHashError, match=r"another at .*card\.json\. .*einstall the package"):
        expect_as_shipped(EMBEDDER)


def test_a_file_that_the_list_lacks_is_refused(copied: Path):
    (copied / EMBEDDER / "extra.bin").write_bytes(b"x")
    with pytest.raises(ModelHashError, match=r"another at .*extra\.bin"):
        expect_as_shipped(EMBEDDER)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"models": [{"name": 1}]}'])
def test_a_malformed_list_is_named(copied: Path, content: bytes):
    changed(copied / MANIFEST, content)
    with pytest.raises(ModelCardError, match=r"expected a list of models in .*manifest\.json; found"):
        expect_as_shipped(EMBEDDER)


def test_doctor_reports_a_missing_list(copied: Path, run_cli):
    (copied / MANIFEST).unlink()
    with pytest.raises(ModelMissingError, match=r"expected the list of the shipped models"):
        expect_as_shipped(EMBEDDER)
    printed = run_cli("doctor")
    assert printed.code == 3
    assert "expected the list of the shipped models" in printed.out


def test_a_card_of_a_later_version_is_refused_with_what_to_do(copied: Path):
    card = json.loads((copied / EMBEDDER / "card.json").read_text(encoding="utf-8"))
    later = {**card, "format": CARD_FORMAT + 1, "a_field_of_the_future": True}
    changed(copied / EMBEDDER / "card.json", json.dumps(later).encode())
    with pytest.raises(ModelCardError, match=r"format 1; found format 2 .* made for a newer VeriCite\. Upgrade: pip"):
        ModelFolder.open(copied / EMBEDDER)
