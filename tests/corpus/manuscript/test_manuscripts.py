"""Manuscripts with known citations, read in every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_modules import benchmark
from manuscript_files import RAISED, complex_field, docx, paragraph, run
from vericite.corpus.manuscript.bibliography import read_bibliography
from vericite.corpus.manuscript.draft import Draft, Mark
from vericite.corpus.manuscript.registry import MANUSCRIPTS, manuscript_kind, read_manuscript
from vericite.errors import InputError
from vericite.records import Manuscript
from vericite.text.printed import NO_LIST

SCRIPT = benchmark("manuscripts")
CASES = SCRIPT.cases()


def write(folder: Path, name: str, content: str | bytes) -> Path:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


def read(folder: Path, name: str, content: str | bytes, **others: str) -> Manuscript:
    for other, text in others.items():
        write(folder, other.replace("__", "."), text)
    return read_manuscript(write(folder, name, content))


def marks(manuscript: Manuscript) -> list[tuple[str, tuple[str, ...]]]:
    return [(manuscript.text[mark.span.slice], mark.keys) for mark in manuscript.citations]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sentences_are_linked_to_the_works_that_they_cite(tmp_path: Path, case):
    found = SCRIPT.score(case, case.read(tmp_path))
    assert found.wrong == 0
    # "10% [9, 14]" may be an interval: only typed numbers are read with less certainty.
    assert found.missed == 0 or (case.typed and found.missed <= 2)
    assert found.fields >= 0.95 * found.listed, found.faults


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kinds_are_recognised_without_a_suffix_where_their_content_tells(tmp_path: Path, case):
    path, _ = case.write(tmp_path)
    kind = manuscript_kind(path)
    assert kind in MANUSCRIPTS
    if kind in ("docx", "latex", "html"):
        assert manuscript_kind(path.rename(tmp_path / "paper")) == kind


WORDS = st.text(st.sampled_from("ab c\n\t.,[]^é\u00ad1"), max_size=12)
PIECES = st.lists(
    st.one_of(WORDS, st.builds(Mark, WORDS, st.lists(st.sampled_from("xyz"), min_size=1, unique=True).map(tuple))),
    max_size=8,
)


@given(st.lists(st.tuples(PIECES, st.sampled_from([None, 0, 1, 3])), max_size=5))
def test_what_stands_at_a_citation_is_its_mark(paragraphs):
    draft = Draft("a", list_is_known=True)
    for pieces, level in paragraphs:
        draft.paragraph(pieces, level)
    draft.paragraph(["End."])
    manuscript = draft.manuscript()
    given_marks = [piece for pieces, _ in paragraphs for piece in pieces if isinstance(piece, Mark)]
    shown = [(" ".join(mark.text.replace("\u00ad", "").split()), mark.keys) for mark in given_marks]
    assert marks(manuscript) == [pair for pair in shown if pair[0]]
    for heading in manuscript.headings:
        assert manuscript.text.startswith(heading.text, heading.start)
    assert "  " not in manuscript.text


def test_works_of_fields_have_the_numbers_that_are_printed(tmp_path: Path):
    manuscript = CASES[0].read(tmp_path)
    assert [reference.key for reference in manuscript.references] == [str(n + 1) for n in range(len(CASES[0].works))]
    assert all(reference.origin == "field code" and reference.text for reference in manuscript.references)
    assert [heading.text for heading in manuscript.headings][:2] == ["Care on invented wards", "Introduction"]
    assert "ZOTERO" not in manuscript.text and "made." not in manuscript.text


def test_deleted_text_is_left_out_and_inserted_text_is_read(tmp_path: Path):
    body = paragraph(
        run("Zelotrine ")
        + '<w:del w:id="1"><w:r><w:delText>never </w:delText></w:r></w:del>'
        + f'<w:ins w:id="2">{run("often ")}</w:ins>'
        + f'<w:hyperlink w:anchor="x">{run("helped")}</w:hyperlink>'
        + run(" 10", "")
        + run("3", RAISED)
        + run(" adults.")
        + run("Unseen.", "<w:vanish/>")
    )
    manuscript = read(tmp_path, "a.docx", docx(body))
    assert manuscript.text == "Zelotrine often helped 10^3^ adults."
    assert manuscript.notes == ("hidden text was left out", NO_LIST)


def test_a_field_within_a_field_and_other_fields_are_text(tmp_path: Path):
    inner = complex_field(" PAGEREF x ", run("7"))
    body = paragraph(run("See page ") + complex_field(f" IF {'{'} ", inner + run(" of 9")) + run("."))
    assert read(tmp_path, "a.docx", docx(body)).text == "See page 7 of 9."


def test_cells_of_a_table_are_read_with_their_citations(tmp_path: Path):
    case = CASES[0]
    path, _ = case.write(tmp_path)
    item = '{"id": 1, "itemData": {"type": "book", "title": "Made", "DOI": "10.1/x"}}'
    code = f' ADDIN ZOTERO_ITEM CSL_CITATION {{"citationItems": [{item}]}}'
    cells = f"<w:tc>{paragraph(run('Zelotrine'))}</w:tc><w:tc>{paragraph(complex_field(code, run('[1]')))}</w:tc>"
    manuscript = read(tmp_path, "b.docx", docx(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"))
    assert manuscript.text == "Zelotrine | [1]"
    assert marks(manuscript) == [("[1]", ("1",))]
    assert path.exists()


def test_latex_reads_files_of_its_own_folder_only(tmp_path: Path):
    (tmp_path / "outside.tex").write_text("SECRET \\cite{a}")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.tex").symlink_to(tmp_path / "outside.tex")
    names = ("../outside", str(tmp_path / "outside"), "link", "missing", "|ls", "..", "a")
    main = "".join(f"\\input{{{name}}}\n" for name in names)
    manuscript = read(
        tmp_path / "sub", "a.tex", f"\\documentclass{{x}}\\begin{{document}}Words.\n{main}\\end{{document}}"
    )
    assert manuscript.text == "Words."
    assert len(manuscript.notes) == len(names) and "SECRET" not in str(manuscript)


def test_latex_reads_files_of_folders_below_its_own_and_those_named_there_but_next_to_it(tmp_path: Path):
    (tmp_path / "sections").mkdir()
    (tmp_path / "sections" / "a.tex").write_text("First words.")
    (tmp_path / "b.tex").write_text("Second words.")
    (tmp_path / "up").symlink_to(tmp_path.parent)
    main = r"\input{sections/a} \include{./sections/b} \input{sections/../b} \input{up/b} \input{sections//b}"
    manuscript = read(tmp_path, "main.tex", rf"\documentclass{{x}}\begin{{document}}{main}\end{{document}}")
    assert manuscript.text.split() == ["First", "words.", "Second", "words.", "Second", "words."]
    assert len(manuscript.notes) == 2 and all("another folder" in note for note in manuscript.notes)


def test_latex_text_is_readable(tmp_path: Path):
    text = r"""
\documentclass{article}\newcommand{\drug}{zelotrine}
\begin{document}
\section*{Methods \& results}
Of \emph{all} \drug{} doses, 5\,mg was \textbf{best}~\cite[p.~3]{b, a}\footnote{See \citet{a}.}. % \cite{c}
Caf\'e, Gr\"unwald: $p < 0.05$ -- ``good''.
\begin{verbatim}\cite{d}\end{verbatim}
\begin{figure}\includegraphics{x.png}\caption{A plot.}\label{fig:a}\end{figure}
\begin{itemize}\item One.\item Two \nocite{e}.\end{itemize}
See \ref{fig:a}.
\begin{thebibliography}{9}
\bibitem{a} Doe J. First made work. Made J. 2020;1:1-2.
\bibitem{b} Roe A. Second made work. Made J. 2021;1:1-2.
\end{thebibliography}
\end{document}
"""
    manuscript = read(tmp_path, "a.tex", text)
    assert manuscript.text.split("\n\n") == [
        "Methods & results",
        "Of all zelotrine doses, 5 mg was best [2, 1] (See [1].). Café, Grünwald: p < 0.05 – “good”.",
        "A plot.",
        "One.",
        "Two .",
        "See .",
    ]
    assert marks(manuscript) == [("[2, 1]", ("b", "a")), ("[1]", ("a",))]
    assert [reference.key for reference in manuscript.references] == ["a", "b"]


def test_a_key_that_the_list_lacks_stays(tmp_path: Path):
    bib = "@article{a, title={Made}, author={Doe, Jane}, year=2020}"
    manuscript = read(tmp_path, "a.tex", "\\cite{a,b}\\bibliography{refs}\\documentclass{x}", refs__bib=bib)
    assert marks(manuscript) == [("[a; b]", ("a", "b"))]
    assert [reference.key for reference in manuscript.references] == ["a"]


def test_citealt_has_no_parentheses(tmp_path: Path):
    bib = "@article{a, title={Made}, author={Doe, Jane}, year=2020}"
    text = "See \\citealt{a}, \\citealp{a}, \\citet{a}, \\citep{a}.\\bibliography{refs}\\documentclass{x}"
    shown = [text for text, _ in marks(read(tmp_path, "a.tex", text, refs__bib=bib))]
    assert shown == ["Doe 2020", "Doe, 2020", "Doe (2020)", "(Doe, 2020)"]


def test_pandoc_marks_in_code_and_addresses_of_mail_are_no_citations(tmp_path: Path):
    text = "Write to me@b1.org or `[@k1]`.\n\n```\n[@k2]\n```\n\nSeen before [@k3; see @{k 4}; -@k5, p. 2] in @fig-1.\n"
    manuscript = read(tmp_path, "a.md", text)
    assert [mark for mark in marks(manuscript)] == [("[@k3; see @{k 4}; -@k5, p. 2]", ("k3", "k5"))]


def test_links_to_articles_are_references(tmp_path: Path):
    text = "Rest helps [Doe 2020](https://pubmed.ncbi.nlm.nih.gov/123456/), see https://doi.org/10.5555/Made.1.\n"
    manuscript = read(tmp_path, "a.md", f"{text}\n[Home](https://example.org/).\n")
    assert marks(manuscript) == [
        ("Doe 2020", ("PMID 123456",)),
        ("https://doi.org/10.5555/Made.1", ("doi:10.5555/Made.1",)),
    ]
    assert [(r.pmid, r.doi) for r in manuscript.references] == [("123456", None), (None, "10.5555/Made.1")]


def test_html_leaves_out_what_is_not_shown(tmp_path: Path):
    text = (
        "<html><body><nav>Menu</nav><p>Rest <b>helps</b>.<span hidden>No</span>"
        "<span style='display: none'>No</span></p>"
        "<script>no()</script><iframe src='https://example.org'></iframe></body></html>"
    )
    manuscript = read(tmp_path, "a.html", text)
    assert manuscript.text == "Rest helps."
    assert manuscript.notes == ("scripts and embedded files were not read", NO_LIST)


BIBLIOGRAPHIES = {
    "a.bib": (
        "@article{k, title={Made work}, author={Doe, Jane and Roe, Al}, journal={Made J}, year=2020, volume=3"
        ", number=4, pages={5--9}, doi={10.5555/X.1}}"
    ),
    "a.ris": (
        "TY  - JOUR\nAU  - Doe, Jane\nAU  - Roe, Al\nTI  - Made work\nJO  - Made J\nPY  - 2020\nVL  - 3\n"
        "IS  - 4\nSP  - 5\nEP  - 9\nDO  - 10.5555/X.1\nID  - k\nER  - \n"
    ),
    "a.enw": (
        "%0 Journal Article\n%A Doe, Jane\n%A Roe, Al\n%T Made work\n%J Made J\n%D 2020\n%V 3\n%N 4\n%P 5-9\n"
        "%R 10.5555/X.1\n%F k\n"
    ),
    "a.nbib": (
        "PMID- 77\nTI  - Made work\nAU  - Doe J\nAU  - Roe A\nTA  - Made J\nDP  - 2020 Mar\nVI  - 3\n"
        "IP  - 4\nPG  - 5-9\nLID - 10.5555/X.1 [doi]\n"
    ),
    "a.xml": (
        "<?xml version='1.0'?><xml><records><record><rec-number>k</rec-number><ref-type name='Journal Article"
        "'>17</ref-type><contributors><authors><author>Doe, Jane</author><author>Roe, Al</author></authors></"
        "contributors><titles><title>Made work</title><secondary-title>Made J</secondary-title></titles><page"
        "s>5-9</pages><volume>3</volume><number>4</number><dates><year>2020</year></dates><electronic-resourc"
        "e-num>10.5555/X.1</electronic-resource-num></record></records></xml>"
    ),
    "a.json": (
        '[{"id": "k", "type": "article-journal", "title": "Made work", "author": [{"family": "Doe", "given": '
        '"Jane"}, {"family": "Roe", "given": "Al"}], "container-title": "Made J", "issued": {"date-parts": [['
        '2020]]}, "volume": "3", "issue": "4", "page": "5-9", "DOI": "10.5555/X.1"}]'
    ),
    "a.csv": (
        '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Pages","Issue","Vol'
        'ume"\n'
        '"k","journalArticle","2020","Doe, Jane; Roe, Al","Made work","Made J","10.5555/X.1","5-9","4","3"\n'
    ),
    "a.rdf": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:bib="http://purl.org/net/bibl'
        'io#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:foa'
        'f="http://xmlns.com/foaf/0.1/" xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/" xmlns:z='
        '"http://www.zotero.org/namespaces/export#"><bib:Article rdf:about="http://example.org/k"><z:itemType'
        '>journalArticle</z:itemType><dcterms:isPartOf rdf:resource="urn:issn:1"/><bib:authors><rdf:Seq><rdf:'
        "li><foaf:Person><foaf:surname>Doe</foaf:surname><foaf:givenName>Jane</foaf:givenName></foaf:Person><"
        "/rdf:li><rdf:li><foaf:Person><foaf:surname>Roe</foaf:surname><foaf:givenName>Al</foaf:givenName></fo"
        "af:Person></rdf:li></rdf:Seq></bib:authors><dc:title>Made work</dc:title><dc:date>2020</dc:date><bib"
        ':pages>5-9</bib:pages></bib:Article><bib:Journal rdf:about="urn:issn:1"><dc:title>Made J</dc:title><'
        "prism:volume>3</prism:volume><prism:number>4</prism:number><dc:identifier>DOI 10.5555/X.1</dc:identi"
        "fier></bib:Journal></rdf:RDF>"
    ),
}


@pytest.mark.parametrize("name", BIBLIOGRAPHIES)
def test_bibliographies_give_all_fields(tmp_path: Path, name: str):
    found = read_bibliography([write(tmp_path, name, BIBLIOGRAPHIES[name])])
    [reference] = found.works.values()
    assert found.notes == []
    assert reference.title == "Made work"
    assert reference.authors == ("Doe J", "Roe A")
    assert (reference.journal, reference.year, reference.doi) == ("Made J", 2020, "10.5555/X.1")
    assert (reference.volume, reference.issue, (reference.pages or "").replace("–", "-")) == ("3", "4", "5-9")


def test_a_broken_entry_costs_itself(tmp_path: Path):
    path = write(
        tmp_path, "a.bib", "@article{a, title={Made}}\n@article{b, title={Open\n\n@article{c, title={Third}}\n"
    )
    found = read_bibliography([path])
    assert set(found.works) == {"a", "c"} and len(found.notes) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.tex", "\\documentclass{a}Zinc helps \\cite{a}.\\bibliography{%s}"),
        ("m.md", "---\nbibliography: %s.bib\n---\n\nZinc helps [@a].\n"),
    ],
)
@pytest.mark.parametrize("folder", ["", "refs/"])
def test_a_bibliography_that_was_given_is_not_missed(tmp_path: Path, name: str, text: str, folder: str):
    (tmp_path / "elsewhere").mkdir()
    given = write(tmp_path / "elsewhere", "library.bib", "@article{a, title={Zinc for colds}, year={2001}}")
    draft = write(tmp_path, name, text % f"{folder}library")
    found = read_manuscript(draft, [given])
    assert [item.key for item in found.references] == ["a"] and not found.notes
    assert "library" in read_manuscript(draft).notes[0]


def test_a_bibliography_may_be_named_twice(tmp_path: Path):
    path = write(tmp_path, "a.bib", "@article{a, title={Made}}\n")
    assert read_bibliography([path, path]) == read_bibliography([path])


def test_of_two_works_with_one_key_the_second_is_skipped(tmp_path: Path):
    path = write(tmp_path, "a.bib", "@article{a, title={Made}}\n@article{a, title={Other}}\n")
    found = read_bibliography([path])
    assert found.works["a"].title == "Made"
    assert found.notes == [f"{path}: the key 'a' is already used; reference 2 was skipped"]


def test_a_second_bibliography_without_references_is_refused(tmp_path: Path):
    first = write(tmp_path, "a.bib", "@article{a, title={Made}}\n@article{a, title={Other}}\n")
    with pytest.raises(InputError, match=r"found none in .*b\.bib"):
        read_bibliography([first, write(tmp_path, "b.bib", "% nothing yet\n")])


def test_what_is_no_manuscript_is_refused_with_its_kind(tmp_path: Path):
    for name, content, said in (
        ("a.docx", b"", "empty"),
        ("a.doc", b"\xd0\xcf\x11\xe0" + b"\0" * 600, "an old Office file"),
        ("a.bin", b"\0\1\2", "unknown kind"),
    ):
        with pytest.raises(InputError, match=said):
            read_manuscript(write(tmp_path, name, content))


_LIBRARY = """@article{a, title={Zinc and colds in adults of all ages}, doi={10.5555/a}, year=2019}
@article{b, title={Oats and sleep in shift workers of one city}, year=2020}
@article{c, title={Tea and bones in women after the menopause}, year=2021}"""


@pytest.mark.parametrize(
    ("name", "text", "listed"),
    [
        ("m.tex", r"Zinc helps \cite{a}.\nocite{b}\bibliography{library}", ["a", "b"]),
        ("m.tex", r"Zinc helps \cite{a}.\nocite{*}\bibliography{library}", ["a", "b", "c"]),
        ("m.md", "---\nbibliography: library.bib\nnocite: '@b'\n---\n\nZinc helps [@a].\n", ["a", "b"]),
        ("m.md", "---\nbibliography: library.bib\n---\n\nZinc helps [see](https://doi.org/10.5555/A) [@a].\n", ["a"]),
    ],
)
def test_of_a_library_only_what_is_cited_is_listed_and_a_link_is_the_same_work(
    tmp_path: Path, name: str, text: str, listed: list[str]
):
    (tmp_path / "library.bib").write_text(_LIBRARY, "utf-8")
    (tmp_path / name).write_text(text, "utf-8")
    found = read_manuscript(tmp_path / name)
    assert [reference.key for reference in found.references] == listed
    assert found.cited_keys == ("a",)
