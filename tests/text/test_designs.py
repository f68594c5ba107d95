"""The design of a study by its record: one hundred invented titles, publication types, abstracts."""

from __future__ import annotations

import pytest

from vericite.records import Document, Section
from vericite.text.designs import DESIGNS, study_design

TITLES = {
    "protocol": """
        Telephone coaching after hip fracture: study protocol for a randomised controlled trial
        Protocol for a cluster trial of school toothbrushing
        The NIGHTWATCH trial: rationale and design
        Design and rationale of a registry of rare anaemias
        Statistical analysis plan for the BREATHE-EASY trial
        Screening for frailty in the emergency department: a systematic review protocol
        Home blood pressure telemonitoring in pregnancy: trial protocol""",
    "systematic review": """
        Velotrexine for chronic cough: a systematic review and meta-analysis
        Meta-analysis of placebo-controlled trials of zelotrine in migraine
        Exercise for fatigue in lupus: a systematic review of randomised trials
        Network meta-analysis of topical treatments for rosacea
        Dietary salt and stroke: an umbrella review
        A systematic literature review of costs of childhood asthma
        Systematic overview of reviews on yoga and back pain
        Meta-regression of trials of statins in dialysis""",
    "guideline": """
        Clinical practice guideline for the management of adult sinusitis
        European guidelines on the diagnosis of mastocytosis
        Consensus statement on the use of cell salvage in obstetrics
        Position paper of the working group on cardiac rehabilitation
        Recommendations for the treatment of latent tuberculosis
        Practice parameter: evaluation of the child with tics
        Canadian recommendations on screening for hearing loss
        Cough in children: a guideline""",
    "case report": """
        Spontaneous splenic rupture after colonoscopy: a case report
        A case of hypercalcaemia due to silicone granuloma
        Two cases of optic neuritis after mumps
        Report of three cases of familial moyamoya disease
        Necrotising fasciitis of the neck: case series
        An unusual case of chylothorax
        Thyroid storm mimicking sepsis: a diagnostic case""",
    "animal study": """
        Zelotrine lowers intraocular pressure in rabbits
        Loss of the gene Brum1 protects mice from steatosis
        Randomised trial of a vaccine against mastitis in dairy cows
        Intermittent fasting and lifespan in female rats
        Effects of hypoxia on cardiac development in zebrafish
        A porcine model of haemorrhagic shock
        Canine osteoarthritis: response to a new diet in dogs
        An animal model of postoperative ileus""",
    "randomised trial": """
        A randomised trial of early mobilisation after ileostomy
        Velotrexine or placebo in chronic cough: a randomized, double-blind study
        Honey for mild burns: a double-blind comparison with silver cream
        Cross-over trial of two inhalers in adults with bronchiectasis
        Randomization to weekly or monthly dialysis reviews
        Placebo-controlled study of zinc lozenges for the common cold
        Text messages to improve attendance at antenatal clinics: RCT
        Midwife-led or doctor-led induction: women randomly assigned before labour
        Moxidane versus placebo for travellers' diarrhoea""",
    "case-control study": """
        Hair dye and bladder cancer: a case-control study
        Nested case-control study of antibiotics and appendicitis
        Risk factors for neonatal sepsis: a case control analysis
        Matched case–control study of helmets and head injury
        Occupational dust and sarcoidosis: a case-referent study
        Genetic variants and early menopause, a population-based case-control study""",
    "cross-sectional study": """
        Burnout among theatre nurses: a cross-sectional study
        Survey of antibiotic prescribing by dentists
        Cross sectional analysis of vitamin B12 and mood in older men
        Attitudes of pharmacists to vaccination: an online survey
        Knowledge of sepsis in school teachers: questionnaire survey
        National survey of hospital hand washing""",
    "cohort study": """
        Night work and breast cancer: a prospective cohort study
        Ten-year follow-up of children with febrile seizures
        A birth cohort of preterm infants in the north
        Retrospective study of outcomes after adrenalectomy
        Registry-based study of knee replacement in the very old
        Longitudinal study of grip strength and disability
        Statin use and cataract: a population-based cohort
        Prospective observational study of delirium after hip surgery""",
    "in vitro study": """
        Zelotrine inhibits growth of HepG2 cells
        In vitro activity of new quinolones against anaerobes
        Curcumin induces apoptosis in a colon cancer cell line
        Effects of heparin on cultured human mesangial cells
        Adhesion of yeast to denture resin in vitro""",
    None: """
        The brain in stress and adaptation
        Mendelian randomised estimates of the effect of height on varicose veins
        Adherence to guidelines on asthma in primary care
        A non-randomised comparison of two sutures
        Cost-effectiveness of a randomised programme of home visits
        In vitro fertilisation after the age of 45
        Milk consumption of cows' origin and acne in adolescents who were patients of one hospital
        Current concepts in the treatment of gout
        Implementation of a national guideline for stroke
        Validation of a fatigue scale in Welsh
        What is known about long-term use of opioids
        Capnocytophaga sepsis after dog bites
        In the case of refusal: law and ethics of feeding
        Scoping review of art therapy
        A new device for chest drainage
        Pharmacokinetics of velotrexine in healthy volunteers
        Randomised trials in surgery: why so few?
        Comparison of society guidelines on hypertension
        Quality of life and its measurement
        Genetics of restless legs
        Effects of the smoking ban on admissions
        The tumour suppressor BRUM1 and its partners
        Aetiology of recurrent croup
        Treatment of scabies
        The future of telemedicine
        Pain after caesarean section
        The placenta as an organ of defence
        Mechanisms of itch""",
}  # fmt: skip
CASES = [(line.strip(), design) for design, lines in TITLES.items() for line in lines.strip().splitlines()]


def titled(title: str = "", abstract: str = "", **fields: object) -> Document:
    return Document(id="d", title=title, sections=(Section(text=abstract),) if abstract else (), **fields)


@pytest.mark.parametrize(("title", "design"), CASES, ids=[title for title, _ in CASES])
def test_a_title_names_its_design_or_none(title: str, design: str | None):
    assert study_design(titled(title)) == design


def test_there_are_a_hundred_titles_of_every_design():
    assert len(CASES) == 100 and set(TITLES) == {*DESIGNS, None}


@pytest.mark.parametrize(
    ("types", "title", "design"),
    [
        (("Journal Article", "Randomized Controlled Trial"), "Honey for burns", "randomised trial"),
        (("Meta-Analysis", "Randomized Controlled Trial"), "Honey for burns", "systematic review"),
        (("Clinical Trial Protocol", "Journal Article"), "The HONEY trial", "protocol"),
        (("Practice Guideline",), "Burns", "guideline"),
        (("Review", "Journal Article"), "Honey for burns", None),
        (("Review", "Systematic Review"), "Honey for burns", "systematic review"),
        (("Journal Article",), "Honey for burns", "randomised trial"),
    ],
)
def test_publication_types_come_before_the_abstract(types: tuple[str, ...], title: str, design: str | None):
    abstract = "Eighty adults were randomly assigned to honey or silver cream."
    assert study_design(titled(title, abstract, publication_types=types)) == design


@pytest.mark.parametrize(
    ("abstract", "design"),
    [
        ("We enrolled 40 adults, who were randomly allocated to two groups.", "randomised trial"),
        ("We randomised 2,410 inpatients to probiotic or placebo.", "randomised trial"),
        ("We then randomized 40 smokers to varenol or placebo.", "randomised trial"),
        ("We randomised women to yoga or a waiting list.", "randomised trial"),
        ("We will randomise 300 adults to zinc or placebo.", "protocol"),
        ("We randomised 2,410 to probiotic or placebo.", "randomised trial"),
        ("We randomised 90 frail older hospital inpatients to walking.", "randomised trial"),
        ("We randomised 120 rats to zinc or saline.", None),
        ("We randomised 30 New Zealand white rabbits to zinc.", None),
        ("We randomised 60 3-month-old mice to zinc.", None),
        ("We randomised 5 to 10 mice to zinc or placebo.", None),
        ("We randomised 100 images to two readers.", None),
        ("We randomised 20 samples of plasma.", None),
        ("We randomised 20 samples from patients.", None),
        ("We randomised 20 patients’ samples to two laboratories.", None),
        ("We randomised the sequence of the questions.", None),
        ("Participants enrolled in a randomized controlled trial were interviewed.", None),
        ("To date no randomized trials have been done.", None),
        ("We searched MEDLINE and Embase for trials of zinc.", "systematic review"),
        ("We report a 54-year-old woman with a swollen hand.", "case report"),
        ("Patients will be randomised to surgery or watchful waiting.", "protocol"),
        ("Forty rats were randomly divided into four groups.", "animal study"),
        ("We did a nationwide retrospective cohort study of adults with gout.", "cohort study"),
        ("In this cross-sectional study, nurses answered ten questions.", "cross-sectional study"),
        ("Cells were treated with zelotrine for 24 h.", "in vitro study"),
        ("Cases and controls were matched by age and clinic.", "case-control study"),
        ("Stress changes the brain.", None),
    ],
)
def test_an_abstract_names_the_design_that_it_says_of_itself(abstract: str, design: str | None):
    assert study_design(titled("Zinc and health", abstract)) == design


def test_a_section_on_design_and_mesh_count():
    sections = (Section(label="DESIGN", text="Cross-sectional."), Section(label="RESULTS", text="Few slept."))
    assert study_design(Document(id="d", title="Sleep of nurses", sections=sections)) == "cross-sectional study"
    assert study_design(titled("Sleep and growth", mesh=("Animals", "Sleep"))) == "animal study"
    assert study_design(titled("Sleep and growth", mesh=("Animals", "Humans"))) is None
