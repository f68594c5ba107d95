"""``vericite bioace score``: every table that labels allow, and what the other rows need."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

# The service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import ScriptedServer, reply

pytest.importorskip("sklearn", reason="the extra [eval] is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples" / "bioace"
COMMAND = ("bioace", "score", f"medaesqa:{EXAMPLES / 'answers.json'}", "--gold", str(EXAMPLES / "nuggets.json"))


def rows(printed) -> dict[tuple[str, str, str | None], dict]:
    return {(row["table"], row["row"], row["system"]): row for row in json.loads(printed.out)}


def test_medaesqa_and_nuggets_fill_every_table_but_the_judged_one(run_cli):
    printed = run_cli(*COMMAND, "--json")
    assert printed.code == 0, printed.err
    found = rows(printed)
    assert found["nuggets (table 1)", "recall", "M4"]["value"] > found["nuggets (table 1)", "recall", "M3"]["value"]
    assert found["sentences (completeness)", "completeness", "M3"]["value"] == 0
    assert found["sentences (completeness)", "harmfulness", "M3"]["value"] == pytest.approx(1 / 3)
    assert found["citations by labels", "support", "M1"]["value"] == 0.75
    assert found["citations by labels", "contradiction", "M3"]["value"] == pytest.approx(2 / 3)
    tau = found["rankings (A1)", "Kendall's tau-b, nugget recall with recall (R+B)", None]
    assert tau["value"] > 0
    assert "--documents" in found["citations by document (tables 4, A6)", "P, R, F1", None]["needs"]
    assert "fitted to the scored answers" in printed.err


def test_all_systems_have_the_row_of_the_paper(run_cli):
    listed = json.loads(run_cli(*COMMAND, "--set", "tables=1", "--json").out)
    shown = {(row["row"], row["system"]): row for row in listed}
    systems = ("M1", "M2", "M3", "M4")
    precision, recall = (
        sum(shown[share, system]["value"] for system in systems) / 4 for share in ("precision", "recall")
    )
    found = {share: shown[share, None] for share in ("precision", "recall", "F1")}
    assert found["precision"]["value"] == pytest.approx(precision)
    assert found["recall"]["value"] == pytest.approx(recall)
    # As 36.43 and 47.74 give 41.33, where a mean of the answers' F1 would be lower.
    assert found["F1"]["value"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert found["F1"]["value"] > sum(shown["F1", system]["value"] for system in systems) / 4
    assert (found["F1"]["n"], found["F1"]["by"]) == (2, "bundled")


@pytest.mark.parametrize("head", ["verbatim = true", 'system = "List the facts."'])
def test_a_prompt_for_nuggets_may_name_the_question(run_cli, tmp_path, head: str):
    prompt = tmp_path / "prompt.toml"
    prompt.write_text(f'name = "m"\nversion = 1\nabout = "x"\n{head}\nuser = "Asked: {{question}} Text: {{text}}"\n')
    known = [topic["question"] for topic in json.loads((EXAMPLES / "answers.json").read_text())]
    with ScriptedServer() as server:
        server.default = reply("Iron helps.\nIron is cheap.")
        files = ("--documents", str(EXAMPLES / "documents.jsonl"), "--set", f"nugget_prompt={prompt}")
        chosen = ("--llm", server.spec, "--set", "tables=1,A5", "--set", "judge=lexical", "--set", "draws=100")
        printed = run_cli(*COMMAND, *files, *chosen)
        assert printed.code == 0, printed.err
        asked = [question.partition(" Text: ")[0] for question in server.questions]
    assert asked and all(any(question in text for question in known) for text in asked)


def test_with_documents_a_judge_fills_the_rest(run_cli, tmp_path):
    documents = tmp_path / "documents.jsonl"
    texts = {"1100": "Iron supplements lower fatigue in women without anaemia.", "1200": "Statins lower heart attacks."}
    lines = [{"id": pmid, "pmid": pmid, "sections": [{"text": text}]} for pmid, text in texts.items()]
    documents.write_text("\n".join(map(json.dumps, lines)))
    printed = run_cli(*COMMAND, "--documents", str(documents), "--set", "judge=lexical", "--json")
    found = rows(printed)
    for table in (
        "citations by document (tables 4, A6)",
        "citations by the most similar sentence (tables 5, A3)",
        "citations by lists of nuggets (table A5)",
    ):
        assert (table, "P, R, F1", None) not in found
        assert 0 <= found[table, "R, supporting", None]["value"] <= 1
        assert found[table, "R, supporting", None]["by"] == "lexical"


def test_without_gold_nuggets_the_other_tables_are_made(run_cli):
    found = rows(run_cli(*COMMAND[:3], "--json"))
    assert "--gold" in found["nuggets (table 1)", "precision, recall, F1", None]["needs"]
    assert found["citations by labels", "support", "M1"]["value"] == 0.75


def test_embedders_are_compared_with_the_clusters_of_a_file(run_cli, tmp_path):
    clusters = tmp_path / "clusters.json"
    of = {"0": [{"answer_sentence_id": f"M{system}-1"} for system in (1, 2, 4)], "1": [{"answer_sentence_id": "M1-2"}]}
    clusters.write_text(json.dumps({"iron": {"required_and_borderline_answer_sentences_cluster": of}}))
    printed = run_cli(*COMMAND, "--set", "embedder=bundled", "--set", f"clusters=SimCSE={clusters}", "--json")
    row = rows(printed)["rankings (A1)", "Spearman's rho, nugget recall with recall (R+B) by SimCSE", None]
    assert (row["n"], row["by"]) == (4, "bundled") and row["value"] > 0
    clusters.write_text("[]")
    refused = run_cli(*COMMAND, "--set", f"clusters={clusters}")
    assert refused.code == 2 and "expected clusters" in refused.err.replace("\n", " ")
    both = run_cli(*COMMAND, "--set", "embedder=bundled,hf:x", "--set", "save_mixture=m.json")
    assert both.code == 2 and "a file for each embedder" in both.err.replace("\n", " ")


def test_a_mixture_is_kept_and_taken_again(run_cli, tmp_path):
    kept = tmp_path / "mixture.json"
    assert run_cli(*COMMAND, "--set", f"save_mixture={kept}", "--set", "threshold=0.6").code == 0
    again = run_cli(*COMMAND, "--set", f"mixture={kept}", "--set", "align=optimal")
    assert again.code == 0
    assert "fitted to the scored answers" not in again.err
    assert "threshold=0.6" in again.err.replace("\n", "")


def test_gold_without_nuggets_is_refused(run_cli, tmp_path):
    empty = tmp_path / "gold.json"
    empty.write_text("{}")
    printed = run_cli(*COMMAND[:3], "--gold", str(empty))
    assert printed.code == 2
    assert "expected gold" in printed.err


def test_answers_without_labels_say_what_each_row_needs(run_cli, tmp_path):
    answers, gold = tmp_path / "answers.jsonl", tmp_path / "gold.json"
    answers.write_text(
        json.dumps({"id": "q", "answer": "Iron helps [1].", "documents": [{"id": "d", "text": "Iron."}]})
    )
    gold.write_text(json.dumps({"other": ["Iron helps."]}))
    found = rows(run_cli("bioace", "score", str(answers), "--gold", str(gold), "--json"))
    assert all(row["needs"] for row in found.values())


def test_a_classifier_is_trained_and_labels_sentences(run_cli, tmp_path):
    kept = tmp_path / "classifier.json"
    trained = run_cli("bioace", "train-completeness", COMMAND[2], "--out", str(kept))
    assert trained.code == 0 and "14 required" in trained.out
    printed = run_cli(*COMMAND, "--set", f"completeness={kept}", "--json")
    found = rows(printed)
    assert found["sentences by a model against people (table 2)", "F1, weighted", None]["value"] > 0.9
    assert found["rankings by sentences (A2)", "Spearman's rho, completeness", None]["n"] == 4
    assert "trained on 30 of these 30 sentences" in printed.err.replace("\n", " ")


def test_a_topic_of_the_gold_that_is_no_list_costs_itself(run_cli, tmp_path):
    gold = tmp_path / "gold.json"
    nuggets = json.loads((EXAMPLES / "nuggets.json").read_text())
    gold.write_text(json.dumps({"zinc": None, "selenium": ["Selenium.", 3], **nuggets}))
    printed = run_cli(*COMMAND[:3], "--gold", str(gold), "--json")
    assert printed.code == 2
    assert rows(printed) == rows(run_cli(*COMMAND, "--json"))
    told = printed.err.replace("\n", " ")
    assert "field zinc: expected a list of nuggets" in told and "field selenium" in told
    assert 'write it as ["nugget", ...]' in told


def test_a_line_of_gold_without_an_id_is_no_list_of_topics(run_cli, tmp_path):
    gold = tmp_path / "gold.jsonl"
    nuggets = [{"id": "1", "text": "Iron helps."}]
    for line in ({"nuggets": nuggets}, {"question": "Does iron help?", "nuggets": nuggets}, {"nuggets": ["Iron."]}):
        gold.write_text(json.dumps(line))
        printed = run_cli(*COMMAND[:3], "--gold", str(gold))
        told = printed.err.replace("\n", " ")
        assert printed.code == 2 and "line 1, field id: expected a value; found none" in told, told
    # Topics may be called as fields of gold are.
    topics = {"nuggets": ["Chicken."], **json.loads((EXAMPLES / "nuggets.json").read_text())}
    gold.write_text(json.dumps(topics))
    assert rows(run_cli(*COMMAND[:3], "--gold", str(gold), "--json")) == rows(run_cli(*COMMAND, "--json"))


def test_a_nugget_without_words_is_none(run_cli, tmp_path):
    nuggets = json.loads((EXAMPLES / "nuggets.json").read_text())
    whole = rows(run_cli(*COMMAND, "--json"))
    (tmp_path / "gold.json").write_text(json.dumps({topic: [*of, "", "  "] for topic, of in nuggets.items()}))
    lines = [
        json.dumps({"id": topic, "nuggets": [{"id": str(at), "text": text} for at, text in enumerate([*of, " "])]})
        for topic, of in nuggets.items()
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(lines))
    for name in ("gold.json", "gold.jsonl"):
        printed = run_cli(*COMMAND[:3], "--gold", str(tmp_path / name), "--json")
        assert printed.code == 0, printed.err
        assert rows(printed) == whole


def test_an_answer_that_cannot_be_read_costs_itself(run_cli, tmp_path):
    answers = json.loads((EXAMPLES / "answers.json").read_text())
    answers[0]["machine_generated_answers"]["M2"] = "Iron helps."
    broken, kept = tmp_path / "answers.json", tmp_path / "mixture.json"
    broken.write_text(json.dumps(answers))
    printed = run_cli(*COMMAND[:2], f"medaesqa:{broken}", *COMMAND[3:], "--json", "--set", f"save_mixture={kept}")
    assert printed.code == 2 and "expected a list of objects" in printed.err.replace("\n", " ")
    found = rows(printed)
    assert found["nuggets (table 1)", "recall", "M2"]["n"] == 1
    assert found["nuggets (table 1)", "recall", "M1"]["n"] == 2
    assert kept.exists()
    trained = run_cli("bioace", "train-completeness", f"medaesqa:{broken}", "--out", str(tmp_path / "classifier.json"))
    assert trained.code == 2 and "written to" in trained.out and (tmp_path / "classifier.json").exists()


def test_labels_that_are_not_of_the_answers_sentences_are_left_out(run_cli, tmp_path):
    folder = tmp_path / "system"
    folder.mkdir()
    answer = {"answer": "Iron helps [1]. Zinc does not. More is needed.", "documents": [{"id": "d", "text": "Iron."}]}
    labels = {
        "fits": {"sentences": ["required", None, "unnecessary"]},
        "more": {"sentences": ["unnecessary"] * 5},
        "fewer": {"sentences": ["unnecessary"]},
        "beyond": {
            "citations": [
                {"sentence": 0, "document": "d", "label": "contradicts"},
                {"sentence": 7, "document": "d", "label": "supports"},
            ]
        },
    }
    (folder / "answers.jsonl").write_text("\n".join(json.dumps({"id": id, **answer}) for id in labels))
    (folder / "labels.jsonl").write_text("\n".join(json.dumps({"id": id, **given}) for id, given in labels.items()))
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"fits": ["Iron helps."]}))
    printed = run_cli("bioace", "score", str(folder), "--gold", str(gold), "--json")
    told = printed.err.replace("\n", " ")
    assert printed.code == 2
    assert "each of 3 sentences; found 5" in told and "each of 3 sentences; found 1" in told
    assert "sentences 0 to 2; found 1 of others" in told
    assert told.count("They are left out: label the current answer") == 3
    found = {(row["table"], row["row"]): row for row in json.loads(printed.out)}
    row = found["sentences (completeness)", "redundancy"]
    assert (row["value"], row["n"]) == (0.5, 1)
    assert found["citations by labels", "support"]["value"] == 0


def test_labels_of_an_answer_without_sentences_are_left_out():
    from vericite.errors import Problems
    from vericite.evaluate.items import Item
    from vericite.evaluate.scoring import System
    from vericite.lab.assess.answers import answered
    from vericite.records import Labels
    from vericite.text.citations import parse_answer

    given = {"sentences": ["required"], "citations": [{"sentence": 0, "document": "d", "label": "supports"}]}
    item = Item(
        "q", answer=parse_answer("q", "", []), labels=Labels.model_validate_json(json.dumps({"id": "q", **given}))
    )
    problems = Problems()
    (found,) = answered([System("mine", (item,))], problems)
    assert [it.problem for it in problems] == [
        "expected no labels, because the answer has no sentences; found 1. They are left out: label the current answer"
    ] * 2
    assert found.item.labels is not None and (found.item.labels.sentences, found.item.labels.citations) == (None, ())


def test_tables_without_figures_say_what_they_need(run_cli):
    printed = run_cli(*COMMAND)
    assert all(name in printed.out for name in ("table 3", "tables 5, A3", "table A5"))


def test_without_a_model_nobody_is_asked_for_labels(run_cli):
    printed = run_cli(*COMMAND, "--set", "completeness=llm")
    assert printed.code == 2 and "--llm" in printed.err


def test_a_prompt_without_who_is_asked_is_refused(run_cli, tmp_path):
    prompt = tmp_path / "mine.toml"
    prompt.write_text('name = "mine"\nversion = 1\nabout = "Mine."\nsystem = "List facts."\nuser = "{passage}"\n')
    nuggets = run_cli(*COMMAND, "--set", f"nugget_prompt={prompt}")
    assert nuggets.code == 2 and "--llm MODEL" in nuggets.err
    labels = run_cli(*COMMAND, "--set", f"completeness_prompt={prompt}")
    assert labels.code == 2 and "completeness=llm" in labels.err.replace("\n", " ")
    no_slot = run_cli(*COMMAND, "--llm", "http://127.0.0.1:9/v1#m", "--set", f"nugget_prompt={prompt}")
    assert no_slot.code == 2 and "to be among text, question; found {passage}" in no_slot.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("system", "user", "found"),
    [("Do.", "{text} {question} {sentence} {query}", "{query}"), ("As {role}.", "{text}", "{role}")],
)
def test_a_prompt_with_a_slot_that_nothing_goes_into_is_refused_before_a_model_is_asked(
    run_cli, tmp_path, system: str, user: str, found: str
):
    def written(name: str, user: str, system: str = "Do.") -> str:
        path = tmp_path / f"{name}.toml"
        path.write_text(f'name = "{name}"\nversion = 1\nabout = "Mine."\nsystem = "{system}"\nuser = "{user}"\n')
        return str(path)

    other = written("other", user.replace("{text}", "{text} {question} {sentence}"), system)
    facts, needs = written("facts", "{text}"), written("needs", "{question} {sentence}")
    with ScriptedServer() as server:
        by_model = ("--llm", server.spec, "--set", "completeness=llm")
        for prompts in ((other, needs), (facts, other)):
            printed = run_cli(
                *COMMAND,
                *by_model,
                "--set",
                f"nugget_prompt={prompts[0]}",
                "--set",
                f"completeness_prompt={prompts[1]}",
            )
            told = printed.err.replace("\n", " ")
            assert printed.code == 2 and "expected the slots of" in told and "prompt other.v1" in told
        assert not server.arrivals


def test_a_language_model_is_asked_by_prompts_of_the_users_own(run_cli, tmp_path):
    files: list[Path] = []
    for name, user in (("facts", "MINE {text}"), ("needs", "MINE TOO {question} {sentence}")):
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(f'name = "{name}"\nversion = 1\nabout = "Mine."\nsystem = "Do."\nuser = "{user}"\n')
    asked: list[str] = []

    def behave(answering, arrival):
        asked.append(arrival.question)
        said = '{"label": "required"}' if "MINE TOO" in arrival.question else "Iron lowers fatigue."
        reply(said)(answering, arrival)

    with ScriptedServer() as server:
        server.default = behave
        by_model = ("--llm", server.spec, "--set", "completeness=llm")
        prompts = ("--set", f"nugget_prompt={files[0]}", "--set", f"completeness_prompt={files[1]}")
        printed = run_cli(*COMMAND, *by_model, *prompts, "--json")
    assert printed.code == 0, printed.err
    assert all("MINE" in one for one in asked)
    assert sum("MINE TOO" not in one for one in asked) == 8  # an answer each; equal sentences are asked of once
    assert rows(printed)["sentences by a model", "completeness", "M3"]["value"] == 1


def test_a_threshold_is_tuned_and_its_front_is_kept(run_cli, tmp_path):
    pytest.importorskip("optuna", reason="the extra [assess] is not installed")
    kept = tmp_path / "mixture.json"
    printed = run_cli(*COMMAND, "--set", "tune=12", "--set", f"save_mixture={kept}", "--json")
    assert printed.code == 0, printed.err
    assert "tuned on the answers that it scores" in printed.err.replace("\n", " ")
    mixture = json.loads(kept.read_text())
    assert mixture["threshold"] in [point[0] for point in mixture["front"]]
    both = run_cli(*COMMAND, "--set", "tune=12", "--set", "threshold=0.4")
    assert both.code == 2 and "Give one of them" in both.err


@pytest.mark.parametrize("ok", [3, 0])
def test_an_answer_whose_nuggets_failed_does_not_choose_the_threshold(run_cli, monkeypatch, tmp_path, ok: int):
    from vericite.lab.assess import bioace
    from vericite.lab.assess.nuggets import MadeNuggets, Tuned, make_nuggets

    def made(texts, *_):
        whole = list(make_nuggets(texts))
        return [it if place < ok else MadeNuggets((), "silence") for place, it in enumerate(whole)]

    kept = str(tmp_path / "mixture.json")
    assert run_cli(*COMMAND, "--set", f"save_mixture={kept}").code == 0
    chosen_by: list[int] = []

    def tuned(matrices, mixture, *_, **__):
        chosen_by.extend(map(len, matrices))
        return Tuned(mixture, ((mixture.threshold, (0.5, 0.5, 1.0)),))

    monkeypatch.setattr(bioace, "make_nuggets", made)
    monkeypatch.setattr(bioace, "tune_threshold", tuned)
    for mixture in ((), ("--set", f"mixture={kept}")):
        chosen_by.clear()
        printed = run_cli(*COMMAND, "--set", "tune=5", *mixture, "--json")
        assert printed.code == 0, printed.err
        assert len(chosen_by) == ok and all(chosen_by)
        assert f"{8 - ok} answers without nuggets: silence" in printed.err.replace("\n", " ")


def test_an_embedder_that_is_none_is_refused(run_cli):
    printed = run_cli(*COMMAND, "--set", "embedder=mine")
    assert printed.code == 2 and "hf:CHECKPOINT" in printed.err


DOCUMENTS = ("--documents", str(EXAMPLES / "documents.jsonl"))


@pytest.mark.parametrize("kind", ["svm", "logistic"])
def test_correctness_is_trained_on_marked_spans_and_scored(run_cli, tmp_path, kind: str):
    kept = tmp_path / "model.json"
    trained = run_cli(
        *("bioace", "train-correctness", COMMAND[2], "--out", str(kept), "--set", f"classical={kind}"),
        *("--set", f"documents={DOCUMENTS[1]}"),
    )
    assert trained.code == 0 and "trained on 8 correct, 8 incorrect" in trained.out.replace("\n", " "), trained.err
    printed = run_cli(*COMMAND[:3], *DOCUMENTS, "--set", f"correctness={kept},cosine", "--set", "tables=3", "--json")
    found = {(row["row"], row["by"]): row for row in json.loads(printed.out)}
    assert found["F1, macro", str(kept)]["value"] == 1 and found["AUC", "cosine"]["value"] > 0.5
    assert {row["table"] for row in json.loads(printed.out)} == {"correctness of pairs (table 3)"}
    assert "was trained on 16 of these 16 pairs" in printed.err.replace("\n", " ")


def test_pairs_to_train_on_may_also_be_given(run_cli, tmp_path):
    pairs, kept = tmp_path / "pairs.jsonl", tmp_path / "model.json"
    texts = {"supported": "Iron lowers fatigue.", "irrelevant": "Zinc was studied in Norway."}
    lines = [{"premise": text, "claim": "Iron helps.", "label": label} for label, text in texts.items()] * 2
    pairs.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert run_cli("bioace", "train-correctness", str(pairs), "--out", str(kept)).code == 0
    same = run_cli("bioace", "train-correctness", str(pairs), "--out", str(pairs))
    assert same.code == 2 and pairs.read_text().startswith("{")
    spans = run_cli("bioace", "train-correctness", COMMAND[2], "--out", str(kept), "--set", f"documents={pairs}")
    assert spans.code == 2
    lora = run_cli("bioace", "train-correctness", str(pairs), "--out", str(kept), "--set", "adapter=true")
    assert lora.code == 2 and "--encoder" in lora.err


def test_figure_a6_reads_a_run(run_cli):
    chosen = ("--set", "tables=figure-A6", "--set", "correctness=cosine", "--json")
    retrieved = ("--set", f"retrieved={EXAMPLES / 'retrieved.txt'}")
    found = {row["row"]: row for row in json.loads(run_cli(*COMMAND[:3], *DOCUMENTS, *chosen, *retrieved).out)}
    assert list(found) == ["Supp(AS)", "Supp(CS)", *(f"T{cut}" for cut in range(10, 101, 10))]
    assert 0 < found["T10"]["value"] == found["T100"]["value"] <= 1
    without = {row["row"]: row for row in json.loads(run_cli(*COMMAND[:3], *DOCUMENTS, *chosen).out)}
    assert "retrieved=RUN" in without["T10 to T100"]["needs"]
