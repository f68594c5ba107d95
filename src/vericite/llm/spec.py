"""Model specs: one line of text names a model and its address, in the shell, in files and in reports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from vericite import environment
from vericite.environment import KEY_PREFIX
from vericite.errors import InputError, LLMAccessError, UnknownNameError
from vericite.network.access import Key, is_loopback

_KEY_OF_ANY_HOST = "VERICITE_LLM_KEY"
"""An earlier variable with the key for every host. It is never sent, because other hosts would get it too."""

_EXAMPLES = "openai:gpt-4o-mini, ollama:llama3.2, http://localhost:8000/v1#model or gguf:/models/file.gguf"
_BLOCKS, _BLOCK = 64, 65536


class Provider(NamedTuple):
    """A service with a known address.

    Attributes:
        base_url: Address of its OpenAI-compatible interface.
        key_variable: Environment variable of its key; None if it needs no key.
    """

    base_url: str
    key_variable: str | None


PROVIDERS = {
    "anthropic": Provider("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "deepinfra": Provider("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "ollama": Provider("http://localhost:11434/v1", None),
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "vllm": Provider("http://localhost:8000/v1", None),
}


_HOST = re.compile(r"[a-z0-9]+(?:(?:\.|-+|_)[a-z0-9]+)*")
_IN_VARIABLE = str.maketrans({".": "_", "-": "__", "_": "___"})


def key_variable_of(scheme: str, host: str, port: int | None) -> str | None:
    """Return the environment variable with the key for a host; no other host's key is read from it.

    It is ``VERICITE_KEY_`` and the host in upper case, with ``_`` for a dot and ``__`` for a hyphen. A known provider's
    address has the provider's own variable. None if the host has other characters, so that two hosts could share it.
    """
    host = host.rstrip(".")
    if scheme == "https" and port in (None, 443):
        for known in PROVIDERS.values():
            if host == urlsplit(known.base_url).hostname:
                return known.key_variable
    if ":" in host:
        # No host name ends with such a character, so no other host has this variable.
        return f"{KEY_PREFIX}{re.sub('[^0-9a-f]', '_', host).upper()}_"
    return f"{KEY_PREFIX}{host.translate(_IN_VARIABLE).upper()}" if _HOST.fullmatch(host) else None


@dataclass(frozen=True)
class ModelSpec:
    """A model and its address.

    Attributes:
        provider: A name of ``PROVIDERS``, ``url`` for other addresses, ``gguf`` for a file run in this process.
        model: The service's name of the model, or the file's name.
        base_url: Address of the service; None for a file.
        path: The file; None for a service.
        adapter: An adapter file, as ``train inline`` writes it, or None.
        key_variable: Environment variable of the key; None if no key is ever sent.
    """

    provider: str
    model: str
    base_url: str | None = None
    path: Path | None = None
    key_variable: str | None = None
    adapter: Path | None = None

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Parse a spec such as ``openai:gpt-4o-mini``, ``http://host:port/v1#model`` or ``gguf:/path/file.gguf``.

        ``gguf:MODEL+ADAPTER`` is a file with an adapter.

        Raises:
            InputError: The spec names no model, or its address has invalid parts.
            UnknownNameError: Unknown provider.
        """
        provider, colon, model = text.strip().partition(":")
        if provider.lower() in ("http", "https"):
            return _of_address(text.strip())
        if not colon:
            raise InputError(f"expected a model such as {_EXAMPLES}; found {text!r}. Put its provider in front.")
        if provider == "gguf":
            return _of_file(model)
        if provider not in PROVIDERS:
            raise UnknownNameError("model provider", provider, [*PROVIDERS, "gguf", "http", "https"])
        known = PROVIDERS[provider]
        return cls(provider, _named(model, f"{provider}:"), known.base_url, None, known.key_variable)

    @cached_property
    def signature(self) -> str:
        """Identifies the model in reports and in the cache; for a service it parses back to the spec.

        A file is identified by its name, its size and a hash over samples of it, not by its folder.
        """
        if self.path is not None:
            files = [self.path] if self.adapter is None else [self.path, self.adapter]
            return "gguf:" + "+".join(f"{file.name}@{weights_fingerprint(file)}" for file in files)
        return f"{self.base_url}#{self.model}" if self.provider == "url" else f"{self.provider}:{self.model}"

    @property
    def needs_key(self) -> bool:
        """Whether calls without a key are refused."""
        return self.provider in PROVIDERS and self.key_variable is not None

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine; decided from the address alone, without a lookup."""
        return self.base_url is None or is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def takes_grammar(self) -> bool:
        """Whether it may be llama.cpp, the only one that reads GBNF grammars."""
        return self.provider in ("gguf", "url")


def _of_address(text: str) -> ModelSpec:
    parts = _split(text)
    model = _named(parts.fragment, "an address and '#'")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port is None else f":{parts.port}"
    base_url = f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
    variable = key_variable_of(parts.scheme, parts.hostname or "", parts.port)
    return ModelSpec("url", model, base_url, None, variable)


def _split(text: str) -> SplitResult:
    # A message must not repeat the address before it is known to contain no password.
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError("expected an address such as http://localhost:8000/v1#model; found a malformed one.") from None
    if "@" in parts.netloc:
        raise InputError(
            "expected an address without user name and password; found one with them. "
            f"Remove them, and put the key into the environment variable {_variable_named(parts)}."
        )
    if parts.query:
        raise InputError(
            "expected an address without a query ('?...'); found one with it. "
            f"Remove it; a key belongs in the environment variable {_variable_named(parts)}."
        )
    if not host or _unprintable(parts.netloc + parts.path):
        raise InputError(f"expected an address such as http://localhost:8000/v1#model; found {text!r}. Correct it.")
    if not parts.fragment.strip():
        raise InputError(f"expected '#' and the model's name at the end of the address; found {text!r}. Add them.")
    return parts


def _variable_named(parts: SplitResult) -> str:
    """Return the variable for a host, for a message."""
    found = key_variable_of(parts.scheme, parts.hostname or "", parts.port)
    return found or f"{KEY_PREFIX}HOST, with the host's name for HOST"


def _of_file(name: str) -> ModelSpec:
    if not name.strip():
        raise InputError("expected a file after 'gguf:'; found nothing. Name the model's .gguf file.")
    path, adapter = Path(name).expanduser().absolute(), None
    base, plus, rest = name.rpartition("+")
    if plus and not path.is_file():
        # A file name may contain a plus.
        path, adapter = Path(base).expanduser().absolute(), Path(rest).expanduser().absolute()
    for file, what in ((path, "model"), (adapter, "adapter")):
        if file is not None and not file.is_file():
            raise InputError(
                f"expected a GGUF {what} file at {file}; found none. Download the model, or correct the path."
            )
    model = path.name if adapter is None else f"{path.name}+{adapter.name}"
    return ModelSpec("gguf", model, None, path, None, adapter)


def _named(model: str, after: str) -> str:
    name = model.strip()
    if not name or _unprintable(name):
        raise InputError(f"expected a model's name after {after}; found {name!r}. A spec looks like {_EXAMPLES}.")
    return name


def _unprintable(text: str) -> bool:
    return re.search(r"\s", text) is not None or not text.isprintable()


def weights_fingerprint(path: Path) -> str:
    """Hash the size and samples of the file: gigabytes of weights are not read just to identify them."""
    size = path.stat().st_size
    digest = sha256(str(size).encode())
    with path.open("rb") as file:
        for index in range(_BLOCKS):
            file.seek(max(0, size - _BLOCK) * index // (_BLOCKS - 1))
            digest.update(file.read(_BLOCK))
    return digest.hexdigest()[:16]


def key_of(spec: ModelSpec) -> Key:
    """Return the key for a model; empty if none is needed and none is set.

    Raises:
        LLMAccessError: The service needs a key, and the environment has none or an invalid one.
    """
    if spec.key_variable is None:
        return Key(None, "")
    # No local variable holds the value: a traceback that shows locals would print it.
    key = Key(spec.key_variable, environment.text(spec.key_variable) or "")
    if not key and spec.provider == "url" and not spec.local and environment.text(_KEY_OF_ANY_HOST):
        raise LLMAccessError(
            f"expected the key for {spec.base_url} in the environment variable {spec.key_variable}; found "
            f"{_KEY_OF_ANY_HOST}, which is not sent because every host would get it. Set {spec.key_variable}, or unset "
            f"{_KEY_OF_ANY_HOST} if this host needs no key."
        )
    if not key and spec.needs_key:
        raise LLMAccessError(
            f"expected the key for {spec.signature} in the environment variable {spec.key_variable}; "
            f"found none. Set it: export {spec.key_variable}=..."
        )
    if not key.sendable:
        raise LLMAccessError(
            f"expected a key of printable ASCII characters in the environment variable {spec.key_variable}; "
            "found others. Copy the key again."
        )
    return key
