from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.text.statements import STATEMENTS, looks_dependent, split_enumeration, split_statements

WORDS = st.sampled_from(
    """aspirin stroke reduces inhibits was were and but because although whereas while since, which suggests
    that however, therefore leading to both between it they (i) (ii) (iii) 1) 2) - • 1. ; , : . ( ) [ ] women
    5.2 vs. found IL-6 patients risk of in""".split()
) | st.just("\n")
TEXTS = st.lists(WORDS, max_size=40).map(" ".join) | st.text()
LIST_MARK = re.compile(r"\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)]")

ONE = [
    "Aspirin and clopidogrel reduce stroke.",
    "Aspirin reduces stroke, myocardial infarction and death.",
    "Aspirin inhibits COX-1 and reduces thromboxane.",
    "We found that aspirin and clopidogrel reduce stroke.",
    "The trial suggests statins and fibrates are safe.",
    "Drugs that inhibit COX-1 and COX-2 are effective in arthritis.",
    "The difference in survival between men and women was small.",
    "Both aspirin and clopidogrel were stopped before surgery.",
    "The dose was given before aspirin and warfarin were withdrawn.",
    "The drug lowers LDL cholesterol and triglycerides measured in serum.",
    "Survival did not differ (aspirin was given to men and clopidogrel was given to women).",
    "Mortality fell by 20% (HR 0.80; 95% CI 0.70-0.91; p = 0.001).",
    "Aspirin vs. placebo was tested in 1,204 patients.",
    "Because of bleeding, the trial was stopped early.",
    "The drug is safe because it spares the kidney.",
    "Patients have been followed since 2010 in three hospitals.",
    "Nausea was rare, but not in children.",
    "Mutations leading to loss of function cause the disease.",
    "The drug was therefore withdrawn.",
    "The effect was, however, small.",
    "Aspirin was effective in men but had no effect in women.",
    "The risk factors are (i) smoking, (ii) obesity and (iii) age.",
    "Bleeding was common; it did not require transfusion.",
    "Yes. Aspirin prevents stroke.",
    "Statins are used\n- in stroke\n- after infarction",
    "Aspirin, 81 mg; clopidogrel, 75 mg.",
    "Two patients bled while receiving aspirin.",
    "Blood was drawn while patients were fasting.",
    "Three patients died while on warfarin.",
    "The dose was halved so that bleeding is prevented.",
    "The dose was low, so far no treatment was stopped.",
]
SEVERAL = {
    "Aspirin reduces stroke and clopidogrel reduces bleeding.": [
        "Aspirin reduces stroke",
        "and clopidogrel reduces bleeding.",
    ],
    "Aspirin reduced stroke and clopidogrel reduced bleeding.": [
        "Aspirin reduced stroke",
        "and clopidogrel reduced bleeding.",
    ],
    "Survival was longer with aspirin, and bleeding and nausea were rare.": [
        "Survival was longer with aspirin",
        "and bleeding and nausea were rare.",
    ],
    "The trial was small and there was no placebo.": ["The trial was small", "and there was no placebo."],
    "Aspirin is preferred because clopidogrel is expensive.": [
        "Aspirin is preferred",
        "because clopidogrel is expensive.",
    ],
    "Although aspirin is cheap, bleeding limits its use.": [
        "Although aspirin is cheap",
        "bleeding limits its use.",
    ],
    "Since the enzyme is absent from the liver, clearance depends on the kidney.": [
        "Since the enzyme is absent from the liver",
        "clearance depends on the kidney.",
    ],
    "Older men had strokes, whereas younger men had migraine.": [
        "Older men had strokes",
        "whereas younger men had migraine.",
    ],
    "Older men had strokes, while younger men had migraine.": [
        "Older men had strokes",
        "while younger men had migraine.",
    ],
    "Warfarin prevents stroke while apixaban is safer.": [
        "Warfarin prevents stroke",
        "while apixaban is safer.",
    ],
    "The patients improved, so treatment was continued.": [
        "The patients improved",
        "so treatment was continued.",
    ],
    "Creatinine was raised, which suggests that the kidney was damaged, although urine output was normal.": [
        "Creatinine was raised",
        "which suggests that the kidney was damaged",
        "although urine output was normal.",
    ],
    "Pain was relieved in men but women were not helped.": [
        "Pain was relieved in men",
        "but women were not helped.",
    ],
    "The gene is silent; therefore, the protein is absent.": [
        "The gene is silent",
        "therefore, the protein is absent.",
    ],
    "The gene is silent, and thus the protein is absent.": [
        "The gene is silent",
        "and thus the protein is absent.",
    ],
    "Creatinine was raised, which suggests that the kidney was damaged.": [
        "Creatinine was raised",
        "which suggests that the kidney was damaged.",
    ],
    "Creatinine was raised, suggesting that the kidney was damaged.": [
        "Creatinine was raised",
        "suggesting that the kidney was damaged.",
    ],
    "The valve was stenotic, leading to heart failure in most patients.": [
        "The valve was stenotic",
        "leading to heart failure in most patients.",
    ],
    "Three effects are known: (i) aspirin inhibits COX-1; (ii) fever is lowered; and (iii) pain subsides.": [
        "Three effects are known:",
        "aspirin inhibits COX-1",
        "fever is lowered; and (iii) pain subsides.",  # no known verb: kept with its neighbour
    ],
    "The panel advised that 1) all patients receive aspirin, 2) bleeding is recorded.": [
        "The panel advised that",
        "all patients receive aspirin",
        "bleeding is recorded.",
    ],
    "- Aspirin reduces stroke;\n- Statins lower LDL cholesterol": [
        "Aspirin reduces stroke",
        "Statins lower LDL cholesterol",
    ],
    "1. Aspirin reduces stroke.\n2. Statins lower LDL cholesterol.": [
        "Aspirin reduces stroke.",
        "Statins lower LDL cholesterol.",
    ],
    "Aspirin reduces stroke. It was approved in 1950.": [
        "Aspirin reduces stroke.",
        "It was approved in 1950.",
    ],
}


def statements(text: str) -> list[str]:
    return [text[span.slice] for span in split_statements(text)]


@pytest.mark.parametrize("text", ONE)
def test_one_statement(text: str):
    assert statements(text) == [text]


@pytest.mark.parametrize(("text", "expected"), SEVERAL.items())
def test_several_statements(text: str, expected: list[str]):
    assert statements(text) == expected


@pytest.mark.parametrize("text", ["", " \n", "---", "...", "* ;"])
def test_no_statement(text: str):
    assert split_statements(text) == ()


@given(TEXTS)
def test_statements_are_in_order_trimmed_and_disjoint(text: str):
    end = 0
    for span in split_statements(text):
        statement = text[span.slice]
        assert end <= span.start < span.end
        assert statement == statement.strip()
        assert any(map(str.isalnum, statement))
        end = span.end


@given(TEXTS)
def test_every_word_lies_in_a_statement(text: str):
    spans = split_statements(text)
    for word in re.finditer(r"\S+", text):
        if any(map(str.isalnum, word[0])) and not LIST_MARK.fullmatch(word[0].strip("([{;,.)")):
            if not re.fullmatch(r"[\W_]*(?:\d{1,2}|[ivx]{1,4}|[a-h])[\W_]*", word[0]):
                assert any(span.start < word.end() and word.start() < span.end for span in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Drugs that lower risk are (1) aspirin, (2) statins and (3) metformin.",
            [
                "Drugs that lower risk are aspirin.",
                "Drugs that lower risk are statins.",
                "Drugs that lower risk are metformin.",
            ],
        ),
        ("Causes: (i) smoking; (ii) a diet high in salt", ["Causes: smoking", "Causes: a diet high in salt"]),
        ("It was given as a) tablets and b) syrup.", ["It was given as tablets.", "It was given as syrup."]),
        ("Options are (1) surgery or (2) radiation.", ["Options are (1) surgery or (2) radiation."]),
        ("(1) aspirin, (2) statins", ["(1) aspirin, (2) statins"]),
        ("Aspirin was given in step (1) alone.", ["Aspirin was given in step (1) alone."]),
        ("No list here.", ["No list here."]),
    ],
)
def test_each_item_of_a_numbered_list_is_a_statement_behind_the_shared_words(text: str, expected: list[str]):
    assert list(split_enumeration(text)) == expected


@given(TEXTS)
def test_items_keep_every_word_of_a_list(text: str):
    words = set(re.findall(r"[a-z]{3,}", text.lower())) - {"and", "viii", "iii", "vii"}
    assert words <= set(re.findall(r"[a-z]{3,}", " ".join(split_enumeration(text)).lower()))


@pytest.mark.parametrize("unit", ["A is B and ", "; ", "(i) a ", "although x is y, ", "( ", "1) 2) ", "it "])
def test_long_texts_take_linear_time(unit: str):
    start = time.perf_counter()
    split_statements(unit * 10_000)
    assert time.perf_counter() - start < 20  # quadratic would be minutes


@pytest.mark.parametrize(
    "text",
    [
        "This suggests a role for aspirin.",
        "It was well tolerated.",
        "However, they bled more often.",
        "These patients had no strokes.",
        "In this group, mortality fell.",
        "Its half-life is three hours.",
        "In contrast, clopidogrel had no effect.",
        "As a result, the trial was stopped.",
        "Most of these were women.",
        "The latter was more effective.",
        "Both were effective.",
        "Another trial found no effect.",
        "Second, bleeding is more common.",
        "- They were older.",
        "Based on these data, aspirin was approved.",
    ],
)
def test_sentences_that_lean_on_others(text: str):
    assert looks_dependent(text)


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin lowers the risk of stroke.",
        "It is well known that aspirin lowers the risk of stroke.",
        "It has been shown that statins lower LDL cholesterol.",
        "In patients with stroke, aspirin is effective.",
        "Both aspirin and clopidogrel inhibit platelets.",
        "Second-line therapy is bevacizumab.",
        "First trimester exposure to valproate is teratogenic.",
        "Thiazides cause hyponatraemia.",
        "Iterative dosing was safe.",
        "Items were scored from 0 to 4.",
        "Orlistat reduces weight.",
        "",
    ],
)
def test_sentences_that_stand_alone(text: str):
    assert not looks_dependent(text)


def test_the_rules_have_a_signature():
    assert STATEMENTS == "statements.v2"


def test_items_that_share_what_comes_after_the_last_stay_together():
    for text in (
        "It was shown that (1) aspirin, (2) statins, and (3) warfarin reduce mortality.",
        "Treatment: 1) aspirin, 2) statins and 3) warfarin improved survival.",
    ):
        assert split_enumeration(text) == (text,)
