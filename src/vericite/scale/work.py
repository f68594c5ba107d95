"""What a worker does with answers, as a value that can be sent to it: the plan, not the parts that it makes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from vericite.attribution.attributor import Attributor
from vericite.attribution.registry import load_attributor
from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError
from vericite.pipeline.build import judge_of, protocol_of, settings_of
from vericite.pipeline.check import check_many, verifier_for
from vericite.pipeline.plan import CheckPlan, ModelPlan
from vericite.records import Answer, Record
from vericite.verify.protocol import Protocol

Do = Callable[[Sequence[Answer]], Iterable[BaseModel]]
"""One record an answer, in their order."""


class AnswerWork(Record, ABC):
    """What is done with each answer; two of the same settings make the same lines of the same answers."""

    @abstractmethod
    def open(self) -> Do:
        """Load what the work needs, once a worker."""

    def preparing(self) -> Callable[[Answer], Answer]:
        """What is done to an answer before it is sent, by what this machine knows."""
        return _as_it_is

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """All that decides what is made, for the manifest of a job.

        Raises:
            InputError: The work waits for a language model, which more processors make no faster.
        """


class CheckWork(AnswerWork):
    """Check every citation, as ``check_many`` does.

    Attributes:
        check: How citations are judged.
        llm: Whether judgements are kept on the worker's machine.
    """

    do: Literal["check"] = "check"
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan()

    def open(self) -> Do:
        """A verifier for all parts that the worker gets."""
        protocol = self._protocol()

        def checked(answers: Sequence[Answer]) -> Iterator[BaseModel]:
            return check_many(answers, protocol, cache=self.llm.cache)

        return checked

    def preparing(self) -> Callable[[Answer], Answer]:
        """Mark the documents that are known on this machine as retracted: another may know of others."""
        return known_retractions().flagged_answer

    def settings(self) -> dict[str, Any]:
        """The provenance that every verdict has."""
        verifier = verifier_for(self._protocol())
        _refuse_waiting(verifier.judge)
        return {"do": self.do, "by": verifier.provenance.model_dump(mode="json")}

    def _protocol(self) -> Protocol:
        return protocol_of(self.check, judge_of(self.check, settings_of(self.llm)))


class AttributeWork(AnswerWork):
    """Cite each sentence, as ``Attributor.attributions`` does.

    Attributes:
        by: The attributor's name.
        check: How the verifying ones judge.
        llm: How language models are asked.
        keep: Leave sentences that cite something as they are.
    """

    do: Literal["attribute"] = "attribute"
    by: str = "verifier"
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan()
    keep: bool = False

    def open(self) -> Do:
        """An attributor for all parts that the worker gets."""
        attributor = self._attributor(self._protocol())

        def attributed(answers: Sequence[Answer]) -> Iterator[BaseModel]:
            return attributor.attributions(answers, keep=self.keep)

        return attributed

    def settings(self) -> dict[str, Any]:
        """The attributor's signature, what is kept, and by what texts are read and judged, with the version."""
        protocol = self._protocol()
        attributor, verifier = self._attributor(protocol), verifier_for(protocol)
        _refuse_waiting(attributor, verifier.judge)
        read = verifier.provenance.model_dump(mode="json")
        return {"do": self.do, "by": attributor.signature, "read": read, "keep": self.keep}

    def _attributor(self, protocol: Protocol) -> Attributor:
        return load_attributor(self.by, protocol, settings_of(self.llm))

    def _protocol(self) -> Protocol:
        return protocol_of(self.check, judge_of(self.check, settings_of(self.llm)))


_WORK: TypeAdapter[CheckWork | AttributeWork] = TypeAdapter(CheckWork | AttributeWork)


def work_of(text: str) -> AnswerWork:
    """The work of its JSON."""
    return _WORK.validate_json(text)


def lines_of(do: Do, answers: Iterable[bytes]) -> list[bytes]:
    """The lines that are made of answers in JSON."""
    parsed = [Answer.model_validate_json(answer) for answer in answers]
    return [record.model_dump_json().encode() for record in do(parsed)]


def _as_it_is(answer: Answer) -> Answer:
    return answer


def _refuse_waiting(*parts: object) -> None:
    if any(getattr(part, "ledger", None) is not None for part in parts):
        raise InputError(
            "expected a judge that needs a processor beside --ray; found one that asks a language model. Leave --ray "
            "out, and raise llm.concurrency."
        )
