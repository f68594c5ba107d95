"""Checkpoints from folders and from the hub: what is loaded, and what is refused and how."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import PAIRS, probabilities
from tiny_models import numbered as _numbered

import vericite.models.hf as loading
from vericite.errors import InputError, MissingExtraError, ModelCardError, ModelError, ModelMissingError
from vericite.verify.judges.hf import TRUE, NliJudge, Seq2SeqJudge

pytestmark = pytest.mark.hf


def _only_pickled(folder: Path) -> None:
    torch.save({"weights": torch.zeros(1)}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def _without_tokenizer(folder: Path) -> None:
    for file in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (folder / file).unlink(missing_ok=True)


def _cut_short(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-200])


def _larger_tokenizer(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f"word{number}" for number in range(400)])
    tokenizer.save_pretrained(folder)


def _without_head(folder: Path) -> None:
    transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    tiny_models.change(folder, id2label=_numbered(tiny_models.LABELS))


def _own_code(folder: Path) -> None:
    (folder / "code.py").write_text("raise SystemExit('code of the checkpoint was run')")
    tiny_models.change(folder, model_type="own", auto_map={"AutoConfig": "code.Config", "AutoModel": "code.Model"})


SPOILT: Mapping[str, tuple[Callable[[Path], object], type[ModelError], str]] = {
    "no configuration": (
        lambda folder: (folder / "config.json").unlink(),
        ModelMissingError,
        "config.json; found none",
    ),
    "a configuration that is no JSON": (
        lambda folder: (folder / "config.json").write_text("{"),
        ModelCardError,
        "expected a configuration that transformers loads from bert; it failed",
    ),
    "an unknown architecture": (
        lambda folder: tiny_models.change(folder, model_type="no-such-type"),
        ModelCardError,
        "expected a configuration",
    ),
    "code of its own": (_own_code, ModelCardError, "it would run its own code, which is never allowed"),
    "pickled weights only": (_only_pickled, ModelCardError, "found pytorch_model.bin in .*Convert them once"),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), ModelCardError, "found none in"),
    "weights cut short": (_cut_short, ModelCardError, "expected weights that transformers loads from bert"),
    "weights of another size": (
        lambda folder: tiny_models.change(folder, hidden_size=32),
        ModelCardError,
        "expected weights that transformers loads from bert",
    ),
    "no classifier": (_without_head, ModelCardError, "found none for classifier"),
    "no tokenizer": (_without_tokenizer, ModelMissingError, "expected a tokenizer .* found none"),
    "a tokenizer that is none": (
        lambda folder: (folder / "tokenizer.json").write_text("{}"),
        ModelCardError,
        "expected a tokenizer that transformers loads from bert",
    ),
    "another's tokenizer": (_larger_tokenizer, ModelCardError, "expected a tokenizer of at most the"),
    "an adapter": (
        lambda folder: (folder / "adapter_config.json").write_text("{}"),
        ModelCardError,
        "found an adapter",
    ),
    "no labels": (
        lambda folder: tiny_models.change(folder, id2label=None, label2id=None),
        ModelCardError,
        r"found 2 \(LABEL_0, LABEL_1\)",
    ),
    "one output": (
        lambda folder: tiny_models.change(folder, id2label={"0": "score"}, label2id={"score": 0}),
        ModelCardError,
        r"found 1 \(score\)",
    ),
}


@pytest.mark.parametrize(("spoil", "kind", "message"), SPOILT.values(), ids=SPOILT)
def test_a_checkpoint_that_cannot_be_used_is_a_short_error_of_ours(
    bert: Path, spoil: Callable[[Path], object], kind: type[ModelError], message: str
):
    spoil(bert)
    with pytest.raises(kind, match=message) as caught:
        NliJudge(str(bert))
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    "name", ["", "/no/such/folder", "./model", "a/b/c", "~no-such-user/x", "x" * 5000 + "/", "\0", "a b"]
)
def test_a_text_that_is_neither_folder_nor_name_is_refused(name: str):
    with pytest.raises(ModelMissingError, match="expected a checkpoint's folder, or the name of one on huggingface"):
        NliJudge(name)


def test_a_device_that_is_not_there_is_an_input_error(checkpoints: Mapping[str, Path]):
    for device in ("toaster", "cuda:99"):
        with pytest.raises(InputError, match=f"expected a device of torch .*; found '{device}'"):
            NliJudge(str(checkpoints["bert"]), device=device)


def test_without_the_extra_the_line_that_installs_it_is_given(
    checkpoints: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
):
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(loading, "import_module", absent)
    for make in (lambda: NliJudge(str(checkpoints["bert"])), lambda: Seq2SeqJudge("x", TRUE)):
        with pytest.raises(MissingExtraError, match=r"pip install 'vericite\[hf\]'"):
            make()


def test_weights_are_in_32_bits_whatever_the_checkpoint_stores(bert: Path):
    expected = probabilities(NliJudge(str(bert), device="cpu"), PAIRS)
    transformers.AutoModelForSequenceClassification.from_pretrained(bert).to(torch.float16).save_pretrained(bert)
    judge = NliJudge(str(bert), device="cpu")
    assert {weights.dtype for weights in judge._loaded.model.parameters()} == {torch.float32}
    assert not judge._loaded.model.training
    assert probabilities(judge, PAIRS) == pytest.approx(expected, abs=0.02)


def test_the_signature_names_the_folder_and_changes_with_what_is_in_it(bert: Path):
    first = NliJudge(str(bert)).signature
    name, version = first.removeprefix("hf:").split("@")
    assert (name, len(version)) == ("bert", 12)
    assert NliJudge(f"{bert}/").signature == first
    (bert / "README.md").write_text("Says nothing that is read.")
    assert NliJudge(str(bert)).signature == first
    tiny_models.change(bert, id2label=_numbered(["neutral", "entailment", "contradiction"]))
    assert NliJudge(str(bert)).signature != first


def test_loading_leaves_transformers_logging_as_it_was(bert: Path, capfd: pytest.CaptureFixture[str]):
    logs = transformers.utils.logging
    before = (logs.get_verbosity(), logs.is_progress_bar_enabled())
    logs.enable_progress_bar()
    try:
        NliJudge(str(bert))
        assert logs.is_progress_bar_enabled()
        assert logs.get_verbosity() == before[0]
        assert capfd.readouterr() == ("", "")
    finally:
        (logs.enable_progress_bar if before[1] else logs.disable_progress_bar)()


def test_torch_is_not_imported_before_a_judge_is_made():
    asked = "import sys, vericite.verify.judges.hf; print({'torch', 'transformers'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


# The hub


class Hub:
    """A hub in place of the real one, whose calls are written down."""

    def __init__(self, answer: Path | Exception) -> None:
        self.answer = answer
        self.calls: list[dict[str, Any]] = []

    def snapshot_download(self, name: str, **choices: Any) -> str:
        self.calls.append({"name": name, **choices})
        if isinstance(self.answer, Exception):
            raise self.answer
        return str(self.answer)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path | Exception], Hub]]:
    def installed(answer: Path | Exception) -> Hub:
        made = Hub(answer)
        monkeypatch.setattr(loading, "library", lambda name: made if name == "huggingface_hub" else found(name))
        return made

    found = loading.library
    monkeypatch.delenv(loading.OFFLINE, raising=False)
    yield installed


def test_a_model_of_the_hub_is_named_by_its_commit(
    bert: Path, tmp_path: Path, hub: Callable[[Path | Exception], Hub], monkeypatch: pytest.MonkeyPatch
):
    snapshot = bert.rename(tmp_path / "0123456789abcdef0123456789abcdef01234567")
    asked = hub(snapshot)
    assert NliJudge("someone/nli-model").signature == "hf:someone/nli-model@0123456789ab"
    (call,) = asked.calls
    assert not call["local_files_only"]
    wanted = " ".join(call["allow_patterns"])
    assert "*.safetensors" in wanted
    assert not any(part in wanted for part in (".bin", ".py", ".pkl", ".pt"))
    monkeypatch.setenv(loading.OFFLINE, "1")
    NliJudge("someone/nli-model")
    assert asked.calls[1]["local_files_only"]


def test_offline_a_name_is_looked_for_on_this_machine_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setenv(loading.OFFLINE, "1")
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    with pytest.raises(ModelMissingError, match="VERICITE_OFFLINE is set and it is not in the local cache") as caught:
        NliJudge("someone/no-such-model-at-all")
    assert len(str(caught.value)) < 400


def test_a_hub_that_does_not_answer_is_a_short_error_of_ours(monkeypatch: pytest.MonkeyPatch):
    # The real client, with sockets blocked.
    monkeypatch.delenv(loading.OFFLINE, raising=False)
    with pytest.raises(ModelMissingError, match=r"found 'someone/no-such-model-at-all': .*Check the name") as caught:
        NliJudge("someone/no-such-model-at-all")
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 600


def test_no_token_is_shown(hub: Callable[[Path | Exception], Hub]):
    hub(RuntimeError("refused with Bearer hf_abcdefghijklmnop\nand forty lines more"))
    with pytest.raises(ModelMissingError) as caught:
        NliJudge("someone/model")
    assert "refused with Bearer hf_..." in str(caught.value)
    assert "abcdefgh" not in str(caught.value)
    assert "forty" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("GatedRepoError", "agree on its page and set HF_TOKEN"),
        ("RepositoryNotFoundError", "the hub has no such repository, or it is private"),
    ],
)
def test_what_the_hub_refuses_is_explained(hub: Callable[[Path | Exception], Hub], kind: str, message: str):
    hub(type(kind, (OSError,), {})("401 Client Error"))
    with pytest.raises(ModelMissingError, match=message):
        NliJudge("someone/model")


def test_a_local_folder_needs_no_network(bert: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", loading.OFFLINE):
        monkeypatch.delenv(name, raising=False)
    asked: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **_: asked.append(where))
    monkeypatch.setattr(socket.socket, "connect", lambda _, where: asked.append(where))
    NliJudge(str(bert))
    assert asked == []
