"""Judges from Hugging Face checkpoints; they need the extra ``[hf]``, which loads when one is made."""

from vericite.verify.judges.hf.classifier import REPRODUCTION, NliJudge
from vericite.verify.judges.hf.seq2seq import ATTRSCORE, TRUE, Seq2SeqJudge, Style

__all__ = ["ATTRSCORE", "REPRODUCTION", "TRUE", "NliJudge", "Seq2SeqJudge", "Style"]
