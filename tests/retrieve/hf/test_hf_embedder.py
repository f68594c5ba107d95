"""Embedders from checkpoints: vectors of texts, of documents and of questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import KINDS, POSITIONS

import vericite.models.hf as batching
import vericite.retrieve.hf as names
from vericite.errors import InputError, ModelCardError, ModelError
from vericite.records import Document, Question
from vericite.retrieve.hf import EMBEDDERS, HFEmbedder, load_embedder
from vericite.retrieve.local import MemoryRetriever

pytestmark = pytest.mark.hf

TEXTS = [
    "Aspirin lowers fever in adults .",
    "",
    "The trial enrolled 400 adults in Norway .",
    "Statins lowered LDL cholesterol, and mortality was lower with dexamethasone . " * 8,
]
DOCUMENTS = [
    Document.from_text("a", "The trial enrolled 400 adults .", "Aspirin lowers fever"),
    Document.from_text("b", TEXTS[3], "Statins"),
    Document.from_text("c", "", "Norway"),
]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("embedders")
    return {kind: _encoder(kind, folder / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _encoder("bert", tmp_path_factory.mktemp("asking") / "asking", seed=7)


def _encoder(kind: str, folder: Path, seed: int = 0) -> Path:
    """Save the checkpoint without its head; BERT's also without its pooler, as is common."""
    tiny_models.classifier(kind, folder, seed=seed)
    choices = {"add_pooling_layer": False} if kind == "bert" else {}
    transformers.AutoModel.from_pretrained(folder, **choices).save_pretrained(folder)
    return folder


def states(folder: Path, *texts: str, limit: int = POSITIONS) -> tuple[Any, Any]:
    """Return the last hidden states of a plain forward pass, and the token ids."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    choices = {"add_pooling_layer": False} if folder.name in ("bert", "asking") else {}
    model = transformers.AutoModel.from_pretrained(folder, **choices).eval()
    inputs = tokenizer(*([text] for text in texts), truncation=True, max_length=limit, return_tensors="pt")
    if model.config.model_type == "roberta":
        inputs.pop("token_type_ids", None)
    with torch.no_grad():
        return model(**inputs).last_hidden_state[0].numpy(), inputs["input_ids"][0].tolist()


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_the_first_tokens_or_the_mean_of_all(checkpoints: Mapping[str, Path], kind: str):
    folder = checkpoints[kind]
    first, mean = (HFEmbedder(str(folder), pooling=pooling).embed(TEXTS) for pooling in ("cls", "mean"))
    for text, by_first, by_mean in zip(TEXTS, first, mean, strict=True):
        expected, _ = states(folder, text)
        assert by_first == pytest.approx(unit(expected[0]), abs=1e-5)
        assert by_mean == pytest.approx(unit(expected.mean(0)), abs=1e-5)
    assert (first.dtype, first.shape) == (np.float32, (4, 16))
    assert np.linalg.norm(first, axis=1) == pytest.approx(1, abs=1e-6)


def test_vectors_of_any_length_are_kept_on_request(checkpoints: Mapping[str, Path]):
    raw = HFEmbedder(str(checkpoints["bert"]), unit=False)
    expected, _ = states(checkpoints["bert"], TEXTS[0])
    assert raw.embed(TEXTS[:1])[0] == pytest.approx(expected[0], abs=1e-4)
    assert raw.signature != HFEmbedder(str(checkpoints["bert"])).signature


def test_a_question_uses_its_own_encoder(checkpoints: Mapping[str, Path], asking: Path):
    both = HFEmbedder(str(checkpoints["bert"]), str(asking))
    assert both.embed_query(TEXTS[0]) == pytest.approx(unit(states(asking, TEXTS[0])[0][0]), abs=1e-5)
    assert both.embed(TEXTS[:1])[0] == pytest.approx(unit(states(checkpoints["bert"], TEXTS[0])[0][0]), abs=1e-5)
    alone = HFEmbedder(str(checkpoints["bert"]))
    assert np.array_equal(alone.embed_query(TEXTS[0]), alone.embed(TEXTS[:1])[0])
    assert "+asking@" in both.signature and "+" not in alone.signature


def test_a_title_is_read_as_in_training(checkpoints: Mapping[str, Path]):
    folder = checkpoints["bert"]
    for titles in ("joined", "pair", "separated"):
        found = HFEmbedder(str(folder), titles=titles).embed_documents(DOCUMENTS)
        for document, vector in zip(DOCUMENTS, found, strict=True):
            texts = {
                "joined": (document.titled_text,),
                "pair": (document.title, document.text),
                "separated": (f"{document.title} [SEP] {document.text}",),
            }[titles]
            assert vector == pytest.approx(unit(states(folder, *texts)[0][0]), abs=1e-5), (titles, document.id)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_separated_title_is_followed_by_one_separator(checkpoints: Mapping[str, Path], kind: str):
    embedder = HFEmbedder(str(checkpoints[kind]), titles="separated")
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints[kind])
    short, long, _ = embedder._documents._encode_joined([(document.title, document.text) for document in DOCUMENTS])
    assert isinstance(short, batching.TokenizedInput) and isinstance(long, batching.TokenizedInput)
    end = tokenizer.sep_token_id
    assert (short.ids.count(end), short.kinds, short.ids[-1]) == (2, [], end)
    assert (len(long.ids), long.ids[-1], long.cut) == (POSITIONS, end, True)


def test_batches_change_nothing_and_no_texts_have_no_rows(
    checkpoints: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
):
    embedder = HFEmbedder(str(checkpoints["deberta"]), pooling="mean")
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    monkeypatch.setitem(batching.WINDOW, "cpu", 3)
    assert embedder.embed(TEXTS) == pytest.approx(alone, abs=1e-5)
    assert embedder.embed([]).shape == (0, 16)
    assert embedder.embed_documents([]).shape == (0, 16)


def test_unusable_arguments_are_errors(checkpoints: Mapping[str, Path], tmp_path: Path):
    folder = str(checkpoints["bert"])
    for choices in ({"pooling": "max"}, {"titles": "first"}, {"max_tokens": 1}):
        with pytest.raises(InputError, match="expected"):
            HFEmbedder(folder, **choices)
    t5 = tiny_models.asker(tmp_path / "t5")
    with pytest.raises((ModelCardError, ModelError)):
        HFEmbedder(str(t5)).embed(TEXTS)


def test_encoders_that_do_not_fit_together_are_refused(
    checkpoints: Mapping[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tiny_models, "SIZE", {**tiny_models.SIZE, "hidden_size": 32})
    with pytest.raises(InputError, match="found 32 for questions and 16 for documents"):
        HFEmbedder(str(checkpoints["bert"]), str(_encoder("bert", tmp_path / "wide")))


def test_non_finite_outputs_are_an_error(checkpoints: Mapping[str, Path]):
    embedder = HFEmbedder(str(checkpoints["bert"]))
    with torch.no_grad():
        embedder._documents._loaded.model.embeddings.LayerNorm.bias[0] = float("nan")
    with pytest.raises(ModelError, match="expected numbers from bert@"):
        embedder.embed(TEXTS)


def test_a_retriever_can_use_the_embedder(checkpoints: Mapping[str, Path], asking: Path):
    embedder = HFEmbedder(str(checkpoints["bert"]), str(asking))
    found = MemoryRetriever(DOCUMENTS, embedder).retrieve(Question(id="q", text="Does aspirin lower fever ?"), 3)
    assert {hit.document.id for hit in found} == {"a", "b", "c"}


def test_named_embedders_are_read_as_in_training(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(names, "HFEmbedder", lambda **choices: choices)
    assert load_embedder("someone/model") == {"checkpoint": "someone/model", "device": None}
    assert load_embedder("specter", "cpu") == {
        "checkpoint": "allenai/specter",
        "titles": "separated",
        "device": "cpu",
    }
    assert {name: load_embedder(name)["checkpoint"] for name in EMBEDDERS} == {
        "medcpt": "ncbi/MedCPT-Article-Encoder",
        "contriever": "facebook/contriever",
        "specter": "allenai/specter",
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("kind", KINDS)
def test_parity_with_sentence_transformers(checkpoints: Mapping[str, Path], kind: str, pooling: str):
    library = pytest.importorskip("sentence_transformers", reason="the package compared against is not installed")
    from sentence_transformers.models import Pooling, Transformer

    words = Transformer(str(checkpoints[kind]), max_seq_length=POSITIONS)
    theirs = library.SentenceTransformer(modules=[words, Pooling(16, pooling)], device="cpu")
    expected = theirs.encode(TEXTS, normalize_embeddings=True)
    assert HFEmbedder(str(checkpoints[kind]), pooling=pooling).embed(TEXTS) == pytest.approx(expected, abs=1e-5)
