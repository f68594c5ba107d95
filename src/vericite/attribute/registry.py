"""Attributors by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vericite.attribute.attributor import Attributor
from vericite.errors import InputError, MissingExtraError, UnknownNameError
from vericite.llm import Settings
from vericite.verify.protocol import Protocol


@dataclass(frozen=True)
class Kind:
    """An attributor: what it does, how it is made, and what its name takes behind a colon."""

    summary: str
    make: Callable[[str, Protocol | None, Settings], Attributor]
    takes: str = ""


def _verifier(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.verified import VerifierAttributor

    return VerifierAttributor(protocol)


def _likeliest(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.verified import LikeliestAttributor

    return LikeliestAttributor(protocol)


def _cosine(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.baselines import CosineAttributor
    from vericite.models.embedder import Embedder

    return CosineAttributor(Embedder.shared())


def _random(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.baselines import RandomAttributor

    return RandomAttributor()


def _multi_label(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.baselines import MultiLabelAttributor
    from vericite.attribute.learned import HEAD
    from vericite.models.folder import ModelFolder

    folder = Path(rest).expanduser()
    if (folder / HEAD).is_file():
        return _by_head(folder / HEAD, protocol)
    return MultiLabelAttributor(ModelFolder.open(folder))


def _learned(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.learned import BUNDLED

    return _by_head(BUNDLED, protocol)


def _by_head(file: Path, protocol: Protocol | None) -> Attributor:
    from vericite.attribute.learned import Head, LearnedAttributor
    from vericite.models.embedder import Embedder
    from vericite.verify.judges.registry import load_judge
    from vericite.verify.protocol import get_protocol

    judge = (protocol or get_protocol("default")).judge
    return LearnedAttributor(Head.read(file), load_judge(judge) if isinstance(judge, str) else judge, Embedder.shared())


def _decoder(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    try:
        from vericite.attribute.decoder import DecoderAttributor

        return DecoderAttributor(Path(rest).expanduser())
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("vericite"):
            raise
        raise MissingExtraError("train", "`--by hf:FOLDER`") from None


def _llm(rest: str, protocol: Protocol | None, settings: Settings) -> Attributor:
    from vericite.attribute.baselines import LlmAttributor
    from vericite.llm import LLM

    return LlmAttributor(LLM(rest, settings))


ATTRIBUTORS: dict[str, Kind] = {
    "verifier": Kind("each source that the protocol finds to support the sentence", _verifier),
    "learned": Kind("what a small network makes of all sources together, as the verifier reads them", _learned),
    "likeliest": Kind("as verifier, and what stands out, one or two sources a sentence in all: to look at", _likeliest),
    "cosine": Kind("each source with a sentence near enough in meaning, by the bundled embedder", _cosine),
    "random": Kind("by chance, for comparison", _random),
    "multi-label": Kind("a head or classifier of your own, over several sources at once", _multi_label, "FOLDER"),
    "hf": Kind("a decoder with a label a source, of your own", _decoder, "FOLDER"),
    "llm": Kind("the sources that a language model names", _llm, "MODEL"),
}
"""Every attributor by name."""

DEFAULT = "learned"
"""Beats the others on held-out questions (docs/results/answers.md); it is fitted to the bundled judge alone."""


def usual(protocol: str, judge: str | None) -> str:
    """Who finds sources where nobody is named: with a protocol or a judge of the user's own it is that which does."""
    return DEFAULT if protocol == "default" and judge in (None, "bundled") else "verifier"


def load_attributor(name: str, protocol: Protocol | None = None, settings: Settings | None = None) -> Attributor:
    """The attributor of this name, as in ``likeliest`` or ``llm:MODEL``.

    Args:
        name: A name, and for some a colon and what they take.
        protocol: How the verifying ones judge; the default protocol if None.
        settings: For those that ask a language model: limits, time-outs, cache.

    Raises:
        UnknownNameError: There is none.
        InputError: What follows the colon is missing, or there should be nothing.
        ModelError: There is no usable model in the folder named.
    """
    kind, colon, rest = name.partition(":")
    found = ATTRIBUTORS.get(kind)
    if found is None:
        raise UnknownNameError("way to attribute", kind, ATTRIBUTORS)
    if bool(rest) != bool(found.takes) or (colon and not rest):
        expected = f"{kind}:{found.takes}" if found.takes else kind
        raise InputError(f"expected {expected}; found {name!r}. {found.summary[:1].upper()}{found.summary[1:]}.")
    return found.make(rest, protocol, settings or Settings())
