"""Answers without a language model are on the point: the conclusion of the right study, or a refusal.

The abstracts are invented; each has the shape of real ones from which a wrong sentence was quoted.
"""

from __future__ import annotations

import re

import pytest

from vericite.api import ask
from vericite.generate import ExtractiveGenerator
from vericite.generate.aspects import acts_of, asked_aspects, aspects, empty_kind
from vericite.generate.selection import candidates_of
from vericite.generate.subjects import absent, is_opposite, parts_of, population_match, subjects_of
from vericite.models import Embedder
from vericite.pipeline.ask import Pipeline
from vericite.records import Answer, Document, Evidence, Question, Section
from vericite.reporting.run_lines import run_lines
from vericite.retrieve.local import MemoryRetriever
from vericite.retrieve.names import OtherNames
from vericite.verify import BundledJudge


def abstract(id: str, title: str = "", **sections: str) -> Document:
    parts = tuple(Section(label=label.upper(), text=text) for label, text in sections.items())
    return Document(id=id, title=title, sections=parts)


def plain(id: str, text: str, title: str = "") -> Document:
    return Document.from_text(id, text, title)


def answered(question: str, *documents: Document) -> Answer:
    found = [
        Evidence(document=document, rank=rank, score=1.0, retriever="test")
        for rank, document in enumerate(documents, start=1)
    ]
    generator = ExtractiveGenerator(Embedder.shared(), judge=BundledJudge())
    return generator.generate(Question(id="q", text=question), found)


SURGERY = abstract(
    "surgery",
    "Tranexamic acid during coronary-artery bypass surgery.",
    background="Tranexamic acid lessens bleeding in cardiac surgery, but there are concerns about convulsions.",
    methods="In two hospitals 3100 patients who were to have coronary-artery surgery received the drug or saline.",
    results="Fewer units of red cells were given with it (2900 vs. 5100). Seizures occurred in 0.9% and 0.2%.",
    conclusions="In patients having coronary-artery surgery, tranexamic acid lowered the risk of bleeding without more "
    "deaths. Tranexamic acid was followed by a higher risk of seizures after surgery.",
)  # fmt: skip
HEAD = plain(
    "head", "Tranexamic acid did not raise the risk of seizures after an intracerebral haemorrhage in 90 days."
)
CLOTTING = plain(
    "clotting",
    "Fifty patients having coronary artery bypass operations received desmopressin alone or with tranexamic acid. "
    "Drainage was less in the second group. Tranexamic acid significantly reduces fibrinolysis after bypass.",
    "Does tranexamic acid reduce fibrinolysis after desmopressin?",
)


def test_case_1_the_source_on_the_patients_asked_for_decides_a_yes_no_question():
    made = answered("Does tranexamic acid increase seizures after coronary artery surgery?", HEAD, SURGERY, CLOTTING)
    assert made.exact == (("yes",),)
    assert "Tranexamic acid was followed by a higher risk of seizures" in made.claims[0].text


HAEMANGIOMA = abstract(
    "trial",
    "Oral atenolol in infantile hemangioma: a randomized, controlled trial.",
    background="Oral atenolol has been used to treat infantile hemangiomas, although controlled data are limited.",
    methods="We performed a randomized, double-blind trial assessing the efficacy of an oral solution in infants "
    "with infantile hemangioma. Infants were randomly assigned to placebo or one of two atenolol regimens (1 or 2 "
    "mg of atenolol per kilogram per day for 3 or 6 months).",
    results="A total of 301 infants were treated. Success was more frequent with the higher dose (58% vs. 6%).",
    conclusions="This trial showed that atenolol was effective at a dose of 2 mg per kilogram per day for 6 months in "
    "the treatment of infantile hemangioma.",
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    ["Is atenolol effective for infantile haemangioma?", "What dose of atenolol is used for infantile haemangioma?"],
)
def test_case_2_the_conclusion_is_quoted_and_not_what_was_done(question: str):
    made = answered(question, HAEMANGIOMA)
    assert made.claims[0].text.startswith("This trial showed that atenolol was effective at a dose of 2 mg")
    assert "We performed" not in made.text and "has been used" not in made.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is metformin the first-line drug for type 2 diabetes?", "Metformin became the usual first-line drug"),
        ("How is Helicobacter pylori treated?", "Fourteen days of bismuth quadruple therapy"),
    ],
)
def test_case_3_what_answers_is_quoted_though_it_points_to_findings_or_does_not_name_the_subject(
    question: str, said: str
):
    made = Pipeline.over().run(Question(id="q", text=question), 5).answer
    assert made.claims[0].text.startswith(said)


IVABRADINE = abstract(
    "ivabradine",
    "Ivabradine in stable coronary artery disease.",
    methods="We enrolled 5200 patients with stable coronary artery disease.",
    results="Ivabradine did not affect cardiovascular death or myocardial infarction.",
    conclusions="Ivabradine does not reduce cardiovascular events in patients with stable coronary artery disease.",
)
UNCONJUGATED = plain(
    "gene",
    "UGT1A1 conjugates bilirubin, and its mutations cause hereditary unconjugated hyperbilirubinemia. "
    "Crigler-Najjar syndrome is the most severe cause of hereditary unconjugated hyperbilirubinemia.",
    "Genetic causes of unconjugated hyperbilirubinemia",
)


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Does colchicine reduce cardiovascular events in stable coronary artery disease?", IVABRADINE),
        ("What causes conjugated hyperbilirubinemia?", UNCONJUGATED),
    ],
)
def test_case_4_another_drug_or_the_opposite_is_no_answer(question: str, document: Document):
    assert answered(question, document).insufficient


WEIGHT = abstract(
    "weight",
    "Once-weekly semaglutide in adults with obesity.",
    background="The effect of semaglutide on weight in adults with obesity is unknown.",
    results="Body weight fell by 14% with semaglutide and 3% with placebo. Nausea and diarrhoea were the most common "
    "adverse events with semaglutide and were mostly mild.",
    conclusions="Semaglutide once weekly was effective and led to a clinically relevant loss of body weight.",
)
PATHWAY = plain(
    "pathway",
    "The Hippo signaling pathway plays an important role in development, including organ size and cell fate. "
    "The Hippo signaling pathway consists of the kinases MST1 and MST2, their partner SAV1, and LATS1 and LATS2. "
    "The Hippo signaling pathway also regulates the function of the adult liver.",
    "The Hippo signaling pathway in development",
)


@pytest.mark.parametrize(
    ("question", "document", "said", "unsaid"),
    [
        ("What are the adverse effects of semaglutide?", WEIGHT, "Nausea and diarrhoea", "relevant loss"),
        ("What are the components of the Hippo signaling pathway?", PATHWAY, "MST1 and MST2", "adult liver"),
    ],
)
def test_case_4_a_sentence_of_another_aspect_does_not_answer(question: str, document: Document, said: str, unsaid: str):
    made = answered(question, document)
    assert said in made.claims[0].text
    assert unsaid not in made.text and "is unknown" not in made.text


def test_when_something_was_first_seen_is_answered_by_a_year_and_severe_disease_not_by_uncomplicated():
    assert [aspect.name for aspect in asked_aspects("When was zelotrine first approved?")] == ["year", "time"]
    assert [aspect.name for aspect in asked_aspects("When should zelotrine be given?")] == ["time"]
    syndrome = plain(
        "marl",
        "Marl syndrome is a nonspecific illness with an early acute phase of vertigo. "
        "Marl syndrome was recognized in 1987 in a port on the coast.",
        "Marl syndrome",
    )
    assert "1987" in answered("When was Marl syndrome first recognized?", syndrome).text
    severe = "What is the first-line treatment for severe falciparum malaria?"
    assert is_opposite(severe, "Artemisinin combinations are the first-line treatment for uncomplicated malaria.")
    assert not is_opposite(severe, "Artesunate is the first-line treatment of malaria; adverse events were mild.")


def test_a_question_with_two_parts_gets_a_sentence_for_each():
    asked = "What is the mechanism of action of zelotrine and what are its side effects?"
    assert parts_of(asked) == [
        "What is the mechanism of action of zelotrine?",
        "zelotrine: what are its side effects?",
    ]
    alone = "Which patients benefit from oxygen and which do not?"
    assert parts_of(alone) == [alone]
    source = plain(
        "zelotrine",
        "Migraine is a common cause of disability. Zelotrine blocks calcium channels in the walls of arteries of the "
        "brain. Prescriptions of zelotrine differ between countries. Nausea and dizziness are the most frequent side "
        "effects of zelotrine. Zelotrine was first sold in Portugal.",
        "Zelotrine in migraine",
    )
    made = answered(asked, source)
    assert "blocks calcium channels" in made.text and "Nausea and dizziness" in made.text
    assert len(made.claims) == 2


def test_a_source_that_says_the_opposite_of_the_answer_is_named_even_if_its_conclusion_cannot_be_quoted():
    made = ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?").answer
    against = next(document for document in made.documents if document.id == "demo:0067")
    assert "In this cohort, hydroxychloroquine reduced mortality" in against.text
    assert made.exact == (("no",),) and made.stance is not None
    assert (made.stance.yes, made.stance.no) == ((against.id,), ("demo:0068",))
    place = made.documents.index(against) + 1
    assert made.notes == (f"[{place}] says the opposite, but its study design is weaker",)


def test_trials_that_disagree_are_named_without_a_word_on_their_designs():
    children, adults = (
        plain(id, f"We randomly assigned {n} patients to probiotics or placebo. {found}", f"Probiotics in {who}")
        for id, n, who, found in (
            ("children", 240, "children", "Probiotics prevented antibiotic-associated diarrhoea in children."),
            (
                "adults",
                2941,
                "older adults",
                "Probiotics did not prevent antibiotic-associated diarrhoea in older adults.",
            ),
        )
    )
    made = answered("Do probiotics prevent antibiotic-associated diarrhoea?", children, adults)
    told = " ".join(made.notes)
    assert made.exact is None or "says the opposite" in told or len(made.claims) == 2
    assert made.stance is not None and (made.stance.yes, made.stance.no) == (("children",), ("adults",))
    assert "weaker" not in told


def test_a_source_on_a_near_outcome_that_contradicts_the_answer_is_said_to_and_listed_among_the_sources():
    small = plain(
        "small",
        "We randomised 60 adults. Lumaben did not reduce the number of headache days per month (p = 0.4).",
        "A pilot of lumaben for headache",
    )
    large = plain(
        "large",
        "We randomised 612 adults. Lumaben reduced monthly migraine days by 1.8 (95% CI 1.2 to 2.4).",
        "Lumaben in migraine",
    )
    made = ask("Does lumaben lower the number of headache days per month?", [large, small])
    number = [document.id for document in made.answer.documents].index("large") + 1
    assert made.answer.exact == (("no",),)
    assert f"[{number}] contradicts the first sentence" in made.answer.notes


def test_every_number_that_an_answer_prints_is_in_its_list_of_sources():
    run = ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?")
    printed = [line.text for line in run_lines(run)]
    ends = printed.index("Quoted word for word")
    sources = printed[printed.index("Sources") + 1 : ends]
    numbers = set(re.findall(r"\[[0-9]+\]", " ".join(printed[: printed.index("Sources")])))
    assert len(numbers) == 2 and numbers == {line.split()[0] for line in sources}


def test_yes_or_no_is_not_stated_under_sentences_on_something_else():
    asked = "Is zinc effective for the common cold?"
    sections = (
        Section(label="Introduction", text="Zinc is used for colds. Zinc lozenges did not shorten the common cold."),
        Section(label="Methods", text="We randomised 253 employees to zinc acetate lozenges or placebo."),
    )
    made = answered(asked, Document(id="zinc", title="Zinc lozenges for the common cold: a trial", sections=sections))
    assert made.exact is None or "did not shorten" in made.text


def test_where_the_answer_is_stated_a_weaker_design_that_says_the_opposite_is_not_quoted():
    made = ask("Does postmenopausal hormone therapy prevent coronary heart disease?").answer
    assert made.exact == (("no",),) and "should not be started" in made.text
    assert "observational" not in made.text
    assert any("says the opposite, but its study design is weaker" in note for note in made.notes)


def test_case_5_words_that_any_question_may_have_are_no_subjects():
    assert subjects_of("Is it advised to take three doses below twenty, and is that enough?") == []


def test_case_5_a_drug_class_is_found_and_mentioned_by_its_drugs():
    question = "Do GLP-1 receptor agonists lead to weight loss?"
    assert absent(question, WEIGHT.titled_text) == []
    others = [plain(f"other{number}", f"Receptor agonists of kind {number} were studied.") for number in range(9)]
    words = MemoryRetriever([*others, WEIGHT], by="bm25")
    asked = Question(id="q", text="Are GLP-1 receptor agonists safe?")
    assert "weight" in {hit.document.id for hit in OtherNames(words).retrieve(asked, 3)}
    assert "weight" not in {hit.document.id for hit in words.retrieve(asked, 3)}


def test_case_5_a_refusal_says_what_is_missing():
    made = answered("What dose of colchicine is used for gout?", IVABRADINE)
    assert made.insufficient
    assert made.notes[0] == "no source that was found mentions colchicine, gout"
    made = answered("How long is ivabradine given after a stroke?", IVABRADINE)
    assert made.insufficient
    assert "no sentence that was found gives what is asked for (duration)" in made.notes


CUT = plain("cut", "nemia is a common complication of chronic kidney disease (CKD), and lowers the quality of life,")
PIECE = plain(
    "piece",
    "Anaemia in chronic kidney disease is caused by a lack of erythropoietin. Iron was lower when compared to p",
)
LABELS = plain(
    "labels",
    "Background Anaemia is common in chronic kidney disease. Methods Eighty patients were studied in one clinic. "
    "Conclusion Anaemia in chronic kidney disease is caused by a lack of erythropoietin and of iron.",
)
TWICE = plain("twice", "Anaemia in chronic kidney disease is caused by a lack of erythropoietin!")


def test_case_6_no_pieces_no_labels_and_nothing_twice():
    made = answered("What causes anaemia in chronic kidney disease?", CUT, PIECE, LABELS, TWICE)
    assert not made.insufficient
    for wrong in ("nemia is a common", "compared to p", "Conclusion", "Background", ", ["):
        assert wrong not in made.text.replace("Anaemia is a common", "")
    assert made.text.count("caused by a lack of erythropoietin") <= 2
    assert answered("What is chronic kidney disease?", CUT).insufficient


def test_case_7_reference_marks_of_a_source_are_no_citations():
    source = plain(
        "guideline",
        "Colchicine 0.5 mg once daily prevents flares of gout in adults (refs. 2,3). Colchicine should be continued "
        "for six months [12].",
        "Colchicine in gout: a guideline",
    )
    made = answered(
        "Does colchicine prevent flares of gout?", plain("other", "Gout is painful in most adults."), source
    )
    assert {citation.marker for claim in made.claims for citation in claim.citations} == {2}
    assert "refs" not in made.text and "[12]" not in made.text


@pytest.mark.parametrize(
    ("question", "text", "is_other"),
    [
        ("What is symptomatic gout?", "Asymptomatic gout is common.", True),
        ("What is gout?", "Asymptomatic gout is common.", False),
        ("How is type 2 diabetes treated?", "Type 1 diabetes needs insulin.", True),
        ("How is type 2 diabetes treated?", "Type 1 and type 2 diabetes differ.", False),
        ("What is acute kidney injury?", "Chronic kidney injury is lasting.", True),
        ("What is non-valvular atrial fibrillation?", "Non-valvular atrial fibrillation is common.", False),
    ],
)
def test_opposites(question: str, text: str, is_other: bool):
    assert is_opposite(question, text) == is_other


def test_other_patients_are_less_to_the_point_and_those_asked_for_and_unnamed_ones_are_not():
    question = "Does zelotrine help children with asthma?"
    adults, children, nobody = (
        population_match(question, text, text)
        for text in ("Zelotrine helps adults.", "Zelotrine helps infants and adults.", "Zelotrine helps.")
    )
    assert adults < children == nobody == 1


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("aim", "We aimed to test whether zelotrine helps."),
        ("method", "In all, 300 adults were randomly assigned to zelotrine."),
        ("open", "Whether zelotrine helps in asthma is not known."),
        ("protocol", "Zelotrine will be compared with placebo in 200 adults."),
        (None, "We found that zelotrine halves attacks."),
        (None, "Zelotrine halved attacks in adults."),
    ],
)
def test_sentences_that_state_nothing(kind: str | None, text: str):
    assert empty_kind(text) == kind


def test_no_pattern_matches_everything_and_each_question_word_asks_for_one_aspect():
    assert not any(aspect.asked.search("") or aspect.met.search("") for aspect in aspects())
    assert [aspect.name for aspect in asked_aspects("What dose of zelotrine is used?")] == ["dose"]
    assert asked_aspects("Does low-dose zelotrine help?") == ()


def test_the_candidates_of_a_cut_abstract_are_its_whole_sentences():
    assert [candidate.text for candidate in candidates_of([
        Evidence(document=PIECE, rank=1, score=1, retriever="test")
    ])] == ["Anaemia in chronic kidney disease is caused by a lack of erythropoietin."]  # fmt: skip


LANTERN = abstract(
    "lantern",
    "Empagliflozin and hospitalisation in heart failure: an invented trial",
    background="Empagliflozin lowers glucose in type 2 diabetes.",
    results="Death from cardiovascular causes or hospitalisation for heart failure occurred in 415 of 2997 patients "
    "with empagliflozin and in 511 of 2991 patients with placebo. In all, 23% of patients stopped the trial regimen "
    "early, most often because of urinary infections.",
    conclusions="Empagliflozin reduced the combined risk of cardiovascular death or hospitalisation.",
)  # fmt: skip
FLU = abstract(
    "flu",
    "Oseltamivir in children with influenza: an invented cohort study",
    methods="We studied 1257 children who were hospitalised with influenza over four winters.",
    results="Early oseltamivir was associated with better outcomes, including a shorter stay in hospital. No "
    "difference in mortality was observed. Vomiting occurred in 14% of treated children.",
    conclusions="Early oseltamivir was associated with better outcomes in children with influenza.",
)  # fmt: skip
MEN = abstract(
    "men",
    "Vitamin D and falls in older men",
    background="Falls are a leading cause of injury in older people. Low vitamin D is common in men over 70.",
    results="The rate of falls did not differ between the groups: 1.21 a year with vitamin D and 1.18 with placebo.",
    conclusions="Daily vitamin D did not prevent falls in men aged 70 or over.",
)


@pytest.mark.parametrize(
    "question",
    [
        "How many patients stopped empagliflozin early?",
        "What percentage of patients discontinued empagliflozin?",
        "What proportion of patients quit empagliflozin?",
    ],
)
def test_a_question_that_counts_an_act_is_answered_by_the_sentence_that_has_the_act(question: str):
    made = answered(question, LANTERN)
    assert made.claims[0].text.startswith("In all, 23% of patients stopped") and len(made.claims) == 1
    assert not made.notes, "another word for the act is no subject that is missing"


@pytest.mark.parametrize(
    ("question", "acts"),
    [
        ("How many patients stopped empagliflozin early?", ("stopped",)),
        ("How many of the patients treated with empagliflozin died?", ("died",)),
        ("How many women need treatment?", ()),
        ("Who stopped empagliflozin?", ()),
    ],
)
def test_the_acts_that_a_question_counts(question: str, acts: tuple[str, ...]):
    assert acts_of(question) == acts


@pytest.mark.parametrize(
    ("question", "said", "aspect"),
    [
        ("Does oseltamivir reduce mortality in children?", "No difference in mortality was observed", "effect"),
        ("Is oseltamivir harmful in children?", "Vomiting occurred in 14%", "harm"),
    ],
)
def test_the_sentence_on_the_outcome_asked_for_comes_before_the_conclusion_on_another(
    question: str, said: str, aspect: str
):
    made = answered(question, FLU)
    assert [claim.text.startswith(said) for claim in made.claims] == [True]
    assert [chosen.aspect for chosen in made.selected] == [aspect]


def test_a_quotation_is_not_said_to_speak_of_what_it_does_not_and_the_answer_says_so():
    bare = abstract("bare", FLU.title, conclusions=FLU.sections[-1].text)
    ill = plain("ill", "Mortality from influenza is highest in infants.", "Influenza in winter")
    harmful, deadly = answered("Is oseltamivir harmful in children?", bare), answered(
        "Does oseltamivir reduce mortality in children?", bare, ill
    )  # fmt: skip
    assert [chosen.aspect for chosen in (*harmful.selected, *deadly.selected)] == [None, None]
    assert "no quoted sentence gives what is asked for (harm)" in harmful.notes
    assert "no quoted sentence mentions mortality" in deadly.notes


def test_a_question_whether_a_drug_causes_less_of_something_asks_for_its_effect():
    made = answered("Does vitamin D cause fewer falls in older men?", MEN)
    assert made.exact == (("no",),) and "leading cause" not in made.text
    assert not made.notes and made.selected[0].aspect == "effect"


@pytest.mark.parametrize("word", "fewer bigger sooner lose losing lost won stopped discontinued kept really".split())
def test_comparatives_and_common_verbs_are_no_subjects(word: str):
    assert subjects_of(f"Does metformin {word} weight?") == ["metformin", "weight"]


@pytest.mark.parametrize("subject", "withdrawal matter Turner growth stay left falls evening".split())
def test_words_that_only_look_like_common_ones_are_subjects(subject: str):
    assert subject in subjects_of(f"What is known of {subject}?")


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Senkt Empagliflozin die Sterblichkeit bei Herzinsuffizienz?", "German"),
        ("¿Reduce la empagliflozina las muertes en pacientes con insuficiencia cardíaca?", "Spanish"),
    ],
)
def test_a_question_in_another_language_is_told_so_and_nothing_else(question: str, language: str):
    made = answered(question, LANTERN)
    assert made.insufficient and made.sufficiency is None and not made.notes and not made.documents
    assert made.text == f"This question looks like {language}. Questions and sources are read in English only."


@pytest.mark.parametrize(
    "question", ["Does oseltamivir reduce mortality in children?", "Is oseltamivir harmful in children?"]
)
def test_an_answer_without_yes_or_no_says_why(question: str):
    made = answered(question, FLU)
    assert made.exact is None
    assert any(note.startswith("neither yes nor no is stated: ") for note in made.notes)


def test_a_yes_no_answer_whose_best_sentence_is_unlikely_to_answer_says_so():
    made = answered("Is oseltamivir harmful in children?", FLU)
    assert made.selected[0].answers < 0.3
    assert any(note.startswith("no quoted sentence is likely to answer") for note in made.notes)
