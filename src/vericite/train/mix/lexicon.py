"""Words that turn a finding round, and words that say of whom and how far it holds."""

from __future__ import annotations

_OPPOSITES = """
increase:decrease increases:decreases increased:decreased increasing:decreasing
reduce>increase reduces>increases reduced>increased reducing>increasing reduction>increase reductions>increases
rose:fell elevated>reduced lowered>raised raised>lowered elevates>lowers elevate>lower
higher:lower highest:lowest greater:smaller greatest:smallest larger:smaller more:less fewer>more
longer:shorter shortened:prolonged shortens:prolongs shorten:prolong faster:slower stronger:weaker
better:worse best:worst superior:inferior
improve:worsen improves:worsens improved:worsened improving:worsening improvement:deterioration
ameliorated>aggravated ameliorates>aggravates attenuated>exacerbated attenuates>exacerbates alleviates>aggravates
alleviated>aggravated aggravates>alleviates exacerbates>attenuates
enhance:impair enhances:impairs enhanced:impaired enhancing:impairing enhancement:impairment
promote:inhibit promotes:inhibits promoted:inhibited promoting:inhibiting
stimulates>suppresses stimulated>suppressed induces>suppresses induced>suppressed suppresses>induces suppressed>induced
activates:inactivates activated:inactivated activation:inactivation
upregulated:downregulated upregulates:downregulates upregulation:downregulation up-regulated:down-regulated
accelerates:delays accelerated:delayed facilitates:hinders prevents>causes prevented>caused prevent>cause
protects>harms protective:harmful beneficial:detrimental benefit:harm benefits:harms
effective:ineffective safe:unsafe efficacious:ineffective useful>useless sufficient:insufficient
positively:negatively inversely>directly sensitive>insensitive necessary:unnecessary dispensable>essential
strengthens:weakens overexpressed>underexpressed overexpression>silencing before:after
feasible:infeasible frequent:infrequent reversible:irreversible dependent:independent
"""


def _opposites() -> dict[str, str]:
    table: dict[str, str] = {}
    for entry in _OPPOSITES.split():
        if ">" in entry:
            word, other = entry.split(">")
            table[word] = other
        else:
            word, other = entry.split(":")
            table[word], table[other] = other, word
    return table


OPPOSITES = _opposites()
"""The word that makes a finding its reverse."""

POPULATIONS: tuple[tuple[str, ...], ...] = (
    ("children", "adults", "adolescents", "infants", "neonates", "older adults", "elderly people"),
    ("men", "women"),
    ("males", "females"),
    ("boys", "girls"),
    ("mice", "rats", "zebrafish", "rabbits", "monkeys", "pigs", "healthy volunteers"),
    ("in vitro", "in vivo"),
    ("primary care", "intensive care"),
    ("premenopausal", "postmenopausal"),
    ("nulliparous", "multiparous"),
    ("preterm infants", "term infants"),
    ("smokers", "non-smokers"),
    ("inpatients", "outpatients"),
)
"""Groups of whom only one is meant at a time."""

OVERCLAIMS: tuple[tuple[str, str], ...] = (
    (r"\bmay\b(?! not\b)", "will"),
    (r"\bmight\b(?! not\b)", "will"),
    (r"\bcould\b(?! not\b)", "will"),
    (r"\b(?:was|were) (?:significantly |independently |strongly )?associated with\b", "caused"),
    (r"\bis (?:significantly |independently |strongly )?associated with\b", "causes"),
    (r"\bare (?:significantly |independently |strongly )?associated with\b", "cause"),
    (r"\bsome\b(?= \w+s\b)", "all"),
    (r"\b[Mm]ost\b(?= \w+s\b)", "all"),
    (r"\b(?:often|usually|sometimes)\b", "always"),
    (r"\bmainly\b", "exclusively"),
    (r"\bpartially\b", "completely"),
    (r"\bpartly\b", "entirely"),
    (r"\bsuggest(s?) that\b", r"prove\1 that"),
    (r"\bappears? to be\b", "has been proved to be"),
    (r"\bpotential(?:ly)? \b(?=effective|useful|beneficial)", "definitely "),
)
"""What a cautious finding says (a pattern), and what it does not."""

DISEASES: tuple[tuple[str, ...], ...] = (
    ("asthma", "psoriasis", "epilepsy", "migraine", "hypertension", "osteoporosis", "anaemia", "gout", "glaucoma"),
    ("breast cancer", "prostate cancer", "lung cancer", "colorectal cancer", "gastric cancer", "ovarian cancer"),
    ("Parkinson's disease", "Alzheimer's disease", "multiple sclerosis", "Huntington's disease"),
    ("type 1 diabetes", "type 2 diabetes"),
    ("hepatitis B", "hepatitis C"),
    ("rheumatoid arthritis", "osteoarthritis", "ankylosing spondylitis"),
    ("heart failure", "atrial fibrillation", "myocardial infarction", "stroke", "pulmonary embolism"),
    ("depression", "schizophrenia", "bipolar disorder", "autism", "anxiety"),
    ("malaria", "tuberculosis", "influenza", "pneumonia", "sepsis", "measles"),
    ("leukemia", "lymphoma", "melanoma", "glioma", "myeloma", "neuroblastoma"),
    ("Crohn's disease", "ulcerative colitis", "irritable bowel syndrome", "celiac disease"),
    ("liver", "kidney", "lung", "heart", "brain", "pancreas", "spleen"),
    ("mortality", "quality of life", "treatment costs"),
)
"""Conditions, organs and outcomes of one sort, of which one may stand where another stood."""

DRUG_ENDING = (
    r"(?:mab|nib|tinib|statin|pril|olol|sartan|azole|cillin|mycin|micin|floxacin|cycline|vir|vudine|formin|gliptin"
    r"|glutide|gliflozin|prazole|tidine|setron|triptan|oxetine|pramine|azepam|barbital|caine|dipine|parin|xaban|platin"
    r"|taxel|rubicin|mustine|zumab|ximab|limus|steride|dronate|thiazide|semide|lukast|terol|sone|solone|profen|coxib"
    r"|quine|mectin|fungin|conazole|zosin|apine|peridone|piprazole|gabalin|bactam|penem|ciclib|parib|lisib)"
)
"""How the names of drugs end."""
