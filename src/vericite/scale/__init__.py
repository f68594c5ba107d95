"""The same work on many processes and machines, through Ray: what comes out is what one process makes, in its order."""

from vericite.scale.cluster import Workers
from vericite.scale.parts import Parts
from vericite.scale.stream import Made, in_parts
from vericite.scale.work import AttributeWork, CheckWork, Work

__all__ = ["AttributeWork", "CheckWork", "Made", "Parts", "Work", "Workers", "in_parts"]
