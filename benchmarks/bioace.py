"""BioACE's parts on K-QA: the judge's agreement with annotators, nugget recall of cut gold answers, completeness.

Usage: python benchmarks/bioace.py [--kqa FOLDER] [--healthver FOLDER] [--questions 40] [--only PART] [--llm MODEL ...]
    [--sample N] [--encoder CHECKPOINT --runs FOLDER] [--sizes 3]

Completeness: a must-have statement is required, a nice-to-have one borderline. The other two labels are made by a rule
and told apart: unnecessary is a must-have statement of another question of the same part, inappropriate is one with its
verb negated. Questions are split 60 / 20 / 20 by a hash of their text, and statements of a later part are left out of
the earlier ones. The classifier's strength is chosen on the second part; what is tested is trained on both.

Correctness: HealthVer's claims with all sentences of a document that support them, one case a claim and document.
Classifiers are trained on its training claims before 60 % of the documents, and tested on its test claims before the
others. Training claims come without questions, so the negatives of training are those that BM25 ranks best for the
claim. What starts from the bundled verifier has seen most test documents with other claims: its rows say so.

With --encoder checkpoints are fine-tuned for completeness and for correctness, each in a folder of its own under
--runs, where an ended run goes on; epochs are chosen on a share of the training questions or documents (--config). It
needs torch (vericite[train]). For correctness one model is trained a size of windows.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_recall_fscore_support
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vericite.datasets.registry import source_named
from vericite.errors import Problems
from vericite.evaluate.agreement import CohenKappa, RatedItems
from vericite.evaluate.resampling import Bootstrap
from vericite.lab.assess.checkpoint import labeller_of
from vericite.lab.assess.completeness import (
    LABELS,
    AnswerSentence,
    ByClassifier,
    ByModel,
    Labeller,
    train_classifier,
)
from vericite.lab.assess.correctness import (
    WINDOW,
    Marked,
    Scorer,
    WindowExample,
    auc,
    by_cosine,
    by_judge,
    by_length,
    classical,
    examples,
)
from vericite.lab.assess.mixture import fit_mixture
from vericite.lab.assess.nuggets import score_nuggets, similarities, split_nuggets
from vericite.llm import LLM, ChatRequest, Settings
from vericite.models import Embedder
from vericite.models.embedder import Reranker
from vericite.records import Document, Gold, SentenceLabel, Verdict
from vericite.text.sentences import split_sentences
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.registry import load_judge
from vericite.verify.protocol import get_protocol
from vericite.verify.verifier import ClaimsToJudge, Verifier

SHARES = (1.0, 0.75, 0.5, 0.25)
AS_A_DOCTOR = "You are a doctor. Answer the patient's question in one paragraph of full sentences."


SAID = {"supported": "Entailment", "contradicted": "Contradiction", "irrelevant": "Neutral"}


def agreement(path: Path) -> None:
    """Kappa of the verifier with the majority, as users run it, beside each annotator's with the others'.

    An answer is one document. Pairs of a question are drawn together.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    def told(who: str, ratings: Sequence[tuple[str, str | None]], chosen: Sequence[dict[str, str]]) -> None:
        rated = RatedItems(ratings, groups=[row["answer"] for row in chosen])
        found = CohenKappa().of(rated, Bootstrap())[0].estimate
        print(f"{who}: kappa {found.value:.3f} [{found.low:.3f}, {found.high:.3f}] (n {len(ratings)})", flush=True)

    asked = [ClaimsToJudge((Document.from_text("answer", row["answer"]),), ((row["claim"], (0,)),)) for row in rows]
    for protocol in ("default", "vericite"):
        judged = [results[0][0] for results in Verifier(get_protocol(protocol)).judge_claims(asked)]
        said = [SAID[one.label] if isinstance(one, Verdict) else None for one in judged]
        told(
            f"{protocol} with majority", [(row["majority_label"], it) for row, it in zip(rows, said, strict=True)], rows
        )
    names = [name for name in rows[0] if name.startswith("label_")]
    for name in names:
        first, second = (other for other in names if other != name)
        agreed = [row for row in rows if row[first] == row[second]]
        told(f"{name} with the other two where they agree", [(row[first], row[name]) for row in agreed], agreed)


def recall(path: Path, count: int, models: Sequence[str]) -> None:
    """Kendall's tau a question between nugget recall and how much of the gold answer is left.

    Beside it the recall of another question's answer, and of what language models answer from what they know.
    """
    problems = Problems()
    gold = source_named(f"kqa:{path}").gold(problems)
    kept = [it for it in gold.values() if it.nuggets and it.ideal and len(split_sentences(it.ideal[0])) >= 4][:count]
    embedder = Embedder.shared()
    matrices, unrelated = [], []
    answered: dict[str, list] = {}
    for place, one in enumerate(kept):
        text = one.ideal[0]
        spans = split_sentences(text)
        nuggets = [it.text for it in one.nuggets or ()]
        cuts = [text[: spans[max(round(len(spans) * share), 1) - 1].end] for share in SHARES]
        matrices.append([similarities(embedder, split_nuggets(cut), nuggets) for cut in cuts])
        unrelated.append(similarities(embedder, split_nuggets(kept[place - 1].ideal[0]), nuggets))
    for model in models:
        requests = [ChatRequest.ask(one.question or "", AS_A_DOCTOR) for one in kept]
        with LLM(model, Settings(concurrency=1, timeout=600, deadline=1200)) as llm:
            said = [reply.text for reply in llm.map(requests)]
        answered[model] = [
            similarities(embedder, split_nuggets(text), [it.text for it in one.nuggets or ()])
            for text, one in zip(said, kept, strict=True)
        ]
        print(f"{model}: {np.mean([len(text.split()) for text in said]):.0f} words an answer", flush=True)
    train = [found[0].ravel() for found in matrices] + [found.ravel() for found in unrelated]
    mixture = fit_mixture(np.concatenate(train), embedder.signature)
    print(f"{mixture.signature}, means {mixture.means}, turns at {mixture.turns_at}")
    for way in ("greedy", "optimal"):
        recalls = np.array([[score_nuggets(it, mixture, way).recall or 0 for it in found] for found in matrices])
        # All alike is no order at all: it counts as 0.
        taus = np.nan_to_num([kendalltau(row, SHARES).statistic for row in recalls])
        named = {f"{share:.0%}": list(row) for share, row in zip(SHARES, zip(*matrices, strict=True), strict=True)}
        named |= {"unrelated": unrelated} | answered
        scored = np.array([[score_nuggets(it, mixture, way).recall or 0 for it in found] for found in named.values()])
        print(f"{way}: tau {taus.mean():.3f} (n {len(taus)}); recall of", flush=True)
        for name, found in zip(named, Bootstrap().means(scored.T), strict=True):
            print(f"  {name}: {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]", flush=True)


AUXILIARY = re.compile(r"\b(is|are|was|were|can|may|should|will|would|could|must|has|have|does|do)\b(?! not)")
CHOICES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def negated(text: str) -> str | None:
    """The statement with its first auxiliary negated; None where it has none."""
    return AUXILIARY.sub(r"\1 not", text, count=1) if AUXILIARY.search(text) else None


def sentences_of(path: Path) -> dict[str, list[tuple[str, AnswerSentence, SentenceLabel]]]:
    """Labelled statements by part of the split, each with its question's id; no text is in two parts."""
    problems = Problems()
    split: dict[str, list[Gold]] = {"test": [], "dev": [], "train": []}
    for one in source_named(f"kqa:{path}").gold(problems).values():
        if one.nuggets and one.question:
            share = int(hashlib.sha256(one.question.encode()).hexdigest(), 16) % 100
            split["train" if share < 60 else "dev" if share < 80 else "test"].append(one)
    found: dict[str, list[tuple[str, AnswerSentence, SentenceLabel]]] = {}
    seen: set[str] = set()
    for part, gold in split.items():
        rows: list[tuple[str, AnswerSentence, SentenceLabel]] = []
        for place, one in enumerate(gold):
            own = [(it.text, "required" if it.vital else "borderline") for it in one.nuggets]
            known = {text for text, _ in own}
            elsewhere = [it.text for it in gold[place - 1].nuggets if it.vital and it.text not in known]
            other = [(text, "unnecessary") for text in elsewhere[:2]]
            wrong = [(text, "inappropriate") for it in one.nuggets if it.vital and (text := negated(it.text))][:2]
            rows += [(one.id, AnswerSentence(one.question, text), label) for text, label in (*own, *other, *wrong)]
        # Questions share statements. The test part keeps its own, and the others go without them.
        found[part] = [row for row in rows if plain(row[1].sentence) not in seen]
        seen |= {plain(row[1].sentence) for row in rows}
    return found


def plain(text: str) -> str:
    """A text without case, marks and spaces, by which it is known again."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def completeness(
    path: Path,
    models: Sequence[str],
    sample: int | None,
    strengths: Sequence[float],
    bases: Sequence[str],
    runs: Path,
    config: Path | None,
) -> None:
    """P, R and F1 of each way to label sentences, weighted by label, on the test part."""
    parts = sentences_of(path)
    print("sentences: " + ", ".join(f"{name} {dict(Counter(it[2] for it in rows))}" for name, rows in parts.items()))
    embedder = Embedder.shared()
    train, held = ([(asked, label) for _, asked, label in parts[name]] for name in ("train", "dev"))

    def trained(strength: float, rows: list[tuple[AnswerSentence, SentenceLabel]]) -> ByClassifier:
        return ByClassifier(train_classifier(rows, embedder, strength), embedder)

    def f1(labeller: Labeller, rows: list) -> float:
        said = [one.label or "none" for one in labeller.label([asked for _, asked, _ in rows])]
        return f1_score([label for *_, label in rows], said, average="weighted", labels=list(LABELS), zero_division=0)

    on_dev = {strength: f1(trained(strength, train), parts["dev"]) for strength in strengths}
    best = max(on_dev, key=on_dev.__getitem__)
    print("dev, weighted F1 by strength: " + ", ".join(f"{key:g} {value:.3f}" for key, value in on_dev.items()))
    ways = {"always the commonest label": None, f"classifier (strength {best:g})": trained(best, train + held)}
    ways |= {model: ByModel(LLM(model)) for model in models}
    for base in bases:
        name = Path(base).name
        ways[f"encoder, fine-tuned from {name}"] = tuned_labeller(
            base, runs / f"completeness-{name}", train + held, config
        )
    commonest = Counter(label for _, label in train + held).most_common(1)[0][0]
    for name, way in ways.items():
        if name in models and sample:
            # Language models alone, which are slow.
            rows = sorted(parts["test"], key=lambda row: hashlib.sha256("\0".join(row[1]).encode()).digest())[:sample]
        else:
            rows = parts["test"]
        gold = [label for *_, label in rows]
        asked = [one for _, one, _ in rows]
        said = [commonest] * len(gold) if way is None else [it.label or "none" for it in way.label(asked)]
        print(f"{name} (n {len(gold)}, failed {said.count('none')}): {shown(rows, gold, said)}", flush=True)
        each = f1_score(gold, said, average=None, labels=list(LABELS), zero_division=0)
        print("  F1: " + ", ".join(f"{label} {value:.3f}" for label, value in zip(LABELS, each, strict=True)))


def tuned_labeller(
    base: str, out: Path, train: list[tuple[AnswerSentence, SentenceLabel]], config: Path | None
) -> Labeller:
    """A checkpoint fine-tuned on the labelled sentences."""
    from vericite.lab.assess.completeness import asked_hash
    from vericite.lab.train.configs import LabelConfig
    from vericite.lab.train.labels import LabelRun, completeness_texts, train_with_card

    run = LabelRun(base, out, completeness_texts(train), LABELS)
    settings = LabelConfig() if config is None else LabelConfig.load(config)
    print(f"{out.name}: {train_with_card(run, [asked_hash(asked) for asked, _ in train], settings, told)}", flush=True)
    return labeller_of(str(out), None, Embedder.shared())


def shown(rows: list, gold: list[str], said: list[str]) -> str:
    """Weighted P, R and F1, the latter with an interval over questions."""
    options = {"average": "weighted", "labels": list(LABELS), "zero_division": 0}
    p, r, f, _ = precision_recall_fscore_support(gold, said, **options)
    groups: dict[str, list[int]] = {}
    for place, (question, *_) in enumerate(rows):
        groups.setdefault(question, []).append(place)
    keys, random, drawn = list(groups), np.random.default_rng(0), []
    for _ in range(1000):
        places = [at for key in random.choice(keys, len(keys)) for at in groups[key]]
        drawn.append(f1_score([gold[at] for at in places], [said[at] for at in places], **options))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"P {p:.3f}, R {r:.3f}, F1 {f:.3f} [{low:.3f}, {high:.3f}]"


def marked(folder: Path, part: str) -> list[Marked]:
    """HealthVer's claims, each with all sentences of a document that support it: one case a claim and document.

    Training claims come without questions: there the claim stands for its question.
    """
    documents = {it["doc_id"]: it for it in map(json.loads, (folder / "multivers" / "corpus.jsonl").open())}
    questions: dict[str, str] = {}
    if part == "test":
        with (folder / "healthver_test.csv").open(encoding="utf-8", newline="") as file:
            questions = {row["claim"].strip(): row["question"] for row in csv.DictReader(file)}
    found: list[Marked] = []
    for record in claims(folder, part):
        claim = record["claim"].strip()
        for document, spans in record["evidence"].items():
            # Most documents are of training and test claims alike: whoever has seen a document knows its spans.
            if (int(hashlib.sha256(document.encode()).hexdigest(), 16) % 100 < 60) != (part == "train"):
                continue
            supporting = frozenset(at for span in spans if span["label"] == "SUPPORT" for at in span["sentences"])
            if supporting:
                sentences = tuple(documents[int(document)]["abstract"])
                found.append(Marked(claim, questions.get(claim, claim), sentences, supporting, document))
    return found


def claims(folder: Path, part: str) -> Iterator[dict[str, Any]]:
    """Claims with their evidence."""
    with (folder / "multivers" / f"claims_{part}.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def by_reranker(reranker: Reranker) -> Scorer:
    """How relevant a window is to the sentence."""

    def score(rows: Sequence[WindowExample]) -> np.ndarray:
        windows: dict[str, list[str]] = {}
        for one in rows:
            windows.setdefault(one.sentence, []).append(one.window)
        found = {
            (sentence, window): value
            for sentence, texts in windows.items()
            for window, value in zip(texts, reranker.logits(sentence, texts), strict=True)
        }
        return np.array([found[one.sentence, one.window] for one in rows], dtype=np.float64)

    return score


def remembered(score: Scorer) -> Scorer:
    """Each pair is scored once, however often it is asked for."""
    known: dict[WindowExample, float] = {}

    def score_new(rows: Sequence[WindowExample]) -> np.ndarray:
        if new := [one for one in dict.fromkeys(rows) if one not in known]:
            known.update(zip(new, score(new).tolist(), strict=True))
        return np.array([known[one] for one in rows])

    return score_new


def by_learnt_length(train: Sequence[WindowExample]) -> Scorer:
    """Length alone, the shorter or the longer as training pairs have it."""
    turn = 1.0 if auc(np.array([one.correct for one in train]), by_length(train)) >= 0.5 else -1.0
    return lambda rows: turn * by_length(rows)


def fitted(train: Sequence[WindowExample], scorers: Sequence[Scorer]) -> Scorer:
    """A logistic regression over what the bundled models say, the overlap of words, and the length."""

    def features(rows: Sequence[WindowExample]) -> np.ndarray:
        columns = [score(rows) for score in scorers]
        words = [(set(one.sentence.lower().split()), set(one.window.lower().split())) for one in rows]
        columns.append(np.array([len(a & b) / max(len(a), 1) for a, b in words]))
        return np.column_stack([*columns, -by_length(rows) / 1000])

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(features(train), [one.correct for one in train])
    return lambda rows: model.decision_function(features(rows))


def encoder(base: str, out: Path, train: Sequence[WindowExample], config: Path | None) -> Scorer:
    """A checkpoint fine-tuned on the pairs, as the judge that it then is."""
    from vericite.lab.train.configs import LabelConfig
    from vericite.lab.train.labels import LabelRun, correctness_texts, train_labels

    texts = correctness_texts(train)
    run = LabelRun(base, out, texts, tuple(sorted({it.label for it in texts})))
    settings = LabelConfig() if config is None else LabelConfig.load(config)
    print(f"  {out.name}: {train_labels(run, settings, told)}", flush=True)
    return by_judge(load_judge(f"hf:{out}"))


def told(step: int, loss: float) -> None:
    """Now and then."""
    if step % 20 == 0:
        print(f"  step {step}, loss {loss:.3f}", file=sys.stderr, flush=True)


def correctness(folder: Path, sizes: Sequence[int], bases: Sequence[str], runs: Path, config: Path | None) -> None:
    """AUC and macro-F1 on HealthVer's test claims of each way, by how negatives are chosen and by size of window."""
    parts = {part: marked(folder, part) for part in ("train", "test")}
    tested = {it.group for it in parts["test"]}
    seen = tested & {document for record in claims(folder, "train") for document in record["evidence"]}
    counts = {part: f"{len(rows)} cases of {len({it.group for it in rows})} documents" for part, rows in parts.items()}
    print(f"training {counts['train']}, test {counts['test']}")
    print(f"the bundled verifier was trained on claims of {len(seen)} of the {len(tested)} test documents")
    cosine, nli = remembered(by_cosine(Embedder.shared())), remembered(by_judge(BundledJudge()))
    reranked = remembered(by_reranker(Reranker.shared()))
    for size in sizes:
        # Without questions of training claims there is one way to choose their negatives.
        train = examples(parts["train"], "sentence", size)
        tuned = {base: encoder(base, runs / f"correctness-{size}-{Path(base).name}", train, config) for base in bases}
        length = by_learnt_length(train)
        # What learns has a bar of its own, and what does not has the best one on training pairs.
        ways: dict[str, tuple[Scorer, float]] = {
            "length alone": (length, best_bar(train, length)),
            "cosine": (cosine, best_bar(train, cosine)),
            "reranker": (reranked, best_bar(train, reranked)),
            "SVM": (classical(train, "svm").score, 0.0),
            "LR": (classical(train, "logistic").score, 0.0),
            "LR over cosine, reranker, words, length": (fitted(train, [cosine, reranked]), 0.0),
            "NLI (bundled verifier: has seen the documents)": (nli, best_bar(train, nli)),
            "LR over cosine, NLI, words, length (has seen the documents)": (fitted(train, [cosine, nli]), 0.0),
        }
        ways |= {f"encoder, fine-tuned from {Path(base).name}": (score, 0.5) for base, score in tuned.items()}
        for ranked in ("question", "sentence") if size == WINDOW else ("question",):
            test = examples(parts["test"], ranked, size)
            gold = np.array([one.correct for one in test])
            print(
                f"window {size}, test negatives by {ranked}: {len(train)} pairs for training, {len(test)} for testing"
            )
            for name, (score, bar) in ways.items():
                report(name, test, gold, score(test), bar)


def best_bar(train: Sequence[WindowExample], score: Scorer) -> float:
    """The score from which on a pair is correct, by the best macro-F1 on training pairs."""
    found = score(train)
    return float(max(np.nanquantile(found, np.linspace(0.02, 0.98, 49)), key=lambda cut: macro(train, found >= cut)))


def report(name: str, test: Sequence[WindowExample], gold: np.ndarray, scores: np.ndarray, bar: float) -> None:
    """A row of a table."""
    low, high = auc_interval(test, gold, scores)
    area, f1 = auc(gold, scores), macro(test, scores >= bar)
    failed = f", {count} without a score" if (count := int(np.isnan(scores).sum())) else ""
    print(f"  {name}: AUC {area:.3f} [{low:.3f}, {high:.3f}], macro-F1 {f1:.3f}{failed}", flush=True)


def macro(rows: Sequence[WindowExample], said: np.ndarray) -> float:
    """Macro-F1."""
    return float(f1_score([one.correct for one in rows], said, average="macro"))


def auc_interval(rows: Sequence[WindowExample], gold: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Drawn over documents."""
    groups: dict[str, list[int]] = {}
    for place, one in enumerate(rows):
        groups.setdefault(one.group, []).append(place)
    keys, random, drawn = list(groups), np.random.default_rng(0), []
    for _ in range(1000):
        places = np.concatenate([groups[key] for key in random.choice(keys, len(keys))])
        drawn.append(auc(gold[places], scores[places]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    """Print all parts, or one."""
    parser = argparse.ArgumentParser(description="BioACE's parts on K-QA.")
    parser.add_argument("--kqa", type=Path, default=Path("../shared/data/kqa/dataset"))
    parser.add_argument("--healthver", type=Path, default=Path("../shared/data/healthver"))
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--only", choices=["recall", "agreement", "completeness", "correctness"])
    parser.add_argument("--llm", action="append", default=[], help="a language model that labels and answers too")
    parser.add_argument(
        "--strengths", type=float, nargs="+", default=CHOICES, help="of the classifier, chosen on the second part"
    )
    parser.add_argument("--sample", type=int, help="the language model labels so many sentences, chosen by their hash")
    parser.add_argument(
        "--encoder", nargs="+", default=[], help="checkpoints to fine-tune: folders, or names on huggingface.co"
    )
    parser.add_argument("--config", type=Path, help="how it is trained, as `bioace train-completeness --config`")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where it is trained")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 3, 4], help="of windows, for correctness")
    given = parser.parse_args()
    trained = (given.encoder, given.runs, given.config)
    answers = given.kqa / "questions_w_answers.jsonl"
    if given.only in (None, "recall"):
        recall(answers, given.questions, given.llm)
    if given.only in (None, "agreement"):
        agreement(given.kqa / "NLI_medical_annotator.csv")
    if given.only in (None, "completeness"):
        completeness(answers, given.llm, given.sample, given.strengths, *trained)
    if given.only in (None, "correctness"):
        correctness(given.healthver, given.sizes, *trained)


if __name__ == "__main__":
    main()
