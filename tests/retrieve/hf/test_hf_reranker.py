"""Cross-encoders from checkpoints: relevance, and refused checkpoints."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import KINDS

import vericite.models.hf as batching
import vericite.models.hf as loading
import vericite.retrieve.hf as names
from vericite.errors import InputError, ModelCardError, ModelError, ModelMissingError
from vericite.retrieve.hf import RERANKERS, HFReranker, load_reranker
from vericite.retrieve.rerank import Rerank

pytestmark = pytest.mark.hf

QUESTION = "Does aspirin lower fever ?"
TEXTS = [
    "Aspirin lowers fever in adults .",
    "",
    "The trial enrolled 400 adults in Norway .",
    "Statins lowered LDL cholesterol, and mortality was lower with dexamethasone . " * 8,
    "lower \ud800 mortality",
]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("rerankers")
    return {kind: tiny_models.classifier(kind, folder / kind, ("score",)) for kind in KINDS}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.classifier("bert", tmp_path_factory.mktemp("two") / "two", ("LABEL_0", "LABEL_1"))


def plain(folder: Path, question: str, text: str) -> Any:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = tokenizer([question], [text], truncation=True, max_length=tiny_models.POSITIONS, return_tensors="pt")
    if model.config.model_type == "roberta":
        inputs.pop("token_type_ids", None)
    with torch.no_grad():
        return model(**inputs).logits[0]


@pytest.mark.parametrize("kind", KINDS)
def test_relevance_is_the_sigmoid_of_a_plain_forward_pass(checkpoints: Mapping[str, Path], kind: str):
    expected = [plain(checkpoints[kind], QUESTION, text).sigmoid().item() for text in TEXTS[:4]]
    found = HFReranker(str(checkpoints[kind])).relevance(QUESTION, TEXTS[:4])
    assert found == pytest.approx(expected, abs=1e-5)
    assert (found.dtype, found.shape) == (np.float32, (4,))
    assert len(set(found.round(4))) == 4


def test_with_two_outputs_relevance_is_the_share_of_the_relevant_one(two: Path, tmp_path: Path):
    expected = [plain(two, QUESTION, text).softmax(-1)[1].item() for text in TEXTS[:4]]
    assert HFReranker(str(two)).relevance(QUESTION, TEXTS[:4]) == pytest.approx(expected, abs=1e-5)
    turned = Path(shutil.copytree(two, tmp_path / "turned"))
    tiny_models.change(turned, id2label=tiny_models.numbered(["relevant", "not relevant"]))
    other = HFReranker(str(turned)).relevance(QUESTION, TEXTS[:4])
    assert other == pytest.approx([1 - share for share in expected], abs=1e-5)


@pytest.mark.parametrize("labels", [tiny_models.LABELS, ("entailment", "not_entailment"), ("1", "positive")])
def test_a_classifier_that_does_not_rank_is_refused(tmp_path: Path, labels: tuple[str, ...]):
    folder = tiny_models.classifier("bert", tmp_path / "other", labels)
    with pytest.raises(ModelCardError, match="expected a cross-encoder with one output"):
        HFReranker(str(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_relevance_does_not_depend_on_the_batch(
    checkpoints: Mapping[str, Path], kind: str, monkeypatch: pytest.MonkeyPatch
):
    reranker = HFReranker(str(checkpoints[kind]))
    alone = np.concatenate([reranker.relevance(QUESTION, [text]) for text in TEXTS])
    assert reranker.relevance(QUESTION, TEXTS) == pytest.approx(alone, abs=1e-4)
    monkeypatch.setitem(batching.WINDOW, "cpu", 2)
    assert reranker.relevance(QUESTION, TEXTS[::-1]) == pytest.approx(alone[::-1], abs=1e-4)
    assert reranker.relevance(QUESTION, []).shape == (0,)


def test_both_the_given_limit_and_the_models_own_apply(checkpoints: Mapping[str, Path]):
    long = [TEXTS[3], TEXTS[3] + " and more"]
    short = HFReranker(str(checkpoints["bert"]), max_tokens=20)
    assert short.relevance(QUESTION, long)[0] == short.relevance(QUESTION, long)[1]
    assert short.signature.endswith("(max_tokens=20)")
    assert HFReranker(str(checkpoints["bert"])).signature.endswith("(max_tokens=40)")
    with pytest.raises(InputError, match="max_tokens of at least 8"):
        HFReranker(str(checkpoints["bert"]), max_tokens=7)


def test_relevance_of_large_outputs_is_0_or_1(checkpoints: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch):
    reranker = HFReranker(str(checkpoints["bert"]))
    extremes = np.array([-1e30, -200, 0, 200, 1e30], dtype=np.float32)
    monkeypatch.setattr(reranker, "logits", lambda *_: extremes)
    assert reranker.relevance(QUESTION, TEXTS).tolist() == [0, 0, 0.5, 1, 1]


def test_non_finite_outputs_are_an_error(checkpoints: Mapping[str, Path]):
    reranker = HFReranker(str(checkpoints["bert"]))
    with torch.no_grad():
        reranker._loaded.model.classifier.bias[0] = float("nan")
    with pytest.raises(ModelError, match="expected numbers from hf:bert@"):
        reranker.relevance(QUESTION, TEXTS)


def test_batches_are_halved_when_memory_runs_out_and_a_single_text_is_an_error(
    checkpoints: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
):
    reranker = HFReranker(str(checkpoints["bert"]))
    expected = reranker.relevance(QUESTION, TEXTS)
    score, bar = reranker._score, [40]

    def starved(batch: list[batching.TokenizedInput]) -> Any:
        if len(batch) > 1 or len(batch[0].ids) > bar[0]:
            raise torch.OutOfMemoryError("no memory")
        return score(batch)

    monkeypatch.setattr(reranker, "_score", starved)
    assert reranker.relevance(QUESTION, TEXTS) == pytest.approx(expected, abs=1e-4)
    bar[0] = 39
    with pytest.raises(ModelError, match="expected memory for one input of 40 tokens"):
        reranker.relevance(QUESTION, TEXTS)


def test_threads_may_share_a_reranker(checkpoints: Mapping[str, Path]):
    reranker = HFReranker(str(checkpoints["bert"]))
    expected = reranker.relevance(QUESTION, TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: reranker.relevance(QUESTION, TEXTS), range(16)):
            assert found == pytest.approx(expected, abs=1e-5)


def test_a_separator_in_a_text_is_read_as_text(checkpoints: Mapping[str, Path]):
    reader = HFReranker(str(checkpoints["bert"]))._reader
    (tokens,) = reader.within(40, ["a [SEP] b"], ["c [SEP]"])
    assert tokens.ids.count(3) == 2


def test_the_reranker_ranks_evidence(checkpoints: Mapping[str, Path]):
    reranker = HFReranker(str(checkpoints["bert"]))
    assert Rerank(reranker, prior=0).signature == f"rerank20({reranker.signature}, prior=0)"


def test_names_are_checkpoints_and_offline_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(loading.OFFLINE, "1")
    asked: list[str] = []
    monkeypatch.setattr(names, "HFReranker", lambda checkpoint, _: asked.append(checkpoint))
    for name in (*RERANKERS, "someone/model"):
        load_reranker(name)
    assert asked == ["ncbi/MedCPT-Cross-Encoder", "BAAI/bge-reranker-v2-m3", "someone/model"]
    monkeypatch.undo()
    monkeypatch.setenv(loading.OFFLINE, "1")
    with pytest.raises(ModelMissingError, match="VERICITE_OFFLINE is set"):
        load_reranker("medcpt")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_parity_with_sentence_transformers(checkpoints: Mapping[str, Path], kind: str):
    library = pytest.importorskip("sentence_transformers", reason="the package compared against is not installed")
    theirs = library.CrossEncoder(str(checkpoints[kind]), max_length=tiny_models.POSITIONS, device="cpu")
    expected = theirs.predict([(QUESTION, text) for text in TEXTS[:4]])
    assert HFReranker(str(checkpoints[kind])).relevance(QUESTION, TEXTS[:4]) == pytest.approx(expected, abs=1e-5)
