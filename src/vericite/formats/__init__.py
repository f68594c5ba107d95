"""Formats of answers from other programs, each read as an ``Answer``."""

from vericite.formats.form import Foreign, Format, RawRecord, answer_of
from vericite.formats.registry import AUTO, FORMATS, AnswerToCheck, answers_in

__all__ = [
    "AUTO",
    "FORMATS",
    "AnswerToCheck",
    "Foreign",
    "Format",
    "RawRecord",
    "answer_of",
    "answers_in",
]
