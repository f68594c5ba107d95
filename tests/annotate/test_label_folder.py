"""Labels on disk: no confirmed label is lost by a second server or a stop."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import httpx2
import pytest

from vericite.errors import InputError
from vericite.lab.annotate.labels import Annotation
from vericite.lab.annotate.schemes import load_scheme
from vericite.lab.annotate.serve import LabelFolder, addresses, make_server
from vericite.lab.annotate.units import draw, units_of
from vericite.records import read_jsonl

SCHEME = load_scheme("vericite")


@pytest.fixture
def units(make_system):
    return draw(units_of([make_system(answers=6)]), 6).units


def label(item: str, given: str = "supported") -> bytes:
    return json.dumps({"item": item, "rater": "x", "label": given}).encode()


def on_disk(folder: Path, rater: str = "ann") -> dict[str, str | None]:
    found = list(read_jsonl(Annotation, folder / f"{rater}.jsonl"))
    assert len({one.item for one in found}) == len(found)
    return {one.item: one.label for one in found}


def test_a_folder_has_one_server(units, tmp_path: Path):
    """Without the lock two servers overwrote each other's labels."""
    first = LabelFolder(tmp_path, ["ann"], units, SCHEME)
    with pytest.raises(InputError, match=r"only one that serves labels in .* another server"):
        LabelFolder(tmp_path, ["ann"], units, SCHEME)
    first.close()
    LabelFolder(tmp_path, ["ann"], units, SCHEME).close()


def test_a_changed_label_replaces_the_old_one(units, tmp_path: Path):
    labels = LabelFolder(tmp_path, ["ann", "ben"], units, SCHEME)
    for unit in units:
        labels.keep("ann", label(unit.item))
    labels.keep("ben", label(units[0].item))
    labels.keep("ann", label(units[0].item, "contradicted"))
    expected = {unit.item: "supported" for unit in units} | {units[0].item: "contradicted"}
    assert on_disk(tmp_path) == expected
    assert on_disk(tmp_path, "ben") == {units[0].item: "supported"}
    labels.close()
    again = LabelFolder(tmp_path, ["ann", "ben"], units, SCHEME)
    again.keep("ann", label(units[1].item, "irrelevant"))
    assert on_disk(tmp_path) == expected | {units[1].item: "irrelevant"}
    again.close()


def test_a_torn_label_is_skipped(units, tmp_path: Path):
    labels = LabelFolder(tmp_path, ["ann"], units, SCHEME)
    for unit in units[:3]:
        labels.keep("ann", label(unit.item))
    labels.close()
    file = tmp_path / "ann.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    again = LabelFolder(tmp_path, ["ann"], units, SCHEME)
    assert on_disk(tmp_path) == {unit.item: "supported" for unit in units[:2]}
    again.keep("ann", label(units[2].item))
    assert len(on_disk(tmp_path)) == 3
    again.close()


def test_a_label_that_could_not_be_written_is_not_confirmed(units, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    labels = LabelFolder(tmp_path, ["ann"], units, SCHEME)

    def full(*_: object) -> None:
        raise InputError("expected a file that can be written; found: No space left on device")

    monkeypatch.setattr("vericite.disk.jobs.Lines.append", full)
    with pytest.raises(InputError, match="No space"):
        labels.keep("ann", label(units[0].item))
    assert '"saved":[]' in labels.page("ann").replace(" ", "")
    labels.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_reported_without_its_path(units, tmp_path: Path):
    labels = LabelFolder(tmp_path, ["ann"], units, SCHEME)
    server = make_server(labels, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"{addresses(labels, server)['ann']}/labels"
    file = tmp_path / "ann.jsonl"
    try:
        assert httpx2.post(address, content=label(units[0].item)).status_code == 200
        kept = file.rename(tmp_path / "kept")
        file.symlink_to("/dev/full")
        reply = httpx2.post(address, content=label(units[1].item))
        assert reply.status_code == 507 and "it is full" in reply.text and "/" not in reply.text
        file.unlink()
        kept.rename(file)
        assert '"saved":[{' in labels.page("ann").replace(" ", "")
        assert on_disk(tmp_path) == {units[0].item: "supported"}
        assert httpx2.post(address, content=label(units[1].item)).status_code == 200
        assert len(on_disk(tmp_path)) == 2
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
        labels.close()


def test_the_file_of_keys_is_private_from_the_start(units, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    modes: list[int] = []
    replace = Path.replace

    def watched(partial: Path, target: Path) -> Path:
        modes.append(partial.stat().st_mode & 0o777)
        return replace(partial, target)

    monkeypatch.setattr(Path, "replace", watched)
    before = os.umask(0o022)
    try:
        LabelFolder(tmp_path, ["ann"], units, SCHEME).close()
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert (tmp_path / "keys.json").stat().st_mode & 0o777 == 0o600
