"""Work on many processes and machines through Ray, with the same output in the same order as one process."""

from vericite.scale.cluster import Workers
from vericite.scale.stream import MadeAnswer, Parts, in_parts
from vericite.scale.work import AnswerWork, AttributeWork, CheckWork

__all__ = ["AnswerWork", "AttributeWork", "CheckWork", "MadeAnswer", "Parts", "Workers", "in_parts"]
