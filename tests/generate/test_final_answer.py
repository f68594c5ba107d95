from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.generate.reply import read_final_answer

OPTIONS = {"A": "yes", "B": "no", "C": "maybe"}

SAID = {
    "FINAL ANSWER: A. yes": "yes",
    "Final answer: B": "no",
    "**FINAL ANSWER:** C. maybe": "maybe",
    "**FINAL ANSWER: A. yes**": "yes",
    "FINAL ANSWER: (B) no": "no",
    "FINAL ANSWER: no": "no",
    "FINAL ANSWER: Yes, it does.": "yes",
    "FINAL ANSWER - A. yes": "yes",
    "FINAL ANSWER:\nB. no": "no",
    "### Final Answer\nA. yes": "yes",
    "FINAL ANSWER: A. Yes [1][2].": "yes",
    "The final answer is: b) no": "no",
    "FINAL ANSWER: A. no": None,
    "FINAL ANSWER: A or B": None,
    "FINAL ANSWER: D. never": None,
    "FINAL ANSWER: nobody knows": None,
    "FINAL ANSWER:": None,
    "It helped.": None,
}


@pytest.mark.parametrize(("line", "exact"), SAID.items(), ids=SAID)
def test_the_option_of_a_final_answer_is_read_if_there_is_one(line: str, exact: str | None):
    found = read_final_answer(f"It helped many [1].\n{line}", OPTIONS, "yesno")
    assert found.exact == (None if exact is None else ((exact,),))
    assert not found.unavailable


@pytest.mark.parametrize(
    "line",
    [
        "ANSWER UNAVAILABLE",
        "FINAL ANSWER: ANSWER UNAVAILABLE",
        "**Answer unavailable.**",
        "FINAL ANSWER: Answer unavailable",
    ],
)
def test_a_reply_may_say_that_there_is_no_answer(line: str):
    found = read_final_answer(f"Nobody has looked at it [1].\n{line}", OPTIONS)
    assert (found.unavailable, found.exact, found.body) == (True, None, "Nobody has looked at it [1].")


def test_words_about_unavailable_answers_are_none():
    reply = "If nothing were known I would write ANSWER UNAVAILABLE here.\nFINAL ANSWER: A. yes"
    found = read_final_answer(reply, OPTIONS)
    assert (found.unavailable, found.exact) == (False, (("yes",),))


def test_the_last_final_answer_counts_and_the_body_ends_before_the_first():
    found = read_final_answer("Reasons [1].\nFINAL ANSWER: A. yes\nOn reflection not.\nFINAL ANSWER: B. no", OPTIONS)
    assert (found.body, found.exact) == ("Reasons [1].", (("no",),))


def test_names_and_lists_are_read_in_words():
    assert read_final_answer("FINAL ANSWER: CFTR [1].", None, "factoid").exact == (("CFTR",),)
    listed = (("1,2-dioxane",), ("aspirin",))
    assert read_final_answer("FINAL ANSWER: 1,2-dioxane; aspirin.", None, "list").exact == listed
    assert read_final_answer("FINAL ANSWER:\n- 1,2-dioxane\n- aspirin", None, "list").exact == listed
    assert read_final_answer("FINAL ANSWER: It helps.", None, "summary").exact is None
    assert read_final_answer("FINAL ANSWER: Yes", None, "yesno").exact == (("yes",),)


@given(st.text(max_size=200))
def test_any_reply_is_read(reply: str):
    found = read_final_answer(reply, OPTIONS, "yesno")
    assert found.exact in (None, (("yes",),), (("no",),), (("maybe",),))


@given(st.text(alphabet="final answer:\nFINAL ANSWER *.A", max_size=80))
def test_any_reply_near_the_form_is_read(reply: str):
    read_final_answer(reply, OPTIONS)
    read_final_answer(reply, None, "list")


@pytest.mark.parametrize(
    ("reply", "body", "exact"),
    [
        ("It did not help [1]. FINAL ANSWER: B. no", "It did not help [1].", "no"),
        ("It helped many. **Final answer:** A. yes", "It helped many.", "yes"),
        # A sentence about final answers is none, nor is one in the middle of a sentence.
        ("It helped many. A final answer is out of reach.", "It helped many. A final answer is out of reach.", None),
        ("They gave as final answer: no", "They gave as final answer: no", None),
        # A line that begins with it counts before one that does not.
        ("It helped. FINAL ANSWER: A. yes\nFINAL ANSWER: B. no", "It helped. FINAL ANSWER: A. yes", "no"),
    ],
)
def test_a_final_answer_behind_a_sentence_in_its_line_is_read(reply: str, body: str, exact: str | None):
    found = read_final_answer(reply, OPTIONS, "yesno")
    assert (found.body, found.exact) == (body, None if exact is None else ((exact,),))
