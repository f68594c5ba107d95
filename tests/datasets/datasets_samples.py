"""A small file in the form of each data set, with texts of our own."""

from __future__ import annotations

import json
from pathlib import Path

BIOASQ = {
    "questions": [
        {
            "id": "q1",
            "body": "Does zinc shorten colds?",
            "type": "yesno",
            "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/101", "https://pubmed.ncbi.nlm.nih.gov/102/"],
            "snippets": [
                {"document": "http://www.ncbi.nlm.nih.gov/pubmed/101", "text": "Zinc.", "beginSection": "title"},
                {"document": "http://www.ncbi.nlm.nih.gov/pubmed/103", "text": "It did.", "beginSection": "abstract"},
            ],
            "ideal_answer": ["Yes, by a day."],
            "exact_answer": "Yes",
        },
        {"id": "q2", "body": "Which gene?", "type": "factoid", "exact_answer": ["CFTR", "ABCC7"]},
        {
            "id": "q3",
            "body": "Which diseases?",
            "type": "list",
            "exact_answer": [["a", "A"], ["b"]],
            "ideal_answer": "Two.",
        },
        {"id": "q4", "body": "Which drugs?", "type": "list", "exact_answer": ["x", "y"]},
    ]
}
MIRAGE = {
    "bioasq": {"q1": {"question": "Does it?", "options": {"A": "yes", "B": "no"}, "answer": "B"}},
    "medqa": {"0": {"question": "Which?", "options": {"A": "zinc", "B": "iron"}, "answer": "A"}},
}
PUBMEDQA = {
    "101": {
        "QUESTION": "Does zinc shorten colds?",
        "CONTEXTS": ["We gave zinc.", "Colds were shorter."],
        "LABELS": ["METHODS", "RESULTS"],
        "MESHES": ["Zinc"],
        "final_decision": "maybe",
        "LONG_ANSWER": "It may.",
    },
    "102": {"QUESTION": "Does iron?", "CONTEXTS": ["No."], "final_decision": "no", "LONG_ANSWER": "It does not."},
}
TOPICS = {"topics": [{"id": 116 + n, "topic": "t", "question": f"Question {n}?", "narrative": "n"} for n in range(65)]}
KQA = {
    "Question": "Is it contagious?",
    "Free_form_answer": "It is.",
    "Must_have": ["It is contagious."],
    "Nice_to_have": ["Wash your hands.", "Stay at home."],
}
MEDAESQA = [
    {
        "question_id": "116",
        "question": "Does zinc help?",
        "machine_generated_answers": {
            "M1": {
                "answer_sentences": [
                    {
                        "answer_sentence_id": "1",
                        "answer_sentence": "Zinc shortens colds.",
                        "answer_sentence_relevance": "Required",
                        "citation_assessment": [
                            {"cited_pmid": 101, "evidence_support": "", "evidence_relation": "Neutral"},
                            {"cited_pmid": "101", "evidence_support": "x", "evidence_relation": "supporting"},
                            {"cited_pmid": "9", "evidence_support": "", "evidence_relation": "invalid citation"},
                        ],
                    },
                    {
                        "answer_sentence_id": "2",
                        "answer_sentence": "Sleep helps.",
                        "citation_assessment": [
                            {"cited_pmid": "102", "evidence_support": "", "evidence_relation": "not relevant"}
                        ],
                    },
                ]
            },
            "M2": {"answer_sentences": [{"answer_sentence": "Nobody knows.", "citation_assessment": []}]},
        },
    }
]
ALCE = {
    "args": {"shot": 2},
    "data": [
        {
            "sample_id": "a1",
            "question": "When was it?",
            "docs": [{"id": "7", "title": "T", "text": "In 1990."}, {"id": "7", "title": "T", "text": "In June."}],
            "qa_pairs": [{"question": "Which year?", "short_answers": ["1990"]}],
            "answer": "It was in June 1990.",
            "claims": ["It was in 1990."],
            "output": "It was in 1990 [1]. It was in June [2].",
        },
        {"question": "Which rivers?", "docs": [], "answers": [["Rhine", "Rhein"], ["Elbe"]]},
    ],
}
VJ = {
    "query": "is zinc good",
    "response": "Zinc helps [1].",
    "statement": "Zinc helps.",
    "source_title": None,
    "source_text": "<p>Zinc helps.</p>",
    "source_raw_text": "Zinc helps.",
    "source_supports_statement": "complete_support",
    "source_localized_evidence": None,
    "source_url": "https://example.org/zinc",
}
MSMARCO = {
    "query_id": 19699,
    "query": "what is zinc",
    "query_type": "DESCRIPTION",
    "passages": [
        {"is_selected": 0, "passage_text": "Iron is a metal.", "url": "https://example.org/iron"},
        {"is_selected": 1, "passage_text": "Zinc is a metal.", "url": "https://example.org/zinc"},
    ],
    "answers": ["a metal"],
    "wellFormedAnswers": ["Zinc is a metal."],
}
MSMARCO_COLUMNS = {name: {"0": value} for name, value in {**MSMARCO, "wellFormedAnswers": "[]"}.items()}
HOTPOTQA = [
    {
        "_id": "h1",
        "question": "Were both metals?",
        "answer": "Yes",
        "supporting_facts": [["Zinc", 0], ["Iron", 0]],
        "context": [
            ["Zinc", ["Zinc is a metal."]],
            ["Iron", ["Iron is a metal.", " It rusts."]],
            ["Air", ["Air is not."]],
        ],
        "type": "comparison",
        "level": "easy",
    }
]
HOTPOTQA_HUB = {
    "id": "h1",
    "question": "Were both metals?",
    "answer": "Yes",
    "supporting_facts": {"title": ["Zinc", "Iron"], "sent_id": [0, 0]},
    "context": {"title": ["Zinc", "Iron"], "sentences": [["Zinc is a metal."], ["Iron is a metal."]]},
}
ATTRSCORE = [
    {"query": "q", "answer": "a", "reference": "r", "label": "Attributable", "dataset": "nq"},
    {"query": "q", "answer": "a", "reference": "r", "label": "Extrapolatory", "dataset": "Natural Questions"},
    {"query": "q", "answer": "a", "reference": "r", "label": "Contradictory", "dataset": "hotpot"},
]
HAGRID = {
    "query_id": 5,
    "query": "what is zinc",
    "quotes": [
        {"idx": 1, "docid": "10#1", "text": "Zinc is a metal."},
        {"idx": 2, "docid": "11#1", "text": "It is grey."},
    ],
    "answers": [
        {
            "answer": "Zinc is a metal [1]. It is grey [1][2]. It floats.",
            "answer_type": "short",
            "informative": 1,
            "attributable": 0,
            "sentences": [
                {"text": "Zinc is a metal [1].", "index": 0, "attributable": 1, "informative": 1},
                {"text": "It is grey [1][2].", "index": 1, "attributable": 0, "informative": 1},
                {"text": "It floats.", "index": 2, "attributable": 0, "informative": 0},
            ],
        }
    ],
}
POLITICITE = {
    "id": "p1",
    "question": "Was the promise kept?",
    "claims": [
        {"text": "The law passed.", "evidence": [{"source": "s1", "text": "It passed.", "support": "complete"}]},
        {
            "text": "It was signed in May.",
            "evidence": [
                {"source": "s1", "text": "In May.", "support": "partial"},
                {"source": "s2", "text": "Signed.", "support": "complete"},
                {"source": "s3", "text": "Laws are signed.", "support": "relevant"},
            ],
        },
        {"text": "Critics were silent."},
    ],
}
SCIFACT_CORPUS = {
    "doc_id": 7,
    "title": "Zinc",
    "abstract": ["Zinc was given.", "Colds were shorter."],
    "structured": False,
}
SCIFACT = [
    {
        "id": 1,
        "claim": "Zinc shortens colds.",
        "cited_doc_ids": [7],
        "evidence": {"7": [{"label": "SUPPORT", "sentences": [1]}]},
    },
    {"id": 2, "claim": "Zinc cures flu.", "cited_doc_ids": [7], "evidence": {}},
]
HEALTHVER = (
    "id,evidence,claim,label,topic_ip,question\n1,Zinc helped.,Zinc helps,Supports,3,q\n2,Zinc,Iron helps,Neutral,3,q\n"
)


def write(folder: Path, name: str, *values: object) -> Path:
    """Write a file: text as it is, other values as JSON or as JSON lines, by the file's name."""
    path = folder / name
    if len(values) == 1 and isinstance(values[0], str):
        path.write_text(values[0], encoding="utf-8")
    elif name.endswith("jsonl"):
        path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    else:
        path.write_text(json.dumps(values[0]), encoding="utf-8")
    return path
