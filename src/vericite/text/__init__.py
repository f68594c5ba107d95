"""Parts of texts with exact offsets: sentences, citations, statements."""

from vericite.text.citations import CITATIONS, parse_answer
from vericite.text.language import LANGUAGE, foreign_reason
from vericite.text.references import MarkerGroup, parse_markers, render_markers
from vericite.text.sentences import SPLITTER, document_sentences, split_sentences
from vericite.text.statements import STATEMENTS, looks_dependent, split_statements

__all__ = [
    "CITATIONS",
    "LANGUAGE",
    "SPLITTER",
    "STATEMENTS",
    "MarkerGroup",
    "document_sentences",
    "foreign_reason",
    "looks_dependent",
    "parse_answer",
    "parse_markers",
    "render_markers",
    "split_sentences",
    "split_statements",
]
