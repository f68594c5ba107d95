"""Twenty invented sentences that two documents support only together, each with three other documents.

The joint attribution was tuned on them, so scores on them do not predict scores on other sentences.
"""

from __future__ import annotations

from typing import NamedTuple

from vericite.records import Answer, Document
from vericite.text.citations import parse_answer


class TwoDocuments(NamedTuple):
    """A sentence, the two documents that support it together, and an unhelpful one on the same topic."""

    sentence: str
    first: str
    second: str
    beside: str


CASES: tuple[TwoDocuments, ...] = (
    TwoDocuments(
        "Velatinib shrank the tumours of half of the patients, but one patient in five developed hypertension.",
        "We treated 84 patients with advanced thyroid cancer with velatinib. The tumour shrank in 42 of 84 patients "
        "(50 %). Median time to response was nine weeks.",
        "Safety was pooled over three studies of velatinib. New hypertension occurred in 20 % of patients. It was "
        "managed with amlodipine in most of them.",
        "Thyroid cancer is treated with surgery and radioiodine. Kinase inhibitors are used when iodine is no longer "
        "taken up.",
    ),
    TwoDocuments(
        "Both garlic extract and beetroot juice lower systolic blood pressure.",
        "Sixty adults with mild hypertension took aged garlic extract or placebo. Systolic blood pressure fell by 8 "
        "mmHg with garlic extract and did not change with placebo.",
        "In this crossover trial, beetroot juice was given daily for four weeks. Beetroot juice lowered systolic blood "
        "pressure by 5 mmHg compared with water.",
        "Salt restriction is advised in all guidelines on hypertension. Adherence to it is poor after the first year.",
    ),
    TwoDocuments(
        "The enzyme CTH-4 is blocked by morandil, and loss of CTH-4 protects neurons from ischaemia.",
        "Morandil was screened against 120 enzymes. It blocked CTH-4 with an IC50 of 3 nM and spared all other "
        "enzymes of the panel.",
        "We deleted CTH-4 in cortical neurons. Neurons without CTH-4 survived two hours of ischaemia that killed most "
        "wild-type neurons.",
        "Ischaemic stroke is a leading cause of disability. Thrombolysis must begin within hours.",
    ),
    TwoDocuments(
        "Hip fracture incidence rose in Norway while it fell in Portugal.",
        "Hospital records of all hip fractures in Norway were reviewed. Between 2005 and 2015 the incidence of hip "
        "fracture in Norway increased by 6 %.",
        "We studied hip fractures in Portugal. Their incidence decreased steadily over the decade, mostly among women.",
        "Falls at home cause most hip fractures. Vitamin D has not been shown to prevent falls in the well fed.",
    ),
    TwoDocuments(
        "Ferotaxin is given once weekly by injection and reduces relapses of multiple sclerosis by about a third.",
        "Ferotaxin is administered as a subcutaneous injection once a week. Its half-life is 160 hours, and no loading "
        "dose is needed.",
        "In a randomised trial of 910 patients with relapsing multiple sclerosis, the annual relapse rate was 34 % "
        "lower with ferotaxin than with placebo.",
        "Multiple sclerosis usually begins between the ages of 20 and 40. Fatigue is among its commonest symptoms.",
    ),
    TwoDocuments(
        "Mutations in LRM2 cause familial tremor, and propranolol relieves this tremor in most patients.",
        "We sequenced five families with familial tremor. All affected members carried mutations in LRM2, and "
        "restoring the gene in mice abolished the tremor. LRM2 mutations are therefore a cause of familial tremor.",
        "Propranolol was given to 30 patients with familial tremor. Tremor was relieved in 24 of the 30 patients.",
        "Essential tremor is the most common movement disorder of adults. Alcohol improves it for a few hours.",
    ),
    TwoDocuments(
        "Infants vaccinated against rotavirus were admitted less often, and the vaccine did not cause intussusception.",
        "After the introduction of the rotavirus vaccine, hospital admissions for diarrhoea were 60 % lower in "
        "vaccinated than in unvaccinated children.",
        "We looked for intussusception in 63,000 infants. The rotavirus vaccine was not associated with "
        "intussusception within 42 days of any dose.",
        "Rotavirus is spread by contact. Handwashing alone does little to stop it in day care centres.",
    ),
    TwoDocuments(
        "Smoking and obesity are each associated with a higher risk of psoriasis.",
        "Among 78,000 nurses, current smokers had a higher risk of psoriasis than women who had never smoked "
        "(relative risk 1.8).",
        "Obesity was associated with incident psoriasis in a Danish cohort. The risk doubled above a body mass index "
        "of 35.",
        "Psoriasis is treated with topical steroids. Biologic drugs are kept for severe disease.",
    ),
    TwoDocuments(
        "Metformin does not pass into breast milk in relevant amounts, whereas codeine does and can sedate the infant.",
        "Metformin was measured in the milk of seven mothers. The amounts in breast milk were too low to be relevant "
        "for the infant.",
        "Codeine passes into breast milk. Infants whose mothers took codeine were sedated in 17 % of cases.",
        "Breastfeeding is recommended for six months. Support by midwives makes it last longer.",
    ),
    TwoDocuments(
        "Coronary calcium predicts infarction better than the Framingham score, and statins do not reduce it.",
        "In 6,700 adults, coronary calcium predicted myocardial infarction better than the Framingham risk score did "
        "(area under the curve 0.81 against 0.72).",
        "Coronary calcium was measured before and after two years of statin therapy. Statins did not reduce "
        "coronary calcium; it increased in both arms.",
        "Chest pain is a common reason for emergency visits. High-sensitivity troponin rules out infarction early.",
    ),
    TwoDocuments(
        "The bacterium Neorella ovata is carried by ticks and is sensitive to doxycycline.",
        "We collected 2,400 ticks in Estonia. Neorella ovata was found in 7 % of the ticks, so that these are carriers "
        "of the bacterium.",
        "Isolates of Neorella ovata were tested against eight antibiotics. All were sensitive to doxycycline and "
        "resistant to ampicillin.",
        "Lyme disease is diagnosed by its rash. Serology is negative in the first weeks in many patients.",
    ),
    TwoDocuments(
        "Zinc shortens the common cold in adults but not in children.",
        "In 213 adults with a common cold, zinc lozenges shortened the illness by two days compared with placebo.",
        "Zinc syrup was compared with placebo in 400 children with colds. The duration of the common cold in children "
        "was the same in both groups.",
        "Colds are caused by more than 200 viruses. Rhinoviruses are the most frequent in autumn.",
    ),
    TwoDocuments(
        "Sleep apnoea raises the risk of atrial fibrillation, and treating it with positive pressure lowers recurrence "
        "after ablation.",
        "Patients with sleep apnoea had twice the risk of atrial fibrillation of those without, after adjustment for "
        "age and weight.",
        "We followed 426 patients after catheter ablation of atrial fibrillation. Among those with sleep apnoea, "
        "recurrence was lower in users of continuous positive airway pressure than in non-users.",
        "Snoring is reported by a third of men. Weight loss reduces it.",
    ),
    TwoDocuments(
        "Tocafil was approved in 2014 for pulmonary hypertension and was later found to worsen heart failure.",
        "Tocafil received approval in 2014 for the treatment of pulmonary arterial hypertension.",
        "In patients with chronic heart failure, tocafil increased admissions and mortality. The trial was stopped "
        "because tocafil worsened heart failure.",
        "Pulmonary hypertension is confirmed by catheterisation. Echocardiography can suggest it.",
    ),
    TwoDocuments(
        "Depression is twice as common in women as in men, and cognitive therapy works equally well in both sexes.",
        "In a survey of 21 countries, the prevalence of depression was 8 % in women and 4 % in men, so that women were "
        "affected twice as often.",
        "We pooled 40 trials of cognitive therapy for depression. The effect of cognitive therapy did not differ "
        "between women and men.",
        "Antidepressants take weeks to work. Side effects are the usual reason to stop them.",
    ),
    TwoDocuments(
        "Interleukin-31 triggers itch in atopic dermatitis, and the antibody nemarumab against it relieves that itch.",
        "Injection of interleukin-31 into the skin of patients with atopic dermatitis caused itch within minutes. "
        "Interleukin-31 is thus a trigger of itch in this disease.",
        "Nemarumab, an antibody against interleukin-31, was given to 215 adults with atopic dermatitis. Itch improved "
        "by 60 % with nemarumab and by 20 % with placebo.",
        "Emollients restore the barrier of dry skin. They should be applied twice a day.",
    ),
    TwoDocuments(
        "Malaria mortality in Zambia fell after bed nets were distributed, but insecticide resistance has since spread "
        "there.",
        "After the mass distribution of bed nets in Zambia, deaths from malaria fell by 50 % within four years.",
        "Mosquitoes were collected at 30 sites in Zambia until 2018. Resistance to insecticides had spread to 27 "
        "of the 30 sites by the end.",
        "Artemisinin combinations cure most malaria. Parasites with slow clearance were found in Asia.",
    ),
    TwoDocuments(
        "Low doses of aspirin prevent pre-eclampsia, and calcium does so in women with a low intake.",
        "Women at high risk received aspirin 100 mg or placebo from week 12. Low-dose aspirin prevented pre-eclampsia: "
        "it occurred in 1.6 % against 4.3 %.",
        "We reviewed 13 trials of calcium in pregnancy. Calcium prevented pre-eclampsia in women whose dietary intake "
        "of calcium was low.",
        "Blood pressure should be measured at each visit in pregnancy. Automated devices are accurate enough.",
    ),
    TwoDocuments(
        "The gene PRX9 is silenced by methylation in colon cancer, and its product suppresses metastasis in mice.",
        "The promoter of PRX9 was methylated in 88 of 110 colon cancers, and methylation silenced the gene.",
        "Mice were injected with colon cancer cells that expressed PRX9 protein. The protein suppressed metastasis to "
        "the liver.",
        "Colonoscopy reduces deaths from colon cancer. Its uptake differs between regions.",
    ),
    TwoDocuments(
        "Exercise improves walking distance in peripheral artery disease, as does cilostazol.",
        "Supervised exercise improved walking distance by 180 m in patients with peripheral artery disease.",
        "Cilostazol or placebo was given for six months in peripheral artery disease. Walking distance improved more "
        "with cilostazol.",
        "Smoking is the strongest risk factor for peripheral artery disease. Half of the patients continue to smoke.",
    ),
)


def answers() -> list[Answer]:
    """Return each sentence with its three documents and two of the next cases, in varying order."""
    found: list[Answer] = []
    for number, case in enumerate(CASES):
        others = [CASES[(number + step) % len(CASES)].first for step in (1, 2)]
        texts = {"first": case.first, "second": case.second, "beside": case.beside}
        texts |= {f"other-{place}": text for place, text in enumerate(others)}
        names = sorted(texts)
        turned = names[number % 5 :] + names[: number % 5]
        documents = [Document.from_text(name, texts[name]) for name in turned]
        found.append(parse_answer(f"case-{number}", case.sentence, documents))
    return found
