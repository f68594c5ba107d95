"""What a run was made from, so that it can be made again and be resumed by nothing else."""

from __future__ import annotations

import hashlib
import json
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vericite.errors import InputError
from vericite.train.config import FitConfig
from vericite.version import __version__

NAME = "manifest.json"


def begin_manifest(out: Path, config: FitConfig, data: Path, base: Path, examples: int, pairs: int) -> None:
    """Say what the run is about to do."""
    held = {
        **_made_from(config, data, base),
        "examples": examples,
        "pairs": pairs,
        "vericite": __version__,
        "git": _git(),
        "torch": version("torch"),
        "started": [_now()],
    }
    _write(out, held)


def read_manifest(out: Path, config: FitConfig, data: Path, base: Path) -> int:
    """The length of a run that is to be resumed.

    Raises:
        InputError: There is none, it was finished, or it was of other data, base or config.
    """
    path = out / NAME
    if not path.is_file():
        raise InputError(f"expected a run to resume in {out}; found no {NAME}. Leave --resume out.")
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "finished" in held:
        raise InputError(f"expected a run that was ended early; the one in {out} is finished: see {out / 'model'}.")
    for name, value in _made_from(config, data, base).items():
        if held[name] != value:
            raise InputError(f"expected the run's own {name}: {held[name]}; found {value}. Name what it began with.")
    held["started"].append(_now())
    _write(out, held)
    return int(held["examples"])


def end_manifest(out: Path, place: dict[str, Any]) -> None:
    """Say that the run is finished, and what its weights hash to."""
    held = json.loads((out / NAME).read_text(encoding="utf-8"))
    model = _sha256(out / "model" / "model.safetensors")
    _write(out, {**held, "finished": _now(), **place, "model_sha256": model})


def _made_from(config: FitConfig, data: Path, base: Path) -> dict[str, Any]:
    return {
        "config": config.model_dump(mode="json"),
        "data": str(data),
        "data_sha256": _sha256(data),
        "base": str(base),
        "base_sha256": _sha256(base / "model.safetensors"),
    }


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"expected a readable file; found {path}: {error.strerror}") from None


def _git() -> str | None:
    """The checkout's commit; None outside one."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write(out: Path, held: dict[str, Any]) -> None:
    (out / NAME).write_text(json.dumps(held, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
