"""Work to do on answers, as a value that can be sent to a worker: the plan, not the objects made from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from vericite.attribution.attributor import Attributor
from vericite.attribution.registry import load_attributor
from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError
from vericite.pipeline.build import explain_of, judge_of, protocol_of, settings_of
from vericite.pipeline.check import check_many, verifier_for
from vericite.pipeline.plan import CheckPlan, ModelPlan, Plan
from vericite.records import Answer, Record
from vericite.verify.protocol import Protocol

Do = Callable[[Sequence[Answer]], Iterable[BaseModel]]
"""Yields one record for each answer, in order."""


class AnswerWork(Record, ABC):
    """Work to do on each answer. Equal settings make the same lines from the same answers."""

    @abstractmethod
    def open(self) -> Do:
        """Load what the work needs, once per worker."""

    def preparing(self) -> Callable[[Answer], Answer]:
        """Return the preparation of an answer on this machine, before it is sent."""
        return _unchanged

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return everything that determines the output, for the manifest of a job.

        Raises:
            InputError: The work waits for a language model, so more processors would not make it faster.
        """


class CheckWork(AnswerWork):
    """Check every citation, like ``check_many``.

    Attributes:
        check: How citations are judged.
        llm: Whether judgements are cached on the worker's machine.
    """

    do: Literal["check"] = "check"
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan()

    def open(self) -> Do:
        """Return the check with a verifier that the worker uses for all its parts."""
        protocol = self._protocol()
        explain = explain_of(Plan(check=self.check, llm=self.llm))

        def checked(answers: Sequence[Answer]) -> Iterator[BaseModel]:
            return check_many(answers, protocol, cache=self.llm.cache, explain=explain)

        return checked

    def preparing(self) -> Callable[[Answer], Answer]:
        """Mark the documents that this machine knows to be retracted: workers may know others."""
        return known_retractions().flagged_answer

    def settings(self) -> dict[str, Any]:
        """Return the provenance of the verdicts."""
        verifier = verifier_for(self._protocol())
        _refuse_waiting(verifier.judge)
        explain = {"explain": self.check.corpus or True} if self.check.explain else {}
        return {"do": self.do, "by": verifier.provenance.model_dump(mode="json"), **explain}

    def _protocol(self) -> Protocol:
        return protocol_of(self.check, judge_of(self.check, settings_of(self.llm)))


class AttributeWork(AnswerWork):
    """Cite each sentence, like ``Attributor.attributions``.

    Attributes:
        by: The attributor's name.
        check: How verifying attributors judge.
        llm: Settings of language models.
        keep: Leave sentences that already cite something as they are.
    """

    do: Literal["attribute"] = "attribute"
    by: str = "verifier"
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan()
    keep: bool = False

    def open(self) -> Do:
        """Return the attribution with an attributor that the worker uses for all its parts."""
        attributor = self._attributor(self._protocol())

        def attributed(answers: Sequence[Answer]) -> Iterator[BaseModel]:
            return attributor.attributions(answers, keep=self.keep)

        return attributed

    def settings(self) -> dict[str, Any]:
        """Return the attributor's signature, ``keep``, and the verifier's provenance with the version."""
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
    """Read the work from its JSON."""
    return _WORK.validate_json(text)


def lines_of(do: Do, answers: Iterable[bytes]) -> list[bytes]:
    """Return the lines made from answers in JSON."""
    parsed = [Answer.model_validate_json(answer) for answer in answers]
    return [record.model_dump_json().encode() for record in do(parsed)]


def _unchanged(answer: Answer) -> Answer:
    return answer


def _refuse_waiting(*parts: object) -> None:
    if any(getattr(part, "ledger", None) is not None for part in parts):
        raise InputError(
            "expected a judge that uses a processor with workers.ray; found one that asks a language model. Omit "
            "workers.ray, and raise llm.concurrency."
        )
