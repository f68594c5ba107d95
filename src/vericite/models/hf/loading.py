"""Checkpoints on disk or on the Hugging Face Hub, loaded without running anything that they bring along.

A checkpoint is first made a local folder, here and nowhere else over the network, and then loaded from it:
weights from safetensors alone, architectures that transformers has itself.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from vericite.errors import InputError, MissingExtraError, ModelCardError, ModelMissingError

OFFLINE = "VERICITE_OFFLINE"
"""The environment variable that keeps everything on this machine."""

UNSAID = 512
"""Tokens read by a checkpoint that states no limit: what nearly all of them were trained on."""

_VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spm.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
_TOKENIZER = (*_VOCABULARIES, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
_NEEDED = ("config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json", *_TOKENIZER)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)
_TOKEN = re.compile(r"\bhf_\w{8,}")
_HUB_REASONS = {
    "GatedRepoError": "its owner asks for consent: agree on its page and set HF_TOKEN",
    "RepositoryNotFoundError": "the hub has none of this name, or a private one: check the name, or set HF_TOKEN",
    "LocalEntryNotFoundError": "it is not in the local cache, and the hub was not asked or did not answer",
}


class Checkpoint(NamedTuple):
    """A checkpoint's public name, its files on this machine, and which version of it they are."""

    name: str
    folder: Path
    version: str

    @property
    def signature(self) -> str:
        """Name and version, without a path of this machine."""
        return f"{self.name}@{self.version}"


class Loaded(NamedTuple):
    """A model ready to run, with its tokenizer and how many tokens it reads.

    ``pad`` is the token that fills a batch, ``unknown`` the one for what the tokenizer cannot spell, and
    ``separators`` are those that have a meaning of their own.
    """

    model: Any
    tokenizer: Any
    device: Any
    max_tokens: int
    pad: int
    unknown: int | None
    separators: frozenset[int]


def library(name: str) -> Any:
    """A module of the extra, imported at the first use: torch alone takes seconds.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("hf", "a model from a Hugging Face checkpoint") from None


def find_checkpoint(checkpoint: str, offline: bool) -> Checkpoint:
    """The files of a checkpoint: those of a local folder, else those of the hub's model of this name.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        offline: Look on this machine only.

    Raises:
        ModelMissingError: There is neither, or the folder lacks a file.
        ModelCardError: Its weights are in a format that is not loaded.
        MissingExtraError: The extra is not installed.
    """
    path = os.path.expanduser(checkpoint)
    if checkpoint and os.path.isdir(path):
        folder = Path(path).resolve()
        _check_files(checkpoint, folder)
        return Checkpoint(folder.name, folder, _hash(folder))
    if not _HUB_NAME.fullmatch(checkpoint):
        raise ModelMissingError(
            f"expected a checkpoint's folder, or the name of one on huggingface.co; found {checkpoint!r}, which is "
            "neither. Check the path"
        )
    folder = _snapshot(checkpoint, offline)
    _check_files(checkpoint, folder)
    return Checkpoint(checkpoint, folder, folder.name[:12])


def _snapshot(name: str, offline: bool) -> Path:
    """The hub's files, without weights that are pickled and without code."""
    library("transformers")
    hub = library("huggingface_hub")
    try:
        # Folders within a checkpoint hold exports to other formats, as large again as the weights.
        return Path(
            hub.snapshot_download(name, allow_patterns=_NEEDED, ignore_patterns=["*/*"], local_files_only=offline)
        )
    except Exception as error:  # the hub's, httpx's and the system's share no base
        reason = next(
            (_HUB_REASONS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _HUB_REASONS), ""
        )
        told = f"{OFFLINE} is set and it is not in the local cache" if offline else reason or first_line(error)
    raise ModelMissingError(
        f"expected a checkpoint's folder, or a model that huggingface.co gives; found {name!r}: {told}. "
        "Check the name, or download it on a machine with a connection and give its folder"
    )


def _check_files(name: str, folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise ModelMissingError(f"expected a checkpoint with a config.json; found none in {name}. Download it again")
    if (folder / "adapter_config.json").is_file():
        raise ModelCardError(
            f"expected a whole checkpoint; found an adapter in {name}. Merge it into its base (peft's "
            "merge_and_unload) and save the result"
        )
    if not any((folder / file).is_file() for file in ("model.safetensors", "model.safetensors.index.json")):
        pickled = sorted(file.name for file in folder.glob("*.bin"))
        raise ModelCardError(
            f"expected weights in model.safetensors; found {', '.join(pickled[:2]) or 'none'} in {name}. "
            "Pickled weights can run code and are not loaded. Convert them once: load the checkpoint with transformers "
            "where you trust it, and call save_pretrained(folder) on the model and on the tokenizer"
        )
    if not any((folder / file).is_file() for file in _VOCABULARIES):
        raise ModelMissingError(
            f"expected a tokenizer ({', '.join(_VOCABULARIES[:3])} ...); found none in {name}. Copy the "
            "tokenizer's files beside the weights"
        )


def _hash(folder: Path) -> str:
    """A version for what no hub has given one: of everything that can change a judgement."""
    digest = hashlib.sha256()
    files = {file for pattern in _NEEDED for file in folder.glob(pattern) if file.is_file()}
    for file in sorted(files):
        with file.open("rb") as content:
            digest.update(f"{file.name}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:12]


def read_config(checkpoint: Checkpoint) -> Any:
    """The checkpoint's configuration.

    Raises:
        ModelCardError: It has none that transformers knows.
    """
    auto = library("transformers").AutoConfig
    return _from_pretrained(auto, checkpoint, "a configuration")


def load(checkpoint: Checkpoint, task: str, device: str | None, unused: str | None = None) -> Loaded:
    """Model and tokenizer, ready to run.

    Args:
        checkpoint: Where they are.
        task: The name of the class of transformers that loads the model.
        device: Where it shall run; by default the fastest there is.
        unused: A part of such models whose weights may be missing, for what it says is not read.

    Raises:
        ModelCardError: They cannot be loaded as such a model, or do not fit together.
        InputError: There is no such device.
    """
    transformers = library("transformers")
    tokenizer = _from_pretrained(transformers.AutoTokenizer, checkpoint, "a tokenizer")
    model, report = _from_pretrained(
        getattr(transformers, task), checkpoint, "weights", use_safetensors=True, output_loading_info=True
    )
    missing = [key for key in report["missing_keys"] if unused is None or key.split(".")[0] != unused]
    _check_weights(checkpoint, model, tokenizer, missing)
    pad = next((x for x in (model.config.pad_token_id, tokenizer.pad_token_id) if x is not None), None)
    if pad is None:
        raise ModelCardError(
            f"expected a padding token in the configuration of {checkpoint.name}; found none. Set pad_token_id"
        )
    # Decoders that classify look for the end of a text by it.
    model.config.pad_token_id = pad
    target = _device(device)
    # Here and not while loading: the argument's name changed between versions of transformers.
    dtype = library("torch").bfloat16 if target.type == "cuda" else library("torch").float32
    model = model.to(device=target, dtype=dtype).eval()
    unknown: int | None = tokenizer.unk_token_id
    separators = frozenset(tokenizer.all_special_ids) - {unknown}
    return Loaded(model, tokenizer, target, _max_tokens(model, tokenizer), pad, unknown, separators)


def _from_pretrained(auto: Any, checkpoint: Checkpoint, what: str, **choices: Any) -> Any:
    load: Callable[..., Any] = auto.from_pretrained
    try:
        with _quiet():
            return load(str(checkpoint.folder), local_files_only=True, trust_remote_code=False, **choices)
    except Exception as error:  # transformers, safetensors and tokenizers share no base
        own = "trust_remote_code" in str(error)
        told = "it would run code of its own, which is never done" if own else first_line(error)
    told = told.replace(str(checkpoint.folder), checkpoint.name)
    raise ModelCardError(
        f"expected {what} that transformers loads from {checkpoint.name}; it failed: {told}. Download the checkpoint "
        "again, install what it names, or choose another"
    )


def _check_weights(checkpoint: Checkpoint, model: Any, tokenizer: Any, missing: list[str]) -> None:
    # transformers fills what is missing with random numbers, and a random judge looks like any other.
    if missing:
        raise ModelCardError(
            f"expected the weights of a {type(model).__name__} in {checkpoint.name}; found none for "
            f"{', '.join(sorted(missing)[:3])} ({len(missing)} in all). Choose a checkpoint trained for this task"
        )
    rows = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise ModelCardError(
            f"expected a tokenizer of at most the {rows} tokens that the weights of {checkpoint.name} have; found "
            f"{len(tokenizer)}. Copy the tokenizer that belongs to them"
        )


def _device(name: str | None) -> Any:
    torch = library("torch")
    if name is None:
        accelerators = {"cuda": torch.cuda, "mps": torch.backends.mps}
        name = next((kind for kind, backend in accelerators.items() if backend.is_available()), "cpu")
    try:
        torch.zeros(1, device=name)
    except Exception as error:  # torch raises AssertionError, RuntimeError and others
        told = first_line(error)
    else:
        return torch.device(name)
    raise InputError(f"expected a device of torch such as cpu, cuda or cuda:1; found {name!r}: {told}")


def _max_tokens(model: Any, tokenizer: Any) -> int:
    """The least of the limits that tokenizer and model state."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    # Relative positions know no bound, but what a model was not trained on it does not read well.
    said = [positions - _first_position(model) if positions else None, tokenizer.model_max_length]
    # A tokenizer without a limit says 1e30.
    return min((limit for limit in said if limit and 0 < limit < 1_000_000), default=UNSAID)


def _first_position(model: Any) -> int:
    """Positions that are no token's: RoBERTa and its kin count from the padding's position on."""
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            return padding + 1
    return 0


@contextmanager
def _quiet() -> Generator[None]:
    """Without transformers' progress bars and its report on the weights, which is read and judged here."""
    logs = library("transformers").utils.logging
    level, bars = logs.get_verbosity(), logs.is_progress_bar_enabled()
    logs.set_verbosity(logs.CRITICAL)
    logs.disable_progress_bar()
    try:
        yield
    finally:
        logs.set_verbosity(level)
        if bars:
            logs.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """What a foreign error says, short, and without an access token."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return _TOKEN.sub("hf_...", f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}")[:300]
