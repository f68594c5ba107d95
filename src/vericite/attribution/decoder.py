# torch, transformers and peft come with the extra [train] only, and their own annotations are incomplete.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
"""Decoders that label each source: their input, and citations by a decoder from ``train attribution --base``.

The decoder reads sources, question and sentence. A head on its last token has one label per source, like MultiAttr's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pydantic import Field, ValidationError
from torch import Tensor, nn

from vericite.attribution.attributor import Attributor, SourcesFound
from vericite.errors import InputError, ModelCardError, ModelMissingError
from vericite.models.hf import find_checkpoint, quiet, torch_device
from vericite.network.access import offline_by_environment
from vericite.records import Answer, Record, first_problem

CARD, WEIGHTS, ADAPTER = "decoder.json", "head.safetensors", "adapter"


class DecoderCard(Record):
    """The description in a decoder's folder.

    Attributes:
        base: The decoder under the adapter: a Hugging Face name, a folder or a GGUF file.
        k: Number of labels: sources read at a time.
        threshold: Minimum probability for citing a source.
        max_tokens: Maximum number of tokens read.
    """

    base: str = Field(min_length=1)
    k: int = Field(ge=1)
    threshold: float = Field(ge=0, le=1)
    max_tokens: int = Field(ge=16)


class LabelledDecoder(nn.Module):
    """A decoder with one label per source on its last token."""

    def __init__(self, decoder: Any, labels: int) -> None:
        super().__init__()
        self.decoder = decoder
        self.head = nn.Linear(decoder.config.hidden_size, labels)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return a row of logits for each input, on the CPU; padding is on the right."""
        place = self.head.weight.device
        hidden = self.decoder(input_ids=ids.to(place), attention_mask=mask.to(place)).last_hidden_state
        last = mask.sum(dim=1).to(place) - 1
        return self.head(hidden[torch.arange(len(ids), device=place), last].float()).cpu()


class ShownToDecoder(NamedTuple):
    """The input of a decoder: a sentence, and title and text of each source."""

    question: str | None
    sentence: str
    sources: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The input as one text."""
        sources = "\n".join(
            f"[{number}] {title} {text}".strip() for number, (title, text) in enumerate(self.sources, start=1)
        )
        question = f"\n\nQuestion: {self.question}" if self.question else ""
        return f"Sources:\n{sources}{question}\n\nSentence: {self.sentence}\n\nSupported by:"

    def ids(self, tokenizer: Any, most: int) -> list[int]:
        """Return the tokens. Sources are cut at the end when the whole is too long; the sentence is never cut."""
        found: list[int] = tokenizer(self.text)["input_ids"]
        if len(found) <= most:
            return found
        share = most / len(found) * 0.9
        cut = tuple((title, text[: max(40, int(len(text) * share))]) for title, text in self.sources)
        return tokenizer(self._replace(sources=cut).text)["input_ids"][-most:]


def base_signature(base: str) -> str:
    """Return name and version of a decoder. A run uses it to recognize its base, even under the same name.

    Raises:
        InputError: The GGUF file cannot be read.
        ModelError: There is no such checkpoint, or it is not safe to load.
    """
    path = Path(base).expanduser()
    if path.suffix != ".gguf":
        return find_checkpoint(base, offline_by_environment()).signature
    try:
        with path.open("rb") as file:
            return f"{path.name}@{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"
    except OSError as error:
        raise InputError(f"expected a decoder in {base}; found an unreadable file: {error.strerror}") from None


def load_decoder(base: str, causal: bool) -> tuple[Any, Any]:
    """Load a decoder and its tokenizer from a Hugging Face name, a folder, or a GGUF file (Llama or Qwen).

    Raises:
        InputError: It cannot be read as a decoder, or there is no such GGUF file.
        ModelError: There is no such checkpoint, or it is not safe to load.
    """
    import transformers

    kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModel
    path = Path(base).expanduser()
    try:
        with quiet():
            if path.suffix == ".gguf":
                given = {"gguf_file": path.name}
                model = kind.from_pretrained(str(path.parent), dtype=torch.float32, **given)
                return model, transformers.AutoTokenizer.from_pretrained(str(path.parent), **given)
            folder = str(find_checkpoint(base, offline_by_environment()).folder)
            model = kind.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
            return model, transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        raise InputError(f"expected a decoder in {base}; found an unreadable one: {str(error)[:300]}") from None


def load_labelled(base: str, labels: int, folder: Path) -> tuple[LabelledDecoder, Any]:
    """Load a decoder with the adapter and the head in a folder, and its tokenizer.

    Raises:
        ModelCardError: Adapter or head belong to another decoder.
        InputError: The decoder cannot be read.
        ModelError: There is no such decoder, or it is not safe to load.
    """
    import peft
    from safetensors.torch import load_file

    decoder, tokenizer = load_decoder(base, causal=False)
    try:
        module = LabelledDecoder(peft.PeftModel.from_pretrained(decoder, str(folder / ADAPTER)), labels)
        module.head.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelCardError(
            f"expected adapter and head of {base} in {folder}; found others: {str(error)[:200]}"
        ) from None
    module.eval()
    return module, tokenizer


class DecoderAttributor(Attributor):
    """Cites the sources that a decoder's labels select. More sources than labels are read in groups.

    Args:
        folder: A folder written by ``vericite train attribution --base``.
        threshold: Minimum probability for citing a source. Default: the folder's own.
        device: Where to compute: cpu, cuda or auto.

    Raises:
        ModelMissingError: There is no such folder.
        ModelCardError: The folder holds something else.
        InputError: The decoder cannot be read.
    """

    def __init__(self, folder: Path, threshold: float | None = None, device: str = "cpu") -> None:
        self._card = _card(folder)
        self.threshold = self._card.threshold if threshold is None else threshold
        if not 0 <= self.threshold <= 1:
            raise InputError(f"expected a threshold between 0 and 1; found {threshold}")
        module, self._tokenizer = load_labelled(self._card.base, self._card.k, folder)
        self._module = module.to(torch_device(device))
        files = (folder / WEIGHTS, folder / ADAPTER / "adapter_model.safetensors")
        self._digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]

    @property
    def signature(self) -> str:
        """The decoder, the weights and the threshold."""
        return f"decoder.v1({Path(self._card.base).name}@{self._digest}, k={self._card.k}, {self.threshold:g})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Read one sentence at a time."""
        for answer in answers:
            sources = tuple((document.title, document.text) for document in answer.documents)
            yield [self._found(answer.question, claim.text, sources) for claim in answer.claims]

    def _found(self, question: str | None, sentence: str, sources: tuple[tuple[str, str], ...]) -> SourcesFound:
        scores: list[float] = []
        for start in range(0, len(sources), self._card.k):
            some = sources[start : start + self._card.k]
            scores += self.probabilities(ShownToDecoder(question, sentence, some))
        return SourcesFound(
            tuple(scores), tuple(place for place, score in enumerate(scores) if score >= self.threshold)
        )

    def probabilities(self, shown: ShownToDecoder) -> list[float]:
        """Return the probability that each source supports the sentence."""
        ids = torch.tensor([shown.ids(self._tokenizer, self._card.max_tokens)])
        with torch.no_grad():
            odds = torch.sigmoid(self._module(ids, torch.ones_like(ids)))[0]
        return [round(float(value), 6) for value in odds[: len(shown.sources)]]


def _card(folder: Path) -> DecoderCard:
    path = folder / CARD
    try:
        return DecoderCard.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelMissingError(
            f"expected a decoder's {CARD} in {folder}; found: {error.strerror}. Make one: "
            "vericite train attribution --base"
        ) from None
    except (ValidationError, UnicodeDecodeError) as error:
        problem = "no UTF-8" if isinstance(error, UnicodeDecodeError) else ": ".join(filter(None, first_problem(error)))
        raise ModelCardError(f"expected a decoder's {CARD} in {folder}; {problem}") from None
