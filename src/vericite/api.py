"""Python functions for the commands that work with answers, documents and figures.

Each takes plain values (texts, mappings, paths, another library's objects) and returns records. The functions
use the same code and settings as the commands. All names can be imported from ``vericite``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vericite.corpus.store import Store
from vericite.corpus.store.place import Place
from vericite.errors import InputError, JudgementError, Problems, RecordError, expect_many, expect_type
from vericite.formats.objects import as_answer, as_documents
from vericite.models.contracts import ledger_of
from vericite.pipeline.check import check, parsed, verifier_for
from vericite.pipeline.plan import Language, Plan, usual_plan
from vericite.pipeline.search import FoundEvidence
from vericite.records import Answer, AnswerEvidence, CheckedAnswer, Document, Question, Run
from vericite.retrieve.function import FunctionRetriever, RetrieverFunction, is_retriever
from vericite.retrieve.retriever import Retriever
from vericite.verify.judges.function import AnyJudge, FunctionJudge, as_judge
from vericite.verify.protocol import DEFAULT, Protocol

if TYPE_CHECKING:
    from vericite.attribution.attributor import Attribution
    from vericite.corpus.store import BuildReport
    from vericite.evaluate.judge_calibration import JudgeCalibration
    from vericite.evaluate.ratings import Agreed, Of, RankCorrelation, Rating
    from vericite.evaluate.scoring import Figure, Missing, System
    from vericite.evaluate.significance import Comparison
    from vericite.evaluate.systems import SystemFiles
    from vericite.generate.printed import PrintedPrompts
    from vericite.pipeline.ask import Pipeline
    from vericite.records import Repaired

Corpus = str | Path | Sequence[object] | Store | Retriever | RetrieverFunction
"""Where to search: ``demo``, ``pubmed``, a store (its place, or opened) or a file, documents in memory, a retriever, or
a function of question and k that returns documents."""
Systems = str | Path | Mapping[str, object] | Iterable[object]
"""Systems to score: a file or folder, answers in memory, or a mapping of system names to either."""


def ask(
    question: str,
    documents: Iterable[object] | None = None,
    *,
    corpus: Corpus | None = None,
    llm: str | None = None,
    k: int | None = None,
    plan: Plan | None = None,
    protocol: Protocol | str | None = None,
    judge: AnyJudge | None = None,
) -> Run:
    """Answer a question with a citation on every sentence, and check every citation.

    Args:
        question: The question.
        documents: The documents to answer from. Without documents and corpus the demonstration corpus is searched.
        corpus: Where to search, in place of ``documents``.
        llm: A language model that answers, such as ``openai:gpt-4o-mini``. By default the answer consists of
            sentences of the sources.
        k: How many documents to answer from. Default: 5.
        plan: Every other setting; the arguments above override it.
        protocol: A protocol or its name.
        judge: A judge or its name.

    Raises:
        InputError: The question is empty, a document cannot be read, or settings conflict.
    """
    expect_type(question, str, "a question as a text", "Give its words as a str")
    if not question.strip():
        raise InputError("expected a question; found no text")
    if documents is not None and corpus is not None:
        raise InputError("expected documents or a corpus; found both. Leave one out")
    if k is not None:
        expect_type(k, int, "k, the number of documents, as a whole number", "Give an int")
    if k is not None and k < 1:
        raise InputError(f"expected k, the number of documents to answer from, to be 1 or more; found {k}")
    searched = corpus if documents is None else as_documents(documents)
    chosen = _with(plan or Plan(), answer={"llm": llm}, search={"k": k})
    pipeline = build(chosen, searched, protocol=protocol, judge=judge)
    return pipeline.run(Question(id="question", text=question), chosen.search.depth())


def build(
    plan: Plan | None = None,
    corpus: Corpus | None = None,
    *,
    protocol: Protocol | str | None = None,
    judge: AnyJudge | None = None,
) -> Pipeline:
    """Build a pipeline that answers many questions.

    Args:
        plan: The settings. Default: those of ``vericite ask``.
        corpus: Where to search, in place of the plan's corpus.
        protocol: A protocol or its name, in place of the plan's.
        judge: A judge or its name, in place of the plan's.

    Raises:
        InputError: A part of the plan is not available, or parts conflict.
        MissingExtraError: A part needs an extra that is not installed.
    """
    from vericite.pipeline.build import build as built
    from vericite.pipeline.search import Search

    named = _with(plan or Plan(), check={"protocol": _name(protocol), "judge": _name(judge)}, search=_named(corpus))
    judge = as_judge(judge)
    retriever, documents = _retriever(corpus), _documents(corpus)
    problems = Problems()
    pipeline = built(
        named,
        problems=problems,
        search=None if retriever is None else Search(retriever),
        judge=None if isinstance(judge, str) else judge,
        documents=documents,
        protocol=None if isinstance(protocol, str) else protocol,
    )
    _raise_first(problems)
    return pipeline


def assert_supported(
    answer: object,
    documents: Iterable[object] = (),
    *,
    at_least: float = 0.9,
    protocol: Protocol | str = DEFAULT,
    judge: AnyJudge | None = None,
) -> CheckedAnswer:
    """Check an answer, and raise ``AssertionError`` if too few of its citations and sentences are supported.

    The share is that of ``vericite check --fail-under``: supported cases, of all cases, dangling citations and
    sentences without a citation. The error has each sentence that is not supported, with its verdict, evidence and
    reason.

    Args:
        answer: A text, an ``Answer``, or what a library returns; or an answer that was checked.
        documents: The sources, if the answer does not include them.
        at_least: The minimum share, from 0 to 1.
        protocol: A protocol or its name.
        judge: A judge, its name, or a function of premise and claim.

    Raises:
        AssertionError: The share is lower, or there is nothing to check.
        InputError: The answer or a document cannot be read.
        JudgementError: The outcome depends on cases that the judge could not judge.
    """
    from vericite.evaluate.gates import Gate
    from vericite.reporting.findings import RecordPlace, findings_of, unsupported

    __tracebackhide__ = True  # pytest then shows the test's line.
    expect_type(at_least, int | float, "at_least as a share from 0 to 1", "Give a number, such as 0.9")
    if not 0 <= at_least <= 1:
        raise InputError(f"expected at_least to be a share from 0 to 1; found {at_least:g}. Write 90 % as 0.9")
    is_checked = isinstance(answer, CheckedAnswer)
    checked = answer if is_checked else check(answer, documents, protocol=protocol, judge=judge)
    result = Gate("supported", at_least, is_minimum=True).result(checked.summary)
    if result.outcome == "passed" or (not result.found.of and checked.supported):
        return checked
    if result.outcome == "undecided":
        raise JudgementError(
            f"{result.found.unknown} of {checked.summary.cases} cases failed: {checked.failures[0].reason}"
        )
    asked = verifier_for(protocol, judge).judge
    if not is_checked and ledger_of(asked) is None and not isinstance(asked, FunctionJudge):
        # Only now, and of no language model, because looking for reasons asks the judge several times as much.
        checked = check(answer, documents, protocol=protocol, judge=judge, explain=True)
    raise AssertionError(unsupported(result, findings_of(checked, RecordPlace())))


def search(
    question: str, corpus: Corpus | None = None, *, k: int | None = None, plan: Plan | None = None
) -> FoundEvidence:
    """Find the documents that answer a question, best first.

    Args:
        question: A question or words.
        corpus: Where to search. Default: the plan's corpus; without a plan the demonstration corpus.
        k: How many documents to find. Default: 10.
        plan: How to search. Default: the settings of ``vericite search``.

    Raises:
        InputError: The corpus is unknown, or does not support the plan.
        MissingExtraError: A part needs an extra that is not installed.
    """
    from vericite.pipeline.build import open_search, settings_of
    from vericite.pipeline.search import Search

    chosen = _with(plan or usual_plan("search"), search={"k": k, **_named(corpus)})
    retriever = _retriever(corpus)
    if retriever is not None:
        found = Search(retriever)
    else:
        problems = Problems()
        found = open_search(chosen.search, settings_of(chosen.llm), documents=_documents(corpus), problems=problems)
        _raise_first(problems)
    return found.find(Question(id="question", text=question), chosen.search.depth(10))


def attribute(
    answer: object,
    documents: Iterable[object] = (),
    *,
    by: str | None = None,
    keep: bool = False,
    plan: Plan | None = None,
) -> Attribution:
    """Cite the sources of each sentence of an answer.

    Args:
        answer: A text, an ``Answer``, or what a library returns.
        documents: The sources that may be cited, if the answer does not include them.
        by: Method, such as ``learned``, ``verifier`` or ``llm:MODEL``. Default: the bundled head.
        keep: Keep existing citations; otherwise they are removed first.
        plan: Settings for methods that use the judge or a language model.

    Raises:
        InputError: The answer or a document cannot be read.
    """
    from vericite.attribution.registry import default_attributor, load_attributor
    from vericite.pipeline.build import judge_of, protocol_of, settings_of

    chosen = plan or usual_plan("attribute")
    settings = settings_of(chosen.llm)
    way = by or default_attributor(chosen.check.protocol, chosen.check.judge)
    attributor = load_attributor(way, protocol_of(chosen.check, judge_of(chosen.check, settings)), settings)
    return attributor.attribution(parsed(answer, documents), keep=keep)


def repair(
    answer: object,
    documents: Iterable[object] = (),
    *,
    corpus: str | None = None,
    llm: str | None = None,
    plan: Plan | None = None,
) -> Repaired:
    """Repair the citations that the judge rejects: cite another source, correct the sentence, or remove it.

    Args:
        answer: A text, an ``Answer``, or what a library returns.
        documents: The cited sources, if the answer does not include them.
        corpus: Where to search for other documents that support a sentence.
        llm: A language model that rewrites sentences.
        plan: Every other setting.

    Raises:
        InputError: The answer or a document cannot be read, or a part of the plan is not available.
    """
    from vericite.pipeline.build import build_repairer

    chosen = _with(plan or usual_plan("repair"), repair={"corpus": corpus, "llm": llm})
    problems = Problems()
    repairer = build_repairer(chosen, problems)
    _raise_first(problems)
    return repairer.repair(parsed(answer, documents))


def evidence(
    answer: object,
    corpus: Corpus | None = None,
    *,
    plan: Plan | None = None,
    judge: AnyJudge | None = None,
) -> AnswerEvidence:
    """Find the articles of a corpus that support and that contradict each sentence of an answer, surest first.

    Args:
        answer: A text, an ``Answer``, or what a library returns. Its own citations are not read.
        corpus: Where to search. Default: the plan's corpus; without a plan the demonstration corpus.
        plan: How to search and to judge; ``search.k`` is the number of articles of each kind for a sentence.
        judge: A judge or its name, in place of the plan's.

    Raises:
        InputError: The answer cannot be read, the corpus is unknown, or a part of the plan is not available.
    """
    from vericite.pipeline.build import build_finder, open_search, settings_of
    from vericite.pipeline.search import Search

    judge = as_judge(judge)
    chosen = _with(plan or usual_plan("evidence"), check={"judge": _name(judge)}, search=_named(corpus))
    problems = Problems()
    retriever, documents = _retriever(corpus), _documents(corpus)
    if retriever is not None:
        search = Search(retriever)
    else:
        search = open_search(chosen.search, settings_of(chosen.llm), documents=documents, problems=problems)
    finder = build_finder(chosen, problems, search, None if isinstance(judge, str) else judge)
    _raise_first(problems)
    return next(finder.find([parsed(answer)]))


def score(
    systems: Systems,
    gold: str | Path | None = None,
    measures: Sequence[str] | str | None = None,
    *,
    by: str | None = None,
    missing: Missing = "out",
    draws: int = 1000,
    seed: int = 0,
) -> list[Figure]:
    """Score one or more systems, each figure with its count, 95 % interval and signature.

    Args:
        systems: A file or folder of answers, verdicts or runs; a list of ``Answer``, ``CheckedAnswer`` or ``Run``; or a
            mapping of system names to either.
        gold: A file of gold answers, or a data set by name such as ``bioasq:FILE``.
        measures: Names of measures, as ``vericite measures`` lists them. Default: all that the files have data for.
        by: A group of the gold questions, such as ``type``, or ``design``, that of the cited studies: also score each
            of its values.
        missing: Whether questions without output are left ``out`` of measures against gold, or score ``zero``.
        draws: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Raises:
        InputError: A file cannot be read or a measure is unknown.
    """
    from vericite.evaluate.measures.registry import measures_for
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import score_systems

    found = _systems(systems, gold)
    if measures is None:
        chosen = list(dict.fromkeys(measure for system in found for measure in measures_for(system.items)))
    else:
        chosen = _measures(measures)
    figures = score_systems(found, chosen, Bootstrap(draws, seed), by, missing)
    return figures if measures else [figure for figure in figures if figure.estimate.n]


def compare(
    first: Systems,
    second: Systems,
    measures: Sequence[str] | str | None = None,
    gold: str | Path | None = None,
    *,
    missing: Missing = "out",
    draws: int = 1000,
    seed: int = 0,
) -> list[Comparison]:
    """Compare two systems on the same questions: difference, interval and p value of a permutation test.

    Args:
        first: A system, as for ``score``.
        second: The system to compare it with.
        measures: Names of measures. Default: the first usual measure that both systems have data for.
        gold: A file of gold answers.
        missing: Whether questions without output are left ``out`` of measures against gold, or score ``zero``.
        draws: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Raises:
        InputError: A file cannot be read or a measure is unknown.
    """
    from vericite.evaluate.measures.registry import preferred_measure
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import compare_systems

    one, other = _single(first, gold, "first"), _single(second, gold, "second")
    chosen = _measures(measures) if measures else [preferred_measure([one.items, other.items])]
    return compare_systems(one, other, chosen, Bootstrap(draws, seed), missing)


def agree(
    ratings: str | Path | Sequence[str | Path] | Sequence[Rating],
    measures: Sequence[str] | str = ("CohenKappa", "KrippendorffAlpha"),
    *,
    reference: str | None = None,
    categories: Sequence[str] | None = None,
    of: Of = "citations",
    by: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> list[Agreed]:
    """Measure the agreement of raters on the same items, with intervals.

    Args:
        ratings: Files of ratings, labels or verdicts, or ratings in memory.
        measures: Agreement measures, as ``vericite measures`` lists them.
        reference: Compare each rater with this one. Default: compare each pair.
        categories: All labels in order, for weighted measures.
        of: The items of labels and verdicts in files: ``citations``, or statements of a ``rationale``.
        by: Also measure each value of the field ``by`` separately.
        draws: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Raises:
        InputError: A file cannot be read, or there are fewer than two raters.
    """
    from vericite.evaluate.measures.registry import AGREEMENT, parse_measure, split_measures
    from vericite.evaluate.ratings import Rating, read_ratings
    from vericite.evaluate.ratings import agree as measured
    from vericite.evaluate.resampling import Bootstrap

    names = split_measures(measures) if isinstance(measures, str) else measures
    given: list[Any] = [ratings] if isinstance(ratings, str | Path) else list(ratings)
    if all(isinstance(item, Rating) for item in given):
        found = cast("list[Rating]", given)
    else:
        problems = Problems()
        found = read_ratings([Path(item) for item in given], problems, of)
        _raise_first(problems)
    chosen = [parse_measure(name, AGREEMENT) for name in names]
    return measured(found, chosen, reference, categories, Bootstrap(draws, seed), by)


def report(
    systems: Systems,
    out: str | Path | None = None,
    *,
    gold: str | Path | None = None,
    title: str = "Cited answers",
    language: Language = "en",
    protocol: Protocol | str | None = None,
    judge: AnyJudge | None = None,
) -> str:
    """Make one self-contained HTML page of answers, verdicts and sources. Answers without verdicts are checked first.

    Args:
        systems: Systems to show, as for ``score``.
        out: What to write, as ``vericite report --out`` does: a page for .html, a document for .docx or .md, a table
            with a row per citation for .csv, a folder with a page and separate data for a name without an ending.
            Default: the page is only returned.
        gold: A file of gold answers.
        title: The page's heading.
        language: Language of the words around answers and sources: en, de or es.
        protocol: A protocol or its name, for answers without verdicts. Default: the default protocol.
        judge: A judge or its name, for answers without verdicts.

    Raises:
        InputError: A file cannot be read or written, ``out`` has another ending, or one system would have verdicts of
            two protocols.
    """
    from vericite.reporting.data import make_report, with_verdicts
    from vericite.reporting.page import make_page
    from vericite.reporting.written import is_report_folder, write_report

    if out is not None:
        is_report_folder(Path(out))  # Refuse another ending before anything is judged.
    checked = [with_verdicts(system, protocol, as_judge(judge)) for system in _systems(systems, gold)]
    page = None if out is None else write_report(checked, Path(out), title, language=language)
    if page is None or page.data is not None:
        page = make_page(make_report(checked), title, language=language)
    return page.html


def read_answers(path: str | Path, documents: Iterable[object] = (), *, format: str = "auto") -> Iterator[Answer]:
    """Read answers from a file, one by one, in any format that ``vericite check`` reads.

    Args:
        path: JSON Lines, JSON, CSV, Excel, Parquet or Markdown; or a data set by name, such as ``medaesqa:FILE``.
        documents: Documents that the answers cite by PMID, DOI or URL.
        format: Name of the format, or what columns or fields hold: ``answer=reply,contexts=sources``. Default: detected
            from the first records.

    Raises:
        InputError: The file or one of its records cannot be used; the message names line and field.
    """
    from vericite.corpus.manuscript.listed import ReferencedLibrary
    from vericite.formats import answers_in

    for item in answers_in(Path(path), format, ReferencedLibrary(as_documents(documents))):
        if isinstance(item, RecordError):
            raise item
        yield item


def build_corpus(sources: str | Path | Sequence[str | Path], to: str | Path, *, vectors: bool = False) -> BuildReport:
    """Build a store of documents from files and folders, or add to one.

    Args:
        sources: PubMed XML, JSONL, CSV, RIS, NBIB, JATS, Markdown, text, PDF; files or folders. Also
            ``pubmed:QUERY`` and ``pmids:1,2,3``, which ask NCBI.
        to: The store: a folder, or ``s3://bucket/prefix``.
        vectors: Also store vectors, so that documents are found by meaning.

    Raises:
        InputError: A source cannot be read.
        MissingExtraError: The extra ``[store]`` is not installed.
    """
    from vericite.corpus.ingest import LIST, QUERY, collect_sources
    from vericite.corpus.store import build_store

    places = [sources] if isinstance(sources, str | Path) else sources
    if not any(str(place).startswith((QUERY, LIST)) for place in places):
        return build_store(str(to), collect_sources(places).sources, vectors=vectors)
    from vericite.corpus.entrez.client import Entrez

    with Entrez() as entrez:
        return build_store(str(to), collect_sources(places, entrez).sources, vectors=vectors)


def open_corpus(place: str | Path) -> Store:
    """Open a store that ``build_corpus`` or ``vericite corpus build`` made.

    Args:
        place: A folder, or ``s3://bucket/prefix``.

    Raises:
        InputError: The store does not exist.
        MissingExtraError: The extra ``[store]`` is not installed.
    """
    from vericite.corpus.store import open_store

    return open_store(place)


def read_dataset(name: str, kind: str = "questions") -> list[Any]:
    """Read a public data set by name.

    Args:
        name: Name and file, such as ``bioasq:FILE``; ``vericite datasets`` lists the names.
        kind: ``questions`` (``Question``), ``gold``, ``answers`` (``Answer``), ``labels``, ``citations`` or
            ``documents`` (``Document``).

    Raises:
        UnknownNameError: The data set does not exist, or has no records of this kind.
        InputError: The file or one of its records cannot be used.
    """
    from vericite.datasets.registry import source_named

    expect_type(name, str, "a data set's name and file, as in bioasq:FILE", "Give them as one text")
    expect_type(kind, str, "a kind of record, such as questions", "Give its name as a text")
    source = source_named(name)
    problems = Problems()
    records = list(source.records(source.kind_named(kind), problems))
    _raise_first(problems)
    return records


def extract_prompts(paper: str | Path, to: str | Path) -> PrintedPrompts:
    """Find the prompts printed in your own copy of a paper, and write each as a file that is sent word for word.

    The papers are VeriCite, Reason and Verify, BioACE and MultiAttr. The result has the files by name of the prompt,
    and the names of prompts that this copy lacks.

    Args:
        paper: The paper as PDF or as text.
        to: The folder to write to.

    Raises:
        InputError: The paper cannot be read, or none of its prompts is recognized.
        MissingExtraError: The paper is a PDF, and the extra ``[documents]`` is not installed.
    """
    from vericite.generate.printed import write_printed

    return write_printed(Path(paper), Path(to))


def read_questions(path: str | Path) -> list[Question]:
    """Read questions from a file, as ``vericite ask --batch`` does.

    Args:
        path: JSON Lines, a JSON list, a table (CSV, TSV, Excel, Parquet), a text with one question per line, or a data
            set by name such as ``bioasq:FILE``.

    Raises:
        InputError: The file or one of its records cannot be used.
    """
    from vericite.formats.registry import read_questions as read

    problems = Problems()
    found = read(Path(path), problems)
    _raise_first(problems)
    return found


def write_answers(runs: Run | Iterable[Run], out: str | Path) -> None:
    """Write answers to keep or to send, in the form that the file's ending asks for.

    Args:
        runs: What ``ask`` returns, or a list of it.
        out: The file: a document for .md, .docx or .html; the cited references for .ris, which Zotero and EndNote
            import; the runs for .jsonl.

    Raises:
        InputError: The ending is unknown, or the file cannot be written.
    """
    from vericite.reporting.written import write_runs

    if not isinstance(runs, Run):
        expect_many(runs, "a run, or a list of runs")
    given = [runs] if isinstance(runs, Run) else list(runs)
    for run in given:
        expect_type(run, Run, "a run, as ask() returns", "Give what ask() returned")
    write_runs(given, Path(out))


def convert(answers: Systems, to: str = "vericite", *, run: str = "vericite", team: str = "vericite") -> str:
    """Convert answers to another program's format.

    Args:
        answers: A file of answers, or answers in memory.
        to: ``vericite``, ``biogen``, ``autojudge`` or ``alce``.
        run: Name of a BioGen or AutoJudge run.
        team: Team of an AutoJudge run.

    Returns:
        The text of the file.

    Raises:
        UnknownNameError: The format is unknown.
        InputError: An answer is unusable, or violates BioGen's rules.
    """
    from vericite.formats.convert import answers_as

    given = read_answers(answers) if isinstance(answers, str | Path) else map(as_answer, _items(cast("Any", answers)))
    problems = Problems()
    text = answers_as(to, given, run, team, problems)
    _raise_first(problems)
    return text


def calibrate(
    labels: str | Path,
    judge: str = "bundled",
    *,
    coverage: float | None = None,
    risk: float | None = None,
    out: str | Path | None = None,
) -> JudgeCalibration:
    """Fit a judge's temperature, and the probability below which it abstains, to your own labels.

    Args:
        labels: File of labelled pairs: premise, claim, label and optionally group.
        judge: Judge to calibrate.
        coverage: Share of verdicts to keep. Default: 0.9.
        risk: Maximum share of wrong verdicts among those kept, instead of ``coverage``.
        out: Keep the result: under a name, for ``check(..., judge=NAME)``, or in a file with an ending such as
            ``mine.json``, for ``judge="calibrated:FILE"``.

    Raises:
        InputError: The labels are unusable, or the judge gives no probabilities.
    """
    from vericite.evaluate.calibration import target_of
    from vericite.evaluate.judge_calibration import base_of, calibrate_judge, destination, keep, read_labels

    expect_type(
        judge, str, "a judge's name, such as bundled", "A function cannot be calibrated: it has no name to keep"
    )
    name, place = (None, None) if out is None else destination(str(out))
    problems = Problems()
    pairs = read_labels(Path(labels), problems)
    _raise_first(problems)
    found = calibrate_judge(base_of(judge), pairs, target_of(coverage, risk))
    if place is not None:
        keep(found, place, name)
    return found


def rankings(
    scores: str | Path | Sequence[str | Path],
    measures: Sequence[str] | str = ("Spearman", "Kendall"),
    *,
    reference: str | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> list[RankCorrelation]:
    """Measure whether two measures rank the same systems alike, with intervals over systems.

    Args:
        scores: Files of figures, as ``vericite score --out`` writes them.
        measures: ``Spearman``, ``Kendall`` and ``TauAP``; ``Kendall@10`` ranks the ten best by the first measure.
        reference: Compare each measure with this one. Default: compare each pair.
        draws: Number of bootstrap samples.
        seed: Seed of the bootstrap.

    Raises:
        InputError: A file cannot be read, or there are fewer than two measures.
    """
    from vericite.evaluate.measures.registry import RANKINGS, parse_measure, split_measures
    from vericite.evaluate.ratings import correlate_rankings, read_scores
    from vericite.evaluate.resampling import Bootstrap

    names = split_measures(measures) if isinstance(measures, str) else measures
    places = [scores] if isinstance(scores, str | Path) else scores
    problems = Problems()
    found = read_scores([Path(place) for place in places], problems)
    _raise_first(problems)
    return correlate_rankings(
        found, [parse_measure(name, RANKINGS) for name in names], reference, Bootstrap(draws, seed)
    )


def _retriever(corpus: Corpus | None) -> Retriever | None:
    if is_retriever(corpus):
        return corpus
    return FunctionRetriever(corpus) if callable(corpus) else None


def _documents(corpus: Corpus | None) -> list[Document] | None:
    """Return documents in memory, or None for a name or a retriever."""
    if corpus is None or _place(corpus) is not None or _retriever(corpus) is not None:
        return None
    return as_documents(cast("Sequence[object]", corpus))


def _place(corpus: Corpus | None) -> str | None:
    """Return the name of a corpus in a plan, for an open store its place; None for documents and retrievers."""
    if isinstance(corpus, str | Path):
        return str(corpus)
    place = getattr(corpus, "place", None)
    return str(place.folder or place.name) if isinstance(place, Place) else None


def _named(corpus: Corpus | None) -> dict[str, object]:
    place = _place(corpus)
    return {} if place is None else {"corpus": place}


def _name(given: object) -> str | None:
    return given if isinstance(given, str) else None


def _with(plan: Plan, **sections: dict[str, object]) -> Plan:
    """Return the plan with all settings that are not None."""
    given = {
        section: {name: value for name, value in fields.items() if value is not None}
        for section, fields in sections.items()
    }
    return plan.changed(given, "in the arguments")


def _measures(named: Sequence[str] | str) -> list[Any]:
    from vericite.evaluate.measures.registry import measures_named

    return measures_named([named] if isinstance(named, str) else list(named))


def _raise_first(problems: Sequence[RecordError]) -> None:
    """Raise the first problem: in Python an unusable record is an error; commands report it and continue."""
    if problems:
        raise problems[0]


def _single(given: Systems, gold: str | Path | None, name: str) -> System:
    found = _systems(given, gold, name)
    if len(found) != 1:
        raise InputError(f"expected a single {name} system; found {len(found)}. Pass them separately")
    return found[0]


def _systems(given: Systems, gold: str | Path | None, name: str = "answers") -> list[System]:
    from vericite.evaluate.systems import SystemFiles, read_gold, read_systems

    problems = Problems()
    gold_path = None if gold is None else Path(gold)
    if isinstance(given, str | Path):
        read = read_systems([Path(given)], problems, gold_path)
        _raise_first(problems)
        return list(read.systems)
    if isinstance(given, Mapping):
        named = cast("Mapping[str, Systems]", given)
        return [system for own, item in named.items() for system in _systems(item, gold, own)]
    known = None
    if gold_path is not None:
        known = read_gold(gold_path, problems)
        _raise_first(problems)
    files = SystemFiles()
    for number, item in enumerate(_items(given)):
        _keep(files, item, number)
    return [files.system(name, known)]


def _items(given: Iterable[object]) -> Iterator[object]:
    if isinstance(given, Answer | CheckedAnswer | Run):
        yield given
    else:
        expect_many(given, "a file, or a list of answers, verdicts or runs")
        yield from given


def _keep(files: SystemFiles, item: object, number: int) -> None:
    if isinstance(item, Run):
        files.runs[item.question.id] = item
    elif isinstance(item, CheckedAnswer):
        files.verdicts[item.id] = item
    elif isinstance(item, tuple):
        for part in cast("tuple[object, ...]", item):
            _keep(files, part, number)
    else:
        try:
            answer = as_answer(item)
        except InputError as error:
            raise InputError(f"expected an Answer, CheckedAnswer or Run at {number}; {error}") from None
        files.answers[answer.id] = answer


__all__ = [
    "Corpus",
    "Document",
    "Systems",
    "agree",
    "ask",
    "assert_supported",
    "attribute",
    "build",
    "build_corpus",
    "calibrate",
    "check",
    "compare",
    "convert",
    "extract_prompts",
    "open_corpus",
    "rankings",
    "read_answers",
    "read_dataset",
    "read_questions",
    "repair",
    "report",
    "score",
    "search",
    "write_answers",
]
