"""What the ready experiments name, on loopback: services of language models, NCBI, Hugging Face's cache, data.

Run as a program, it is ``vericite`` with these services, and can be killed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

sys.path.extend(str(Path(__file__).resolve().parents[1] / home) for home in ("llm", "corpus/entrez", "verify/hf"))

from entrez_server import Article, EntrezServer
from server import Answering, Arrival, ScriptedServer, body_of, status
from test_gguf_header import header
from test_gguf_header import number as whole

NCBI = "eutils.ncbi.nlm.nih.gov"
LOCAL = "gguf.localhost"
"""Stands for models in this process."""

KEYS = {
    "api.deepinfra.com": ("DEEPINFRA_API_KEY", "key-of-deepinfra"),
    "openrouter.ai": ("OPENROUTER_API_KEY", "key-of-openrouter"),
    "api.openai.com": ("OPENAI_API_KEY", "key-of-openai"),
    "localhost": ("VERICITE_KEY_LOCALHOST", "key-of-localhost"),
    LOCAL: ("VERICITE_KEY_GGUF_LOCALHOST", "key-of-a-file"),
    NCBI: ("NCBI_API_KEY", "key-of-ncbi"),
}
"""The variable with each host's key, as documented, and the key."""
NOT_SENT = {"ANTHROPIC_API_KEY": "key-of-anthropic", "VERICITE_LLM_KEY": "key-of-any-host"}
PORTS = "REHEARSAL_PORTS"


# The services


class Hosts(ScriptedServer):
    """Every host of language models at once; each model answers in its own style.

    Attributes:
        refused: Part of the name of a model whose every call is refused.
        too_long: Words of a question that no model has the context for.
        pause: Seconds before each reply.
    """

    def __init__(self) -> None:
        super().__init__()
        self.default = self.behave
        self.refused = ""
        self.too_long = ""
        self.pause = 0.0

    def behave(self, answering: Answering, arrival: Arrival) -> None:
        answering.wait(self.pause)
        host, model = host_of(arrival), arrival.body["model"]
        text = "\n".join(message["content"] for message in arrival.body["messages"])
        if self.too_long and self.too_long in text:
            return _too_long(host)(answering, arrival)
        if self.refused and self.refused in model:
            return status(400, "this model is loaded no more")(answering, arrival)
        return answering.send(200, json.dumps(_completion(host, model, said(model, text))))


def said(model: str, text: str) -> str:
    """The reply of a model, as it writes."""
    if '{"query": "..."}' in text:
        return '{"query": "velotrexine amorinol sitavalone percudine chronic cough"}'
    if '"categories"' in text:
        numbers = re.findall(r"(?m)^(\d+)\. ", text.partition("<reasoning")[2].partition("</reasoning")[0])
        labels = [{"index": int(each), "label": "CORRECT-EXPLICIT"} for each in numbers]
        return json.dumps({"categories": labels, "faithfulness": 0.9, "quality": 4, "verdict": "CORRECT"})
    if '"final_answer"' in text:
        steps = [
            {"question": "What was compared?", "quotes": [], "statement": statement}
            for statement in ("The drug was compared with placebo.", "Coughs became rarer.")
        ]
        return json.dumps({"claims": steps, "conclusion": "It reduces coughs.", "final_answer": "yes"})
    if asked := re.findall(r"Does (\w+) reduce chronic cough, group", text):
        # The last one is the question; demonstrations come before.
        option = decided(asked[-1])
        cited = " [1]" if re.search(r"\bdocuments?\b", text) and "[1]" in text else ""
        if "FINAL ANSWER" in text:
            return f"**Rationale:**\n\n1. {asked[-1]} was compared with placebo{cited}.\n\nFINAL ANSWER: {option}"
        return f"{option[3:].capitalize()}, as {asked[-1]} was compared with placebo{cited}."
    if "FINAL ANSWER" in text:
        return "The drug is sweet [1].\n\nFINAL ANSWER: A. yes"
    name = model.lower()
    if "mistral" in name:
        return " The drug reduced coughs by a third [1]. It was well tolerated [1, 2]. Adults took it daily [2].\n"
    if "llama" in name:
        return (
            "Based on the provided source documents, the drug reduced coughs by a third [1][2]. "
            "Adverse effects were rare [2].\n\nNote: the documents do not cover children."
        )
    if "claude" in name:
        return "Here's what the documents report:\n\nThe drug reduced coughs by a third [1]. It was well tolerated [2]."
    return "The drug reduced coughs by a third [1]. It was well tolerated by adults [2]."


def decided(drug: str) -> str:
    """What every model answers about a drug; for one of four it is wrong."""
    return "B. no" if drug == "percudine" else "A. yes"


def _completion(host: str, model: str, text: str) -> dict[str, Any]:
    """The reply's object with the fields that each service adds."""
    usage: dict[str, Any] = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
    found = body_of(text, usage=usage)
    found["model"] = model
    choice = found["choices"][0]
    choice["logprobs"] = None
    if host == "openrouter.ai":
        found |= {"id": "gen-1", "provider": "Somewhere"}
        choice |= {"native_finish_reason": "end_turn"}
        choice["message"] |= {"refusal": None, "reasoning": None}
        usage |= {"cost": 0.0001, "cost_details": {"upstream_inference_cost": None}, "is_byok": False}
    elif host == "api.deepinfra.com":
        usage |= {"estimated_cost": 0.00001, "prompt_tokens_details": None}
        choice["message"] |= {"name": None, "tool_calls": None, "reasoning_content": None}
    elif host == "api.openai.com":
        found |= {"service_tier": "default", "system_fingerprint": "fp_1"}
        choice["message"] |= {"refusal": None, "annotations": []}
        usage |= {"completion_tokens_details": {"reasoning_tokens": 0}}
    else:
        found |= {"prompt_logprobs": None, "kv_transfer_params": None}
        choice |= {"stop_reason": None}
        choice["message"] |= {"reasoning_content": None, "tool_calls": []}
    return found


def _too_long(host: str) -> Any:
    """A refusal of a prompt beyond the context, in each service's form."""
    words = "This model's maximum context length is 32768 tokens. However, you requested 63000 tokens."
    if host == "openrouter.ai":
        # With the status of success.
        return lambda answering, _: answering.send(200, json.dumps({"error": {"message": words, "code": 400}}))
    if host == "api.deepinfra.com":
        return lambda answering, _: answering.send(400, json.dumps({"detail": {"error": words}}))
    return status(400, {"message": words, "type": "invalid_request_error", "code": "context_length_exceeded"})


def host_of(arrival: Any) -> str:
    return arrival.headers["host"].partition(":")[0]


def redirect(patch: pytest.MonkeyPatch, hosts: int, ncbi: int) -> None:
    """Let every request of this process go to loopback, under the name of its host; a host unknown here is refused."""
    whole, one = httpx2.AsyncHTTPTransport.handle_async_request, httpx2.HTTPTransport.handle_request

    def led(request: httpx2.Request) -> httpx2.Request:
        host = request.url.host
        if host not in KEYS:
            raise AssertionError(f"asked of {host}")
        if host not in (NCBI, "localhost", LOCAL) and request.url.scheme != "https":
            raise AssertionError(f"a key in clear text for {host}")
        request.url = request.url.copy_with(
            scheme="http", host="127.0.0.1", port=ncbi if host == NCBI else hosts,
            path=request.url.path.replace("/entrez/", "/"),
        )  # fmt: skip
        return request

    async def asynchronous(self: Any, request: httpx2.Request) -> httpx2.Response:
        return await whole(self, led(request))

    def plain(self: Any, request: httpx2.Request) -> httpx2.Response:
        return one(self, led(request))

    patch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", asynchronous)
    patch.setattr(httpx2.HTTPTransport, "handle_request", plain)
    patch.setattr("vericite.llm.local.LocalModel", _local_model)


def _local_model(spec: Any, context: int | None = None) -> Any:
    """A model in this process, whose replies come from the service."""
    from vericite.llm.service import ModelService
    from vericite.llm.spec import ModelSpec

    class Local(ModelService):
        signature = spec.signature

    return Local(ModelSpec.parse(f"http://{LOCAL}/v1#{spec.model}"), 1)


# Their data

DRUGS = ("velotrexine", "amorinol", "sitavalone", "percudine")
PER_DRUG = 20
OTHERS, COLOURS, FORMS = ("mirtolane", "quorivir"), ("blue", "green"), ("syrup", "tablet", "spray", "patch")
"""Words of training questions, which share no drug with the others."""
ASKED = 4


def abstract(drug: str, place: int) -> str:
    return (
        f"We studied {drug} in {100 + place} adults with chronic cough. What is the effect of the drug was asked. "
        f"{drug.capitalize()} reduced coughs by a third. It was well tolerated. Does it reduce chronic cough for long? "
        f"Headache was the commonest adverse effect, in {place} adults."
    )


ARTICLES = [
    Article(str(1000 + 100 * number + place), f"{drug.capitalize()} for cough, trial {place}.", abstract(drug, place))
    for number, drug in enumerate(DRUGS)
    for place in range(PER_DRUG)
]
"""What PubMed has, and the files of documents."""


def given(file: Path, files: Mapping[str, str]) -> list[str]:
    """The data as ``--set`` takes it, where the experiment has such a name; models stay as it names them."""
    from vericite.lab.experiment.config import Experiment

    words: list[str] = []
    for name, default in Experiment.load(file).values.items():
        if name in files and (name != "model" or default.endswith(".gguf")):
            words += ["--set", f"{name}={'gguf:' if default.startswith('gguf:') else ''}{files[name]}"]
    return words


def material(folder: Path) -> dict[str, str]:
    """Write the data: 520 questions of BioASQ, MIRAGE, documents, articles, and the header of a model."""
    bioasq, mirage = folder / "BioASQ-training13b.json", folder / "benchmark.json"
    corpus, articles, model = folder / "corpus.jsonl", folder / "articles.xml", folder / "model.gguf"
    bioasq.write_text(json.dumps({"questions": [_bioasq(number) for number in range(520)]}))
    yes_no = {str(number): mirage_row(number) for number in range(80)}
    maybe = {id: {**row, "options": {**row["options"], "C": "maybe"}, "PMID": 1} for id, row in yes_no.items()}
    mirage.write_text(
        json.dumps({"bioasq": {id: {**row, "PMID": [1]} for id, row in yes_no.items()}, "pubmedqa": maybe})
    )
    rows = [
        {"id": article.pmid, "pmid": article.pmid, "title": article.title, "text": article.abstract}
        for article in ARTICLES
    ]
    for number, drug in enumerate(OTHERS):
        text = f"The syrup, the tablet, the spray and the patch of {drug} are sweet, be they blue or green."
        rows += [{"id": f"{8000 + 10 * number + place}", "title": drug, "text": text} for place in range(6)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    articles.write_text(f"<articles>{''.join(map(_jats, ARTICLES))}</articles>")
    model.write_bytes(header(whole("llama.context_length", 8192)))
    asked = [f"Is the {colour} {form} of {drug} sweet?" for colour in COLOURS for form in FORMS for drug in OTHERS]
    training = [
        {
            "id": f"t{number}",
            "type": "yesno",
            "body": text,
            "exact_answer": "yes",
            "ideal_answer": ["Yes, it is."],
            "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/8000"],
        }
        for number, text in enumerate(asked)
    ]
    (folder / "training.json").write_text(json.dumps({"questions": training}))
    pubmedqa = {
        str(90_000 + number): {
            "QUESTION": text, "CONTEXTS": ["The drug is sweet."], "LABELS": ["RESULTS"], "MESHES": ["Cough"],
            "YEAR": "2019", "final_decision": ("yes", "no", "maybe")[number % 3], "LONG_ANSWER": "It seems so.",
        }
        for number, text in enumerate(asked)
    }  # fmt: skip
    (folder / "ori_pqal.json").write_text(json.dumps(pubmedqa))
    (folder / "test_ground_truth.json").write_text(json.dumps({"99999": "yes"}))
    pools = {f"{name}_pool": str(folder / f"{name}-pool.jsonl") for name in ("bioasq", "pubmedqa")}
    return pools | {
        "bioasq": str(bioasq), "mirage": str(mirage), "corpus": str(corpus), "without": str(corpus),
        "articles": str(articles), "model": str(model),
    }  # fmt: skip


def _bioasq(number: int) -> dict[str, Any]:
    """A question; every fourth is about what PubMed knows nothing of."""
    drug, kind = DRUGS[number % 4], ("factoid", "list", "summary")[number % 3]
    known = number % 4 != 3
    gold = [
        f"http://www.ncbi.nlm.nih.gov/pubmed/{1000 + 100 * (number % 4) + place}" for place in range(3 + number % 5)
    ]
    exact = {"factoid": [["a third"]], "list": [["headache"], ["cough"]]}.get(kind)
    return {
        "id": f"{number:04d}", "type": kind, "documents": gold,
        "body": f"What is the effect of {drug} on chronic cough?" if known else "Why do quibberwocks wabe?",
        "ideal_answer": [f"{drug.capitalize()} reduces coughs by a third and is well tolerated."],
        **({"exact_answer": exact} if exact else {}),
    }  # fmt: skip


def mirage_row(number: int) -> dict[str, Any]:
    options, drug = {"A": "yes", "B": "no"}, DRUGS[number % 4]
    return {
        "question": f"Does {drug} reduce chronic cough, group {number}?",
        "options": options,
        "answer": "AB"[number % 2],
    }


def _jats(article: Article) -> str:
    return (
        '<article article-type="research-article"><front><article-meta>'
        f'<article-id pub-id-type="pmid">{article.pmid}</article-id>'
        f"<title-group><article-title>{article.title}</article-title></title-group>"
        f"<abstract><p>{article.abstract}</p></abstract></article-meta></front>"
        f"<body><sec><title>Results</title><p>{article.abstract}</p></sec></body></article>"
    )


# Checkpoints of the true architecture

CHECKPOINTS = {
    "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli": "deberta",
    "BAAI/bge-reranker-v2-m3": "reranker",
    "ncbi/MedCPT-Article-Encoder": "bert",
    "ncbi/MedCPT-Query-Encoder": "bert",
    "facebook/contriever": "bert",
    "allenai/specter": "bert",
    "roberta-large": "roberta",
}


def hub(folder: Path) -> Path:
    """Tiny checkpoints of random weights in a cache as the hub's client leaves it."""
    made: dict[str, Path] = {}
    for name, kind in CHECKPOINTS.items():
        made[kind] = made.get(kind) or _checkpoint(kind, folder / kind)
        home, commit = folder / "hub" / f"models--{name.replace('/', '--')}", "0123456789" * 4
        (home / "refs").mkdir(parents=True)
        (home / "refs" / "main").write_text(commit)
        (home / "snapshots").mkdir()
        (home / "snapshots" / commit).symlink_to(made[kind], target_is_directory=True)
    return folder / "hub"


def _checkpoint(kind: str, folder: Path) -> Path:
    import tiny_models
    import transformers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_models, "POSITIONS", 512)
        if kind == "roberta":
            # BERTScore reads its 17th layer.
            patch.setattr(tiny_models, "SIZE", {**tiny_models.SIZE, "num_hidden_layers": 24})
        labels = ("LABEL_0",) if kind == "reranker" else tiny_models.LABELS
        tiny_models.classifier({"reranker": "roberta"}.get(kind, kind), folder, labels)
    if kind == "reranker":
        tiny_models.change(folder, model_type="xlm-roberta", architectures=["XLMRobertaForSequenceClassification"])
    elif kind != "deberta":
        transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).save_pretrained(folder)
    return folder


def environment(cache: Path, hub_cache: Path | None = None) -> dict[str, str]:
    """The environment of a run: all keys, and nothing of the user's."""
    found = {name: value for name, value in KEYS.values()} | NOT_SENT
    found |= {"VERICITE_CACHE": str(cache), "VERICITE_OFFLINE": "", "NCBI_EMAIL": "", "COLUMNS": "120"}
    if hub_cache is not None:
        found |= {"HF_HUB_CACHE": str(hub_cache), "HF_HUB_OFFLINE": "1"}
    return found


def services() -> tuple[Hosts, EntrezServer]:
    return Hosts(), EntrezServer(ARTICLES, per_second=10)


def port_of(ncbi: EntrezServer) -> int:
    return int(ncbi.url.split(":")[2].split("/")[0])


def main() -> None:
    """Run ``vericite`` with the services at the ports of the environment."""
    from vericite.cli import main as vericite

    hosts, ncbi = map(int, os.environ[PORTS].split(","))
    with pytest.MonkeyPatch.context() as patch:
        redirect(patch, hosts, ncbi)
        vericite()


if __name__ == "__main__":
    main()
