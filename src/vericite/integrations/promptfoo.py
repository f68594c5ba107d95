"""promptfoo: a Python assertion and a Python provider. promptfoo calls both by their names.

    tests:
      - vars:
          documents: ["Zinc lozenges shortened colds by two days."]
        assert:
          - type: python
            value: |
              from vericite.integrations.promptfoo import get_assert
              return get_assert(output, context)

promptfoo is no Python package: this module imports nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vericite.api import ask
from vericite.errors import InputError
from vericite.formats.form import dict_of
from vericite.integrations.scores import Threshold, answer_with, expect_score, reason_of, score_answer


def get_assert(output: object, context: Mapping[str, Any]) -> dict[str, Any]:
    """Score the citations of an output; each sentence is a component of the result.

    The assertion's ``config`` may have ``kind`` (``support``, ``contradiction``, ``citation_recall`` or
    ``citation_precision``), ``threshold`` (default: 0.9, and 0 for ``contradiction``), ``documents`` (the name of the
    variable with the sources, default ``documents``), ``protocol`` and ``judge``.
    """
    config = dict_of(context.get("config"))
    kind = expect_score(config.get("kind", "support"))
    threshold = Threshold(kind, config.get("threshold"))
    answer = answer_with(output if isinstance(output, str) else str(output), _sources(context))
    found = score_answer(kind, answer, protocol=config.get("protocol"), judge=config.get("judge"))
    components = [
        {"pass": row["label"] in ("supported", "quoted"), "score": float(row["label"] == "supported"), "reason": line}
        for row, line in zip(found.checked.rows, map(reason_of, found.checked.rows), strict=True)
    ]
    return {
        "pass": threshold.is_met(found.value),
        "score": found.to_maximize,
        "reason": found.reason,
        "componentResults": components,
    }


def call_api(prompt: str, options: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a prompt, which is the question, from the test's documents or, without any, from the provider's corpus.

    The provider's ``config`` may have ``corpus``, ``llm`` and ``k``, as for ``vericite.ask``.
    """
    config = dict_of(options.get("config"))
    _, documents = _variable(config, context)
    run = ask(
        prompt,
        [documents] if isinstance(documents, str) else documents,
        corpus=None if documents is not None else config.get("corpus"),
        llm=config.get("llm"),
        k=config.get("k"),
    )
    return {"output": run.answer.text, "metadata": {"documents": [item.id for item in run.answer.documents]}}


def _variable(config: Mapping[str, Any], context: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name of the variable with the sources, and its value in the test; None if it is missing."""
    name = config.get("documents", "documents")
    return name, dict_of(context.get("vars")).get(name)


def _sources(context: Mapping[str, Any]) -> object:
    """Return the sources of a test: a text, or a list of texts or of objects with a text."""
    name, given = _variable(dict_of(context.get("config")), context)
    if given is None:
        raise InputError(
            f"expected the sources in the variable {name!r} of the test; found none. Add it to vars, or name another: "
            "config: {documents: NAME}"
        )
    return given
