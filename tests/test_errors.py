from __future__ import annotations

import inspect
import pickle
import re

import pytest

from vericite import errors
from vericite.errors import (
    InputError,
    MissingExtraError,
    ModelCardError,
    ModelHashError,
    ModelMissingError,
    RecordError,
    UnknownNameError,
    VeriCiteError,
)

BRANCH = re.compile(r"(?P<indent>(?:[│ ]   )*)(?P<arm>[├└]── )?(?P<name>\w+Error)\b")


def classes() -> dict[str, type[BaseException]]:
    return {
        name: found
        for name, found in inspect.getmembers(errors, inspect.isclass)
        if found.__module__ == errors.__name__ and issubclass(found, BaseException)
    }


def drawn_parents() -> dict[str, str | None]:
    drawing = inspect.cleandoc(errors.__doc__ or "")
    parents: dict[str, str | None] = {}
    above: list[str] = []
    for line in drawing.splitlines():
        if found := BRANCH.match(line):
            depth = len(found["indent"] + (found["arm"] or "")) // 4
            assert found["name"] not in parents, "a class is drawn once"
            parents[found["name"]] = above[depth - 1] if depth else None
            above[depth:] = [found["name"]]
    return parents


def test_the_drawn_tree_names_exactly_the_classes_there_are():
    assert set(drawn_parents()) == set(classes())


@pytest.mark.parametrize(("name", "parent"), drawn_parents().items())
def test_the_drawn_tree_shows_the_parent_of_each_class(name: str, parent: str | None):
    first, *_ = classes()[name].__bases__
    assert first.__name__ == (parent or "Exception")


@pytest.mark.parametrize("name", classes())
def test_every_error_is_a_vericite_error_and_says_what_it_means(name: str):
    assert issubclass(classes()[name], VeriCiteError)
    assert classes()[name].__doc__


@pytest.mark.parametrize(
    ("asked", "suggested"),
    [("sentance", "sentence"), ("document-all", "document-any"), ("Sentence", "sentence")],
)
def test_an_unknown_name_that_is_close_to_a_known_one_is_answered_with_it(asked: str, suggested: str):
    message = str(UnknownNameError("protocol", asked, ["document-any", "sentence"]))
    assert message.endswith(f"Did you mean {suggested!r}?")


def test_an_unknown_name_that_is_close_to_none_is_answered_with_all_names_in_order():
    message = str(UnknownNameError("judge", "quixotic", {"zeta", "alpha"}))
    assert message == "expected a judge out of alpha, zeta; found 'quixotic'."


def test_a_name_that_two_registries_have_is_listed_once():
    message = str(UnknownNameError("format", "nosuch", ["auto", "alce", "alce"]))
    assert message == "expected a format out of alce, auto; found 'nosuch'."


def test_an_unknown_name_is_reported_even_where_there_are_no_names_at_all():
    assert "found 'x'" in str(UnknownNameError("corpus", "x", iter(())))


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        (7, "sections.0.text", "in.jsonl, line 7, field sections.0.text: expected text; found 3"),
        (7, None, "in.jsonl, line 7: expected text; found 3"),
        (0, "sections.0.text", "in.jsonl, field sections.0.text: expected text; found 3"),
        (0, None, "in.jsonl: expected text; found 3"),
    ],
    ids=["line and field", "line", "field", "neither"],
)
def test_a_record_error_says_where_as_far_as_that_is_known_and_keeps_the_parts(
    line: int, field: str | None, message: str
):
    error = RecordError("in.jsonl", line, field, "expected text; found 3")
    assert str(error) == message
    assert (error.path, error.line, error.field, error.problem) == (
        "in.jsonl",
        line,
        field,
        "expected text; found 3",
    )


def test_a_missing_extra_is_answered_with_the_line_that_installs_it():
    error = MissingExtraError("store", "The vector store")
    assert error.extra == "store"
    assert str(error).startswith("The vector store needs")
    assert str(error).endswith("pip install 'vericite[store]'")


@pytest.mark.parametrize("error", [InputError("a"), ModelCardError("a"), ModelHashError("a"), ModelMissingError("a")])
def test_a_plain_error_survives_the_way_to_another_process(error: VeriCiteError):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))


@pytest.mark.parametrize(
    "error",
    [
        RecordError("in.jsonl", 7, "id", "expected text; found 3"),
        RecordError("pubmed", 0, None, "expected an article; found none"),
        UnknownNameError("judge", "x", ["y"]),
        MissingExtraError("store", "The vector store"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_made_of_parts_survives_the_way_to_another_process(error: VeriCiteError):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
