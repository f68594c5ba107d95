from __future__ import annotations

import json
from pathlib import Path

from vericite.records import Repaired

DOCUMENTS = (
    {"id": "a", "text": "We measured lipids. Statins lower LDL."},
    {"id": "b", "title": "Colds", "text": "Zinc shortens colds."},
)
TEXT = "Statins lower LDL [2]. Zinc shortens colds [2]. Music cures warts [1]."
GOOD = {"id": "good", "question": "What lowers LDL?", "answer": TEXT, "documents": DOCUMENTS}


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def test_changes_are_shown_before_and_after(run_cli, tmp_path):
    code, out, _ = run_cli("repair", write(tmp_path / "answers.jsonl", GOOD))
    assert code == 0
    assert "Statins lower LDL [1]. Zinc shortens colds [2].\n" in out
    assert "re-cited  [2] does not support it\n  - Statins lower LDL [2].\n  + Statins lower LDL [1]." in out
    assert "dropped  [1] does not support it\n  - Music cures warts [1].\n" in out
    assert "1 answers: 1 kept, 1 re-cited, 0 rewritten, 1 dropped; citations supported 1/3 before, 2/2 now" in out


def test_sentences_replaced_by_their_sources_words_are_reported(run_cli, tmp_path):
    falls = {"id": "c", "text": "Vitamin D supplementation did not reduce the risk of falls in older women."}
    said = "Statins lower LDL [1]. Vitamin D prevents falls in elderly women [3]."
    answers = write(tmp_path / "answers.jsonl", GOOD | {"answer": said, "documents": (*DOCUMENTS, falls)})
    _, out, _ = run_cli("repair", answers)
    assert "1 of 2 sentences replaced by their source's words" in out
    assert "2/2 now (1 of them quote their source and support themselves)" in " ".join(out.split())


def test_repaired_answers_are_written_in_the_format_of_check(run_cli, tmp_path):
    out = tmp_path / "repaired.jsonl"
    assert run_cli("repair", write(tmp_path / "answers.jsonl", GOOD), "--out", str(out))[0] == 0
    line = json.loads(out.read_text())
    assert line["answer"] == "Statins lower LDL [1]. Zinc shortens colds [2]."
    assert line["question"] == "What lowers LDL?"
    assert "gate passed: supported 2 of 2" in run_cli("check", str(out), "--fail-under", "1").out
    assert not list(tmp_path.glob("*.partial"))


def test_json_has_the_answer_its_verdicts_and_the_changes(run_cli, tmp_path):
    _, out, _ = run_cli("repair", write(tmp_path / "answers.jsonl", GOOD), "--json")
    found = Repaired.model_validate_json(out)
    assert [change.action for change in found.changes] == ["re-cited", "dropped"]
    assert found.checked.summary.supported == 2


def test_documents_of_a_corpus_are_searched(run_cli, tmp_path):
    corpus = write(tmp_path / "docs.jsonl", {"id": "c", "text": "Nicotine patches help smokers quit."}, *DOCUMENTS)
    answers = write(tmp_path / "answers.jsonl", GOOD | {"answer": "Nicotine patches help smokers quit [1]."})
    assert "Nicotine patches help smokers quit [3]." in run_cli("repair", answers, "--corpus", corpus)[1]
    assert "No sentence of the answer was supported by its sources." in run_cli("repair", answers)[1]


def test_a_sentence_on_a_similar_subject_is_no_support(run_cli, tmp_path):
    corpus = write(tmp_path / "docs.jsonl", {"id": "c", "text": "Honey soothes coughs."}, *DOCUMENTS)
    answers = write(tmp_path / "answers.jsonl", GOOD | {"answer": "Honey soothes coughs [1]."})
    assert "Honey soothes coughs [3]." in run_cli("repair", answers, "--corpus", corpus)[1]


def test_bad_records_only_cost_themselves(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", GOOD, "{broken", {"id": "x"}, GOOD | {"id": "last"})
    code, out, err = run_cli("repair", answers)
    assert code == 2
    assert "2 answers" in out
    assert "line 2" in err
    assert "line 3" in err


def test_uncited_sentences_are_removed_on_request(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", GOOD | {"answer": "Zinc shortens colds. Music cures warts."})
    assert "Zinc shortens colds [2]. Music cures warts." in run_cli("repair", answers)[1]
    assert "Zinc shortens colds [2].\n" in run_cli("repair", answers, "--set", "repair.drop_uncited=true")[1]


def test_the_input_is_never_overwritten(run_cli, tmp_path):
    answers = write(tmp_path / "answers.jsonl", GOOD)
    before = Path(answers).read_text()
    printed = run_cli("repair", answers, "--out", answers)
    assert printed.code == 2
    assert "different files" in printed.err
    assert Path(answers).read_text() == before


def test_terminal_control_characters_are_not_printed(run_cli, tmp_path):
    evil = GOOD | {"answer": "Statins\x1b[31m lower LDL [9]. Zinc shortens colds [2]."}
    _, out, _ = run_cli("repair", write(tmp_path / "answers.jsonl", evil))
    assert "\x1b" not in out


def test_deletions_are_counted_in_every_output_form(run_cli, tmp_path):
    path = tmp_path / "answers.jsonl"
    answer = "Zinc shortens colds [1]. Gold cures gout [1]."
    path.write_text(json.dumps({"id": "a", "answer": answer, "documents": ["Zinc shortens colds."]}) + "\n")
    shown = run_cli("repair", str(path), "--judge", "lexical")
    assert "1 of 2 sentences deleted" in shown.out
    assert "now (without those of the 1 dropped)" in " ".join(shown.out.split())
    found = json.loads(run_cli("repair", str(path), "--judge", "lexical", "--json").out)
    assert (found["deleted"], found["sentences"]) == (1, 2)
