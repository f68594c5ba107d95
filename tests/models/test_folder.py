from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from vericite.errors import ModelCardError, ModelError, ModelHashError, ModelMissingError, UnknownNameError
from vericite.models import Engine, ModelFolder
from vericite.models.folder import EMBEDDER, FILES, RERANKER, SHIPPED, VERIFIER, WEIGHTS

NAMES = (EMBEDDER, RERANKER, VERIFIER)
NEXT_STEP = "einstall the package"


def edited(folder: Path, **changes: Any) -> Path:
    """Return the folder with values of its card replaced; None removes a field."""
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    card.update(changes)
    kept = {name: value for name, value in card.items() if value is not None}
    (folder / "card.json").write_text(json.dumps(kept), encoding="utf-8")
    return folder


def replaced(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    return folder


def vouched(folder: Path, name: str, content: bytes) -> Path:
    """Return the folder with another file, and a card that describes it."""
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    files = card["files"] | {name: hashlib.sha256(content).hexdigest()}
    return edited(replaced(folder, name, content), files=files)


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    def copy(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        shutil.copyfile(WEIGHTS / name / "card.json", folder / "card.json")
        for file in FILES:
            (folder / file).symlink_to(WEIGHTS / name / file)
        return folder

    return copy


@pytest.fixture
def verifier(copied: Callable[[str], Path]) -> Path:
    return copied(VERIFIER)


def test_the_package_ships_all_named_models():
    assert SHIPPED == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_models_signature_has_its_name_and_hash(name: str):
    folder = ModelFolder.bundled(name)
    digest = hashlib.sha256((WEIGHTS / name / "model.onnx").read_bytes()).hexdigest()
    assert folder.card.name == name
    assert folder.signature == f"{name}@{digest[:12]}"


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_card_names_licence_training_sets_and_limits(name: str):
    card = ModelFolder.bundled(name).card
    assert card.licence
    assert card.training
    assert all(trained.name and trained.licence for trained in card.training)
    assert any("not medical advice" in limit for limit in card.limits)
    assert set(card.files) == set(FILES)
    assert card.base and card.description and 0 < card.trained_tokens <= 512


def test_the_verifiers_card_has_the_limits_of_its_training_data():
    card = ModelFolder.bundled(VERIFIER).card
    (told,) = (limit for limit in card.limits if limit.startswith("Licence: "))
    unclear = [
        trained.name.split()[0] for trained in card.training if re.search("none stated|non-commercial", trained.licence)
    ]
    assert len(unclear) >= 5
    assert all(name in told.replace("MS MARCO", "MS") for name in unclear), told
    assert "--licence permissive" in told


@pytest.mark.parametrize("name", NAMES)
def test_bundled_weights_are_at_most_32_megabytes(name: str):
    assert (WEIGHTS / name / "model.onnx").stat().st_size <= 32_000_000


def test_a_cards_width_is_its_labels_or_its_dimension():
    assert ModelFolder.bundled(VERIFIER).card.width == 3
    assert ModelFolder.bundled(EMBEDDER).card.width == 384


@pytest.mark.parametrize("name", NAMES)
def test_a_copied_folder_has_the_signature_of_the_original(name: str, copied: Callable[[str], Path]):
    assert ModelFolder.open(copied(name)).signature == ModelFolder.bundled(name).signature


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_refused_with_both_hashes_and_a_next_step(name: str, verifier: Path):
    content = (verifier / name).read_bytes()
    changed = bytes([content[0] ^ 1]) + content[1:]
    with pytest.raises(ModelHashError) as caught:
        ModelFolder.open(replaced(verifier, name, changed))
    message = str(caught.value)
    assert f"expected {verifier / name} to have sha256 {hashlib.sha256(content).hexdigest()}" in message
    assert f"found {hashlib.sha256(changed).hexdigest()}" in message
    assert NEXT_STEP in message


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1\n"])
def test_an_empty_file_or_a_pointer_in_its_place_is_refused(content: bytes, verifier: Path):
    with pytest.raises(ModelHashError, match=NEXT_STEP):
        ModelFolder.open(replaced(verifier, "model.onnx", content))


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named_with_its_folder_and_a_next_step(name: str, verifier: Path):
    (verifier / name).unlink()
    with pytest.raises(ModelMissingError) as caught:
        ModelFolder.open(verifier)
    assert f"expected {name} in the model folder {verifier}; found none" in str(caught.value)
    assert NEXT_STEP in str(caught.value)


def test_a_directory_in_place_of_a_file_is_a_missing_file(verifier: Path):
    (verifier / "tokenizer.json").unlink()
    (verifier / "tokenizer.json").mkdir()
    with pytest.raises(ModelMissingError, match=r"expected tokenizer\.json"):
        ModelFolder.open(verifier)


def test_a_folder_without_a_card_is_named(verifier: Path):
    (verifier / "card.json").unlink()
    with pytest.raises(ModelMissingError) as caught:
        ModelFolder.open(verifier)
    assert f"expected a model folder with a card.json; found none at {verifier}" in str(caught.value)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(ModelMissingError, match=r"found none at .*absent"):
        ModelFolder.open(tmp_path / "absent")


MALFORMED = [b"", b"{oops", b"[]", b"null", b"\xff\xfe\x00", b"\x00" * 64]


@pytest.mark.parametrize("content", MALFORMED)
def test_a_malformed_card_is_refused_with_its_path(content: bytes, verifier: Path):
    with pytest.raises(ModelCardError) as caught:
        ModelFolder.open(replaced(verifier, "card.json", content))
    assert "expected a model card" in str(caught.value)
    assert str(verifier / "card.json") in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lables": ["a"]}, "lables"),
        ({"training": [{"name": "SNLI", "licence": "CC BY-SA", "size": 1}]}, r"training\.0\.size"),
        ({"licence": None}, "licence"),
        ({"limits": None}, "limits"),
        ({"training": None}, "training"),
        ({"task": "generator"}, "'verifier', 'embedder', 'reranker' or 'attributor'"),
        ({"max_tokens": 4}, "max_tokens"),
        ({"max_tokens": "512"}, "max_tokens"),
        ({"heads": 12.0}, "heads"),
        ({"scores": {"macro-F1": float("nan")}}, "macro-F1"),
        ({"files": {"model.onnx": "0" * 64}}, "expected"),
    ],
    ids=str,
)
def test_a_card_with_a_wrong_field_is_refused_with_the_field(changes: dict[str, Any], words: str, verifier: Path):
    with pytest.raises((ModelCardError, ModelHashError), match=words):
        ModelFolder.open(edited(verifier, **changes))


def test_a_card_without_a_hash_is_refused_with_the_files_name(verifier: Path):
    files = dict(ModelFolder.bundled(VERIFIER).card.files)
    del files["tokenizer.json"]
    with pytest.raises(ModelCardError, match=r"expected the sha256 of tokenizer\.json in card\.json; found none"):
        ModelFolder.open(edited(verifier, files=files))


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        (VERIFIER, {"labels": ["entails", "contradicts", "neutral", "unsure"]}, "the 4 outputs of .* found 3"),
        (VERIFIER, {"labels": ["entails", "neutral"]}, "the 2 outputs of .* found 3"),
        (VERIFIER, {"labels": []}, "the 0 outputs of .* found 3"),
        (EMBEDDER, {"dimension": 768}, "the 768 outputs of .* found 384"),
        (EMBEDDER, {"dimension": None}, "the 0 outputs of .* found 384"),
    ],
)
def test_a_card_with_another_width_is_refused_before_scoring(
    name: str, changes: dict[str, Any], words: str, copied: Callable[[str], Path]
):
    folder = copied(name)
    with pytest.raises(ModelCardError, match=words) as caught:
        list(Engine(ModelFolder.open(edited(folder, **changes))).run(["aspirin"]))
    assert str(folder) in str(caught.value)


def test_a_card_with_another_width_is_refused_at_every_use(verifier: Path):
    engine = Engine(ModelFolder.open(edited(verifier, labels=["a", "b"])))
    for _ in range(2):
        with pytest.raises(ModelCardError):
            next(engine.run(["aspirin"]))


@pytest.mark.parametrize("name", ["verifier-v999", "", f"../weights/{VERIFIER}", f"{VERIFIER}/", "."])
def test_an_unknown_bundled_name_is_an_error_with_the_known_names(name: str):
    with pytest.raises(UnknownNameError) as caught:
        ModelFolder.bundled(name)
    assert f"expected a bundled model out of {', '.join(NAMES)}; found {name!r}." in str(caught.value)


def test_an_unknown_bundled_name_is_an_error_with_a_similar_name():
    with pytest.raises(UnknownNameError, match=rf"Did you mean '{VERIFIER}'\?"):
        ModelFolder.bundled("verifer-v0")


def test_a_card_cannot_be_changed():
    with pytest.raises(ValidationError):
        ModelFolder.bundled(VERIFIER).card.licence = "none"


@pytest.mark.parametrize("damage", ["no card", "malformed card", "unknown field", "no hash", "other labels"])
def test_every_refusal_of_a_folder_has_a_next_step(damage: str, verifier: Path):
    if damage == "no card":
        (verifier / "card.json").unlink()
    elif damage == "malformed card":
        replaced(verifier, "card.json", b"{oops")
    else:
        edited(
            verifier,
            **{
                "unknown field": {"lables": ["a"]},
                "no hash": {"files": {}},
                "other labels": {"labels": ["a", "b", "c", "d"]},
            }[damage],
        )
    with pytest.raises(ModelError, match=f"{NEXT_STEP}|copy the folder again|correct the card"):
        next(Engine(ModelFolder.open(verifier)).run(["aspirin"]))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_a_model_is_a_model_error_even_with_a_matching_card(name: str, verifier: Path):
    folder = ModelFolder.open(vouched(verifier, name, b"no model"))
    with pytest.raises(ModelError):
        next(Engine(folder).run(["aspirin"]))


def test_a_card_with_too_many_tokens_for_the_weights_is_a_model_error(verifier: Path):
    folder = ModelFolder.open(edited(verifier, max_tokens=1024))
    with pytest.raises(ModelError):
        next(Engine(folder).run(["aspirin " * 600]))


def test_a_card_with_a_repeated_label_is_refused(verifier: Path):
    with pytest.raises(ModelCardError):
        ModelFolder.open(edited(verifier, labels=["entails", "entails", "neutral"]))
