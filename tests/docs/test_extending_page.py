"""The package in docs/extending.md, installed as pip would, brings one thing of each kind."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from vericite.errors import PluginError
from vericite.formats import FORMATS
from vericite.registry import Registry

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")


def install(folder: Path, name: str, code: str, entries: str) -> None:
    """Leave what pip leaves of a package with one module."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entries)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = re.search(r"```python\n(# house.py.*?)```", PAGE, re.DOTALL)
    toml = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert code and toml
    groups = tomllib.loads(toml[1])["project"]["entry-points"]
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in found.items())
        for group, found in groups.items()
    ]
    install(tmp_path, "house", code[1], "\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert set(groups) == set(re.findall(r"^\| `(vericite\.\w+)`", PAGE, re.MULTILINE))
    yield tmp_path
    sys.modules.pop("house", None)


def test_each_kind_of_thing_works_by_its_name(house: Path, run_cli):
    answers = house / "answers.jsonl"
    said = {"house_id": "a", "said": "Zinc shortens colds [1].", "source": "Trials found that zinc shortens colds ."}
    answers.write_text(json.dumps(said) + "\n")
    checked = run_cli("check", str(answers), "--judge", "house-words", "--protocol", "vericite", "--json")
    assert checked.code == 0 and "read as house" in checked.err
    assert json.loads(checked.out)["counts"]["supported"] == 1
    scored = run_cli("score", str(answers), "-m", "HouseWords", "--json")
    assert json.loads(scored.out)[0]["value"] == 4
    attributed = run_cli("attribute", str(answers), "--by", "house-first", "--json")
    assert "Zinc shortens colds [1]" in json.loads(attributed.out)["answer"]["text"]
    (house / "corpus.house").write_text("HOUSE\nZinc shortens colds.\nIron does not.\n")
    (house / "questions.jsonl").write_text('{"q": "1", "ask": "Does zinc shorten colds?"}\n')
    asked = run_cli(
        "ask", "--batch", f"house:{house / 'questions.jsonl'}", "--corpus", str(house / "corpus.house"),
        "--set", "answer.answerer=house-first", "--json",
    )  # fmt: skip
    assert asked.code == 0, asked.err
    run = json.loads(asked.out)
    assert (
        run["answer"]["text"] == "Zinc shortens colds. [1]"
        and run["provenance"]["parts"]["generator"] == "house-first.v1"
    )
    found = run_cli("search", "Does zinc help?", "--corpus", "house-search:x", "--k", "2", "--json")
    assert [hit["document"]["id"] for hit in json.loads(found.out)["evidence"]] == ["x0", "x1"]


def test_things_of_other_packages_are_listed(house: Path, run_cli):
    assert "house-words" in run_cli("judges").out
    assert "HouseWords" in run_cli("measures").out
    assert "house" in run_cli("datasets").out
    printed = run_cli("check", str(house / "none.jsonl"), "--format", "hous")
    assert printed.code == 2 and "Did you mean 'house'" in printed.err


def test_what_fits_anything_is_tried_after_other_packages(house: Path):
    assert list(FORMATS)[-2:] == ["house", "vericite"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError"),
        ("thing = 3", "expected str; found int"),
        ("", "AttributeError"),
    ],
)
def test_a_broken_entry_point_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, found: str):
    install(tmp_path, "broken", code, "[vericite.things]\nnew = broken:thing\nold = broken:thing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    things = Registry("thing", {"old": "ours"}, "vericite.things", str)
    assert things["old"] == "ours" and list(things) == ["old", "new"] and len(things) == 2
    assert [plugin.name for plugin in things.plugins] == ["new"]
    with pytest.raises(PluginError, match=f"new = broken:thing of broken 1.0; found .*{found}"):
        things.named("new")
    sys.modules.pop("broken", None)


def test_an_unknown_name_is_no_key(tmp_path: Path):
    things = Registry("thing", {"one": 1, "two": 2}, last=("one",))
    assert things.get("three") is None and "three" not in things and list(things) == ["two", "one"]
    with pytest.raises(KeyError):
        things["three"]


RAISING = """
from dataclasses import dataclass

from vericite.attribution.attributor import Attributor
from vericite.attribution.registry import Kind
from vericite.corpus.sources.files import SourceFormat
from vericite.datasets.entry import DataSet, each_row
from vericite.evaluate.measures.measure import Measure
from vericite.formats import Format
from vericite.records import Document


def boom(*given):
    raise KeyError("boom")


def late(file):
    yield 1, Document.from_text("1", "A text.")
    boom()


class Answerer:
    signature = "raising"
    generate = boom


class Raising(Attributor):
    signature = "raising"

    def find(self, answers):
        yield boom()


@dataclass(frozen=True, repr=False)
class Words(Measure):
    \"\"\"Words.\"\"\"

    name = "RaisingWords"
    family = "answers"
    needs = ("answer",)

    def parts(self, item):
        boom()


judge = boom
retriever = lambda text: boom
answerer = lambda plan: Answerer()
attributor = Kind("raises", lambda text, protocol, settings: Raising())
answers = Format("raises", boom, lambda fields: "raising" in fields)
documents = SourceFormat("raises", late, lambda file: file.head.startswith(b"RAISING"))
questions = DataSet("raising", "Raising", "none", ("questions",), "{}", "nowhere", "CC0", each_row(boom))
"""


@pytest.mark.parametrize(
    ("group", "name", "thing", "words"),
    [
        ("judges", "raising", "judge", ["check", "ANSWERS", "--judge", "raising"]),
        ("retrievers", "raising", "retriever", ["search", "What helps?", "--corpus", "raising:x"]),
        ("answerers", "raising", "answerer", ["ask", "What helps?", "--set", "answer.answerer=raising"]),
        ("attributors", "raising", "attributor", ["attribute", "ANSWERS", "--by", "raising"]),
        ("measures", "RaisingWords", "Words", ["score", "ANSWERS", "-m", "RaisingWords"]),
        ("answer_formats", "raising", "answers", ["check", "RECORDS", "--format", "raising"]),
        ("answer_formats", "raising", "answers", ["check", "RECORDS"]),
        ("document_sources", "raising", "documents", ["search", "What helps?", "--corpus", "DOCUMENTS"]),
        ("datasets", "raising", "questions", ["search", "--batch", "raising:RECORDS"]),
    ],
)
def test_a_plugin_that_raises_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_cli, group: str, name: str, thing: str, words: list[str]
):
    install(tmp_path, "raiser", RAISING, f"[vericite.{group}]\n{name} = raiser:{thing}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {
        "ANSWERS": '{"id": "a", "answer": "Zinc helps [1].", "documents": [{"text": "Zinc helps."}]}\n',
        "RECORDS": '{"raising": 1}\n',
        "DOCUMENTS": "RAISING\n",
    }
    for file, text in files.items():
        (tmp_path / file).with_suffix(".jsonl" if file != "DOCUMENTS" else ".house").write_text(text)
    places = {file: str(next(tmp_path.glob(f"{file}.*"))) for file in files}
    words = [re.sub("|".join(files), lambda found: places[found[0]], word) for word in words]
    printed = run_cli(*words)
    told = " ".join(printed.err.split())
    sys.modules.pop("raiser", None)
    assert printed.code == 3 and "Traceback" not in told
    assert f"from the entry point {name} = raiser:{thing} of raiser 1.0; found KeyError: 'boom'" in told


def test_a_broken_plugin_keeps_no_file_from_being_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_cli):
    groups = ("answer_formats", "document_sources", "datasets", "measures")
    install(
        tmp_path, "broken", "thing = 3", "".join(f"[vericite.{group}]\nbroken = broken:thing\n" for group in groups)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    answers, documents = tmp_path / "answers.jsonl", tmp_path / "documents.csv"
    answers.write_text('{"id": "a", "answer": "Zinc helps [1].", "documents": ["Zinc helps."]}\n')
    documents.write_text("id,text\n1,Zinc helps.\n")
    checked = run_cli("check", str(answers), "--judge", "lexical")
    assert checked.code == 0 and checked.err.count("broken = broken:thing of broken 1.0") == 1
    for words in (["search", "zinc", "--corpus", str(documents), "--by", "bm25"], ["measures"], ["datasets"]):
        assert run_cli(*words).code == 0
    assert run_cli("check", str(answers), "--format", "broken").code == 3
    sys.modules.pop("broken", None)
