"""The list of the weights that the package ships: each file with its size and sha256, next to the weights."""

from __future__ import annotations

import hashlib

from pydantic import Field, ValidationError

from vericite.errors import ModelCardError, ModelHashError, ModelMissingError
from vericite.models import folder
from vericite.models.folder import REPAIR, ModelFolder
from vericite.records import Record, first_problem

MANIFEST = "manifest.json"


class ShippedFile(Record):
    """A file of a model."""

    name: str
    bytes: int = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class ShippedModel(Record):
    """A model that the package ships."""

    name: str
    version: str
    licence: str
    files: tuple[ShippedFile, ...]


class Manifest(Record):
    """All models that the package ships."""

    models: tuple[ShippedModel, ...]


def read_manifest() -> Manifest:
    """Read the list.

    Raises:
        ModelMissingError: It is missing.
        ModelCardError: It is malformed.
    """
    path = folder.WEIGHTS / MANIFEST
    try:
        return Manifest.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelMissingError(f"expected the list of the shipped models at {path}; found none. {REPAIR}") from None
    except UnicodeDecodeError:
        raise ModelCardError(f"expected a list of models in {path}; found text that is not UTF-8. {REPAIR}") from None
    except ValidationError as error:
        problem = ": ".join(filter(None, first_problem(error)))
        raise ModelCardError(f"expected a list of models in {path}; found {problem}. {REPAIR}") from None


def describe(name: str) -> ShippedModel:
    """Describe the files of a bundled model as they are on disk."""
    card = ModelFolder.bundled(name).card
    files = [
        ShippedFile(name=path.name, bytes=path.stat().st_size, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted((folder.WEIGHTS / name).iterdir())
        if path.is_file()
    ]
    return ShippedModel(name=name, version=card.version, licence=card.licence, files=tuple(files))


def expect_as_shipped(name: str) -> ShippedModel:
    """Compare a bundled model with the list, and return its entry.

    Raises:
        ModelMissingError: The list, a folder or a file is missing.
        ModelCardError: The list does not name the model, or the list or the card is malformed.
        ModelHashError: A file differs from the list, or is not on it.
    """
    found = describe(name)
    expected = next((model for model in read_manifest().models if model.name == name), None)
    if expected is None:
        raise ModelCardError(f"expected {name} in {folder.WEIGHTS / MANIFEST}; it is not there. {REPAIR}")
    listed = {file.name: file for file in expected.files}
    for file in found.files:
        if file != listed.get(file.name):
            place = folder.WEIGHTS / name / file.name
            raise ModelHashError(f"expected the file that {MANIFEST} lists; found another at {place}. {REPAIR}")
    if absent := listed.keys() - {file.name for file in found.files}:
        raise ModelMissingError(
            f"expected {', '.join(sorted(absent))} in {folder.WEIGHTS / name}; found none. {REPAIR}"
        )
    if found != expected:
        raise ModelCardError(f"expected version {expected.version} of {name}; its card says {found.version}. {REPAIR}")
    return expected
