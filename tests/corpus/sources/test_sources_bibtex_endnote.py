"""Bibliographies as BibTeX, EndNote and CSL JSON write them, and one article out of several programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vericite.corpus.sources.bibtex import plain_of_latex
from vericite.errors import RecordError
from vericite.records import Document

BIB = r"""% written by hand
@string{jit = "Journal of Invented Trials"}
@comment{nothing}
@article{doe2021,
  title = {Walking after {K}nee surgery in M\"{u}nchen \& elsewhere},
  author = {Doe, Jane A. and van Roe, Jean-Paul},
  journal = jit,
  year = 2021, month = may,
  abstract = "Forty adults walked {\textless}1 km. Pain fell by 5\% in {\"O}sterreich.",
  doi = {10.99999/JIT_1},
  url = {https://pubmed.ncbi.nlm.nih.gov/90000001/},
  keywords = {knee},
}

@Article(roe2020, title = "Iron" # " every other day", year = {2020}, note = {PMID: 90000002})
"""
ENW = """%0 Journal Article
%T Walking after knee surgery
%A Doe, Jane A.
%A Roe, Ann
%J Journal of Invented Trials
%D 2021
%X Forty adults walked.
They fared well.
%R 10.99999/JIT.1
%U https://pubmed.ncbi.nlm.nih.gov/90000001/

%0 Journal Article
%T Iron
%M 90000002
%~ PubMed

"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<xml><records><record><rec-number>7</rec-number><ref-type name="Journal Article">17</ref-type>
<contributors><authors><author><style face="normal">Doe, Jane A.</style></author></authors></contributors>
<titles><title><style face="normal">Walking after </style><style face="italic">knee</style> surgery</title>
<secondary-title><style>Journal of Invented Trials</style></secondary-title></titles>
<dates><year><style>2021</style></year></dates>
<accession-num>90000001</accession-num><remote-database-name>Medline</remote-database-name>
<electronic-resource-num><style>10.99999/JIT.1</style></electronic-resource-num>
<abstract><style>Forty adults walked.</style></abstract></record>
<record><rec-number>8</rec-number></record></records></xml>
"""
RIS = """TY  - JOUR
TI  - Walking after knee surgery
AB  - Forty adults walked.
DO  - 10.99999/JIT.1
ER  -
"""
CSL = {
    "id": "doe2021",
    "type": "article-journal",
    "title": "Walking after knee surgery",
    "abstract": "Forty adults walked.",
    "container-title": "Journal of Invented Trials",
    "DOI": "10.99999/JIT.1",
    "author": [{"family": "Doe", "given": "Jane A."}],
    "issued": {"date-parts": [[2021, 5, 3]]},
}

Read = Callable[..., list[Any]]


def test_entries_of_bibtex(read: Read):
    first, second = read("refs.bib", BIB)
    assert (first.id, first.pmid, first.doi) == ("90000001", "90000001", "10.99999/JIT_1")
    assert first.title == "Walking after Knee surgery in München & elsewhere"
    assert first.text.endswith("Forty adults walked <1 km. Pain fell by 5% in Österreich.")
    assert (first.journal, first.date, first.authors) == (
        "Journal of Invented Trials", "2021-05", ("Doe JA", "van Roe JP"),
    )  # fmt: skip
    assert (second.id, second.title, second.year) == ("90000002", "Iron every other day", 2020)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"Ren{\'e} {\O}rsted, \v{C}apek, \c{c}a, Stra{\ss}e", "René Ørsted, Čapek, ça, Straße"),
        (r"10\textsuperscript{3} and 10$^{-3}$", "10^3 and 10^-3"),
        (r"p{\textless}0.05 --- \emph{in vivo}, 50\,\%", "p<0.05 — in vivo, 50\\,%"),
        ("costs $5", "costs $5"),
    ],
)
def test_latex_becomes_text(latex: str, text: str):
    assert plain_of_latex(latex) == text


@pytest.mark.parametrize(
    "broken",
    [
        "@article{a, title = {open",
        "@article{a, title = }",
        "@article{a, title = {x}, title = {y}}",
        "@article{",
        "@a{b, c",
    ],
)
def test_only_a_broken_bibtex_entry_is_lost(read: Read, broken: str):
    found = read("refs.bib", f"{broken}\n\n@article{{b, title = {{Iron}}, doi = {{10.1000/b}}}}\n")
    assert [item.title for item in found if isinstance(item, Document)] == ["Iron"]
    [problem] = [item for item in found if isinstance(item, RecordError)]
    assert problem.line == 1 and "expected" in problem.problem


def test_tagged_lines_of_endnote(read: Read):
    first, second = read("refs.enw", ENW)
    assert (first.id, first.doi, first.authors) == ("90000001", "10.99999/JIT.1", ("Doe JA", "Roe A"))
    assert "Forty adults walked." in first.text and "They fared well." in first.text
    assert (second.id, second.title) == ("90000002", "Iron")


def test_xml_of_endnote(read: Read):
    first, problem = read("refs.xml", XML)
    assert (first.id, first.title, first.year) == ("90000001", "Walking after knee surgery", 2021)
    assert first.text.endswith("Forty adults walked.") and first.doi == "10.99999/JIT.1"
    assert isinstance(problem, RecordError) and "found neither" in problem.problem


def test_xml_of_endnote_reads_no_other_file(read: Read, tmp_path: Path):
    (tmp_path / "secret").write_text("hidden words")
    entity = f'<?xml version="1.0"?><!DOCTYPE xml [<!ENTITY e SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
    found = read("refs.xml", entity + XML.split("?>", 1)[1].replace("walked", "&e; walked"), "endnote")
    assert found and all("hidden" not in str(item) for item in found)


def test_an_item_of_csl_is_named_by_its_doi_not_by_its_key(read: Read):
    [document] = read("refs.json", json.dumps([CSL]))
    assert (document.id, document.date, document.authors) == ("doi:10.99999/JIT.1", "2021-05-03", ("Doe JA",))
    assert document.journal == "Journal of Invented Trials"


def test_one_article_out_of_two_programs_is_one_document(read: Read, run_cli: Any, tmp_path: Path):
    files = {"a.ris": RIS, "b.json": json.dumps([CSL]), "c.bib": "@article{k, title={Walking after knee surgery}, "
             "abstract={Forty adults walked.}, doi={https://doi.org/10.99999/JIT.1}}"}  # fmt: skip
    folder = tmp_path / "refs"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    printed = run_cli("corpus", "build", str(folder), "--to", str(tmp_path / "store"), "--json")
    assert printed.code == 0, printed
    assert (json.loads(printed.out)["added"], json.loads(printed.out)["replaced"]) == (1, 2)


@pytest.mark.parametrize("column", ["Url", "Extra"])
def test_a_csv_of_zotero_gives_the_pmid(read: Read, column: str):
    value = "https://www.ncbi.nlm.nih.gov/pubmed/90000001" if column == "Url" else "PMID: 90000001 PMCID: PMC1"
    [document] = read(
        "z.csv", f'Key,Item Type,Title,Abstract Note,{column}\nAB12,journalArticle,Walk,It helps.,"{value}"\n'
    )
    assert (document.id, document.pmid) == ("90000001", "90000001")
