"""Hugging Face checkpoints in torch, from a folder or the hub: loading, truncation, batches. Needs the extra [hf]."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from vericite.environment import OFFLINE
from vericite.errors import InputError, MissingExtraError, ModelCardError, ModelError, ModelMissingError
from vericite.records import storable

DEFAULT_MAX_TOKENS = 512
"""Tokens read by a checkpoint that states no limit: nearly all of them were trained on this many."""

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
    "RepositoryNotFoundError": "the hub has no such repository, or it is private: check the name, or set HF_TOKEN",
    "LocalEntryNotFoundError": "it is not in the local cache, and the hub was not asked or did not answer",
}


class Checkpoint(NamedTuple):
    """A checkpoint's public name, its local files and their version."""

    name: str
    folder: Path
    version: str

    @property
    def signature(self) -> str:
        """Name and version, without a local path."""
        return f"{self.name}@{self.version}"


class Loaded(NamedTuple):
    """A model ready to run, with its tokenizer and its maximum number of tokens.

    ``pad`` is the token that fills a batch, ``unknown`` the token for unknown text, and ``separators`` are tokens with
    a special meaning.
    """

    model: Any
    tokenizer: Any
    device: Any
    max_tokens: int
    pad: int
    unknown: int | None
    separators: frozenset[int]


def library(name: str) -> Any:
    """Import a module of the extra at first use: torch alone takes seconds.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("hf", "a model from a Hugging Face checkpoint") from None


def find_checkpoint(checkpoint: str, offline: bool) -> Checkpoint:
    """Find a checkpoint's files: a local folder, or a model of this name on the hub.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        offline: Only look on this machine.

    Raises:
        ModelMissingError: There is neither, or the folder lacks a file.
        ModelCardError: The weights have an unsupported format.
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
    """Download the hub's files, without pickled weights and without code."""
    library("transformers")
    hub = library("huggingface_hub")
    try:
        # Subfolders of a checkpoint hold exports to other formats, as large as the weights.
        return Path(
            hub.snapshot_download(name, allow_patterns=_NEEDED, ignore_patterns=["*/*"], local_files_only=offline)
        )
    except Exception as error:  # the hub's, httpx's and the system's share no base
        reason = next(
            (_HUB_REASONS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _HUB_REASONS), ""
        )
        problem = f"{OFFLINE} is set and it is not in the local cache" if offline else reason or first_line(error)
    raise ModelMissingError(
        f"expected a checkpoint's folder, or an available model on huggingface.co; found {name!r}: {problem}. "
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
            "on a machine where it may run code, and call save_pretrained(folder) on the model and on the tokenizer"
        )
    if not any((folder / file).is_file() for file in _VOCABULARIES):
        raise ModelMissingError(
            f"expected a tokenizer ({', '.join(_VOCABULARIES[:3])} ...); found none in {name}. Copy the "
            "tokenizer's files next to the weights"
        )


def _hash(folder: Path) -> str:
    """Return a version for local files: a hash of everything that can change a judgement."""
    digest = hashlib.sha256()
    files = {file for pattern in _NEEDED for file in folder.glob(pattern) if file.is_file()}
    for file in sorted(files):
        with file.open("rb") as content:
            digest.update(f"{file.name}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:12]


def read_config(checkpoint: Checkpoint) -> Any:
    """Return the checkpoint's configuration.

    Raises:
        ModelCardError: It has no configuration that transformers knows.
    """
    auto = library("transformers").AutoConfig
    return _from_pretrained(auto, checkpoint, "a configuration")


def load(
    checkpoint: Checkpoint, task: str, device: str | None, unused: str | None = None, labels: Sequence[str] = ()
) -> Loaded:
    """Load model and tokenizer, ready to run.

    Args:
        checkpoint: The files.
        task: Name of the transformers class that loads the model.
        device: Where to run. Default: the fastest device.
        unused: A part of the model whose weights may be missing because its output is not used.
        labels: Outputs of a model to train. Its output layer may start at random.

    Raises:
        ModelCardError: The files cannot be loaded as such a model, or do not fit together.
        InputError: There is no such device.
    """
    transformers = library("transformers")
    tokenizer = _from_pretrained(transformers.AutoTokenizer, checkpoint, "a tokenizer")
    choices: dict[str, Any] = {"use_safetensors": True, "output_loading_info": True}
    if labels:
        named = {"id2label": dict(enumerate(labels)), "label2id": {label: at for at, label in enumerate(labels)}}
        # Torch's fused attention is several times slower backwards in 16 bits on CPUs.
        choices |= {**named, "ignore_mismatched_sizes": True, "attn_implementation": "eager"}
    model, report = _from_pretrained(getattr(transformers, task), checkpoint, "weights", **choices)
    missing = [key for key in report["missing_keys"] if unused is None or key.split(".")[0] != unused]
    if labels:
        missing += [key if isinstance(key, str) else key[0] for key in report["mismatched_keys"]]
        of_body = f"{model.base_model_prefix}."
        missing = [key for key in missing if key.startswith(of_body) and ".pooler." not in key]
    _check_weights(checkpoint, model, tokenizer, missing)
    # A decoder's states are only read up to the end of a text, so any token may fill the batch.
    any_token = tokenizer.eos_token_id if task in ("AutoModel", "AutoModelForCausalLM") else None
    known = (model.config.pad_token_id, tokenizer.pad_token_id, any_token)
    pad = next((token for token in known if token is not None), None)
    if pad is None:
        raise ModelCardError(
            f"expected a padding token in the configuration of {checkpoint.name}; found none. Set pad_token_id"
        )
    # Decoders that classify use it to find the end of a text.
    model.config.pad_token_id = pad
    target = torch_device(device)
    # Set here, not while loading: the argument's name changed between versions of transformers.
    dtype = library("torch").bfloat16 if target.type == "cuda" else library("torch").float32
    model = model.to(device=target, dtype=dtype).eval()
    unknown: int | None = tokenizer.unk_token_id
    separators = frozenset(tokenizer.all_special_ids) - {unknown}
    return Loaded(model, tokenizer, target, _max_tokens(model, tokenizer), pad, unknown, separators)


def _from_pretrained(auto: Any, checkpoint: Checkpoint, what: str, **choices: Any) -> Any:
    load: Callable[..., Any] = auto.from_pretrained
    try:
        with quiet():
            return load(str(checkpoint.folder), local_files_only=True, trust_remote_code=False, **choices)
    except Exception as error:  # transformers, safetensors and tokenizers share no base
        own = "trust_remote_code" in str(error)
        problem = "it would run its own code, which is never allowed" if own else first_line(error)
    problem = problem.replace(str(checkpoint.folder), checkpoint.name)
    raise ModelCardError(
        f"expected {what} that transformers loads from {checkpoint.name}; it failed: {problem}. Download the "
        "checkpoint again, install the package that it names, or choose another"
    )


def _check_weights(checkpoint: Checkpoint, model: Any, tokenizer: Any, missing: list[str]) -> None:
    # transformers fills missing weights with random numbers, and a random judge looks like any other.
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


def torch_device(name: str | None) -> Any:
    """Return the device of that name; for None and ``auto``, the fastest one.

    Raises:
        InputError: There is no such device.
    """
    torch = library("torch")
    if name in (None, "auto"):
        accelerators = {"cuda": torch.cuda, "mps": torch.backends.mps}
        name = next((kind for kind, backend in accelerators.items() if backend.is_available()), "cpu")
    try:
        torch.zeros(1, device=name)
    except Exception as error:  # torch raises AssertionError, RuntimeError and others
        problem = first_line(error)
    else:
        return torch.device(name)
    raise InputError(f"expected a device of torch such as cpu, cuda or cuda:1; found {name!r}: {problem}")


def _max_tokens(model: Any, tokenizer: Any) -> int:
    """Return the smallest limit that tokenizer and model state."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    # Relative positions have no limit, but a model reads badly beyond its training length.
    limits = [positions - _first_position(model) if positions else None, tokenizer.model_max_length]
    # A tokenizer without a limit states 1e30.
    return min((limit for limit in limits if limit and 0 < limit < 1_000_000), default=DEFAULT_MAX_TOKENS)


def _first_position(model: Any) -> int:
    """Return the number of reserved positions: RoBERTa and similar models count from the padding's position."""
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            return padding + 1
    return 0


@contextmanager
def quiet() -> Generator[None]:
    """Silence transformers' progress bars and its report on weights, which is evaluated here."""
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
    """Return the first line of a foreign error, shortened, without access tokens."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return _TOKEN.sub("hf_...", f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}")[:300]


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

WINDOW = {"cpu": 128}
"""Number of inputs to read ahead, by device: enough to fill batches of one length, few enough to stream. A large model
on a CPU takes a second for each."""

ACCELERATOR_WINDOW = 2048
"""Number of inputs to read ahead on other devices."""

BATCH_TOKENS = {"cpu": 2048}
"""Tokens in a batch, including padding, by device."""

ACCELERATOR_BATCH_TOKENS = 16384
"""Tokens in a batch on other devices."""


class TokenizedInput(NamedTuple):
    """An input as the model reads it, the number of the text of each token, and whether it was cut."""

    ids: list[int]
    kinds: list[int]
    cut: bool


def as_text(found: Mapping[str, Any], row: int, loaded: Loaded) -> list[int]:
    """Return a row's tokens, with separators only where the tokenizer put them.

    "[SEP]" in a source is text. Read as the separator, it could pass off other words as the claim. On request a
    tokenizer splits it like any text, but SentencePiece tokenizers also have it as a word.
    """
    ids: list[int] = found["input_ids"][row]
    if loaded.unknown is None:
        return ids
    added: list[int] = found["special_tokens_mask"][row]
    return [loaded.unknown if id in loaded.separators and not own else id for id, own in zip(ids, added, strict=True)]


READING: dict[str, Any] = {"split_special_tokens": True, "return_special_tokens_mask": True, "verbose": False}
"""Arguments for tokenising, for ``as_text``. Not verbose: overlong texts are cut and noted without a warning."""


def window(loaded: Loaded) -> int:
    """Return the number of inputs to read ahead on the model's device."""
    return WINDOW.get(loaded.device.type, ACCELERATOR_WINDOW)


def in_batches(
    items: Iterable[_Item],
    loaded: Loaded,
    encode: Callable[[list[_Item]], list[TokenizedInput | _Result]],
    score: Callable[[list[TokenizedInput]], list[_Result]],
    too_large: Callable[[int], _Result],
) -> Iterator[_Result]:
    """Yield one result for each item.

    Args:
        items: The items; there may be no end.
        loaded: The model.
        encode: Returns tokens, or the result of an item that cannot be read.
        score: Returns the results of one batch.
        too_large: Returns the result of an item with this number of tokens, which does not fit the device's memory.

    Raises:
        ModelError: The model fails.
    """
    source = iter(items)
    while ahead := list(islice(source, window(loaded))):
        found: dict[int, _Result] = {}
        tokens: dict[int, TokenizedInput] = {}
        for index, item in enumerate(encode(ahead)):
            if isinstance(item, TokenizedInput):
                tokens[index] = item
            else:
                found[index] = item
        for batch in _batches(tokens, BATCH_TOKENS.get(loaded.device.type, ACCELERATOR_BATCH_TOKENS)):
            found.update(zip(batch, _scored([tokens[index] for index in batch], score, too_large), strict=True))
        for index in range(len(ahead)):
            yield found[index]


def refuse_too_large(tokens: int) -> NoReturn:
    """``too_large`` for callers that can only raise an error.

    Raises:
        ModelError: Always.
    """
    raise ModelError(
        f"expected memory for one input of {tokens} tokens; found too little on the device. Try another device, or "
        "lower max_tokens"
    )


def padded(batch: Sequence[TokenizedInput], loaded: Loaded) -> dict[str, Any]:
    """Return a batch as tensors on the model's device, padded on the right."""
    torch = library("torch")
    length = max(len(item.ids) for item in batch)
    ids = np.full((len(batch), length), loaded.pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    kinds = np.zeros_like(ids)
    for row, item in enumerate(batch):
        size = len(item.ids)
        ids[row, :size] = item.ids
        mask[row, :size] = 1
        kinds[row, : len(item.kinds)] = item.kinds
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    return {name: torch.from_numpy(array).to(loaded.device) for name, array in arrays.items()}


def _batches(tokens: Mapping[int, TokenizedInput], budget: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for index in sorted(tokens, key=lambda index: len(tokens[index].ids)):
        # Sorted by length, so this input has the length to which the batch is padded.
        if batches and (len(batches[-1]) + 1) * len(tokens[index].ids) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _scored(
    batch: list[TokenizedInput],
    score: Callable[[list[TokenizedInput]], list[_Result]],
    too_large: Callable[[int], _Result],
) -> list[_Result]:
    """Return the batch's results. The batch is halved until it fits the device's memory."""
    try:
        return score(batch)
    except library("torch").OutOfMemoryError:
        if len(batch) == 1:
            return [too_large(len(batch[0].ids))]
    except (RuntimeError, IndexError, ValueError) as error:  # raised by torch and transformers in a forward pass
        longest = max(len(item.ids) for item in batch)
        raise ModelError(
            f"expected the model to read {len(batch)} inputs of up to {longest} tokens; it failed: "
            f"{first_line(error)}. Try another device or checkpoint"
        ) from None
    # Outside the handler, whose exception would hold the batch's memory.
    half = len(batch) // 2
    return _scored(batch[:half], score, too_large) + _scored(batch[half:], score, too_large)


class Reader:
    """Reads texts with a model's tokenizer, and makes batches for the model.

    Threads may share it.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        takes_kinds = "token_type_ids" in inspect.signature(loaded.model.forward).parameters
        # Some tokenizers number the two texts for models with only one number, and GPT-2 takes the numbers for words.
        numbers = 2 if "token_type_ids" in loaded.tokenizer.model_input_names else 1
        self._kinds = takes_kinds and getattr(loaded.model.config, "type_vocab_size", numbers) > 1
        # A tokenizer of transformers stores the settings of a call in itself.
        self._tokenizing = Lock()

    def length(self, text: str) -> int:
        """Return the number of tokens of a text, without separators."""
        with self._tokenizing:
            return len(self._loaded.tokenizer(storable(text), add_special_tokens=False, **READING)["input_ids"])

    def read(self, firsts: Sequence[str], seconds: Sequence[str] | None = None, **limit: Any) -> list[TokenizedInput]:
        """Encode texts, or pairs of texts. ``limit`` says how the tokenizer cuts overlong inputs."""
        # Lists even for a single text: alone, an empty second text would count as none.
        texts = [[storable(text) for text in side] for side in (firsts, seconds) if side is not None]
        with self._tokenizing:
            found = self._loaded.tokenizer(*texts, **READING, **limit)
        kinds: list[list[int]] = [list[int]()] * len(firsts)
        if self._kinds and "token_type_ids" in found:
            kinds = found["token_type_ids"]
        return [TokenizedInput(as_text(found, row, self._loaded), kinds[row], False) for row in range(len(firsts))]

    def within(self, limit: int, firsts: Sequence[str], seconds: Sequence[str] | None = None) -> list[TokenizedInput]:
        """Encode like ``read``, and cut inputs to this number of tokens. Of a pair, the longer text is cut."""
        found = self.read(firsts, seconds)
        long = [index for index, tokens in enumerate(found) if len(tokens.ids) > limit]
        if not long:
            return found
        others = None if seconds is None else [seconds[index] for index in long]
        cut = self.read([firsts[index] for index in long], others, truncation="longest_first", max_length=limit)
        for index, tokens in zip(long, cut, strict=True):
            found[index] = tokens._replace(cut=True)
        return found

    def inputs(self, batch: Sequence[TokenizedInput]) -> dict[str, Any]:
        """Return a batch in the model's input format."""
        inputs = padded(batch, self._loaded)
        if not self._kinds:
            del inputs["token_type_ids"]
        return inputs
