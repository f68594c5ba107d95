"""Words and phrases of one meaning, lay and medical, each under one name."""

from __future__ import annotations

# phrases and words of one meaning; the first is its name
_SAME = """
mortality|death|deaths|died|die|dies|dying|fatal|fatality|fatalities|deadly|killed|lethality
survival|survived|survive|survives|survivors|alive|surviving|lived|live
mi|heart attack|heart attacks|myocardial infarction|myocardial infarctions|infarction|infarctions
stroke|strokes|cerebrovascular accident|cerebrovascular accidents
menstruation|menstruate|periods
bleeding|bleed|bleeds|haemorrhage|hemorrhage|haemorrhages|hemorrhages|haemorrhagic|hemorrhagic|bled|blood loss
hypertension|high blood pressure|raised blood pressure
bloodpressure|blood pressure|bp|sbp|dbp|systolic pressure|diastolic pressure
kidney|kidneys|renal|nephro
liver|hepatic
heart|cardiac|hearts
lung|lungs|pulmonary
brain|cerebral|brains
stomach|gastric
bowel|colorectal|intestinal|gut|colon
cancer|cancers|carcinoma|carcinomas|malignancy|malignancies|tumour|tumours|tumor|tumors|neoplasm|neoplasms
admission|admissions|admitted|hospitalisation|hospitalization|hospitalisations|hospitalizations|hospitalised
admission|hospitalized
readmission|readmitted|readmissions|rehospitalised|rehospitalisation
stay|length of stay|hospital stay|time in hospital|hospital stays|lengths of stay|stays|days in hospital
glucose|blood sugar|sugar|glycaemia|glycemia|glycaemic|glycemic|blood glucose
hba1c|glycated haemoglobin|glycated hemoglobin|haemoglobin a1c|a1c|glycosylated hemoglobin
hypoglycaemia|hypoglycemia|low blood sugar|hypoglycaemic|hypoglycemic|hypos
weight|body weight|bodyweight|weigh|weighed|body mass
fracture|fractures|broken bones|broken bone|broke
fall|falls|falling
ldl|low-density lipoprotein|bad cholesterol|ldl-c|ldl cholesterol
pain|painful|ache|aches|soreness|pains
loss|losses|dwindled|dwindle|dwindles|dwindling
relapse|relapses|relapsed|recurrence|recurrences|recurred|recur|recurrent|flare|flares|came back
recovery|recover|recovered|recovers|recovering
remission|remissions|remitted
infection|infections|infected|infect
adverse|side effect|side effects|adverse events|adverse event|adverse effects|adverse reactions|harms|side-effects
adverse|unwanted effects
sleep|slept|sleeping|asleep
itch|itching|pruritus|itchy
vomiting|vomit|vomited|vomits|emesis
nausea|nauseous|nauseated|sick
fever|febrile|temperature|feverish
diarrhoea|diarrhea|loose stools
breathless|dyspnoea|dyspnea|breathlessness|shortness of breath
clot|clots|thrombosis|thromboses|thrombotic|thromboembolism|vte
premature|preterm|prematurity|born early|early birth
exercise|physical activity|exercising|exercised|training
depression|depressed|depressive
anxiety|anxious
cognition|cognitive|memory
anaemia|anemia|anaemic|anemic
formersmoker|former smokers|former smoker|former smoking|ex-smokers|ex-smoker|past smokers|quit smoking|stopped smoking
formersmoker|given up smoking|gave up smoking
smoke|smoking|smoker|smokers|smoked|smokes
obese|obesity|overweight
elderly|older adults|older people|seniors
drug|drugs|medication|medications|medicine|medicines
child|children|childhood|paediatric|pediatric|kids
adult|adults
woman|women|female|females
man|men|male|males
baby|babies|infant|infants|newborn|newborns|neonate|neonates
mouse|mice|murine
response|respond|responded|responder|responders|responds|responses
time|duration|length
quality of life|qol|quality-of-life|wellbeing|well-being
seizure|seizures|fits|convulsions
growth|grow|grew|grows|growing
dayworker|day workers|day worker|day staff
shiftworker|shift workers|shift worker|those on shifts|night workers
proliferation|proliferate|proliferated|divide|divided|multiply|multiplied|multiplies
expression|expressed|express|expresses
inflammation|inflammatory|inflamed
immune|immunity|immunological
apoptosis|cell death|apoptotic
surgery|operation|operations|surgical|operative|operated
transmission|transmit|transmitted|spread
prevention|prevent|prevents|prevented|preventing
symptom|symptoms|symptomatic
score|scores
asthma|asthmatic|asthmatics
diabetes|diabetic|diabetics
migraine|migraines|headache|headaches
placebo|dummy|sham
control|controls
kidneyfunction|kidney function|renal function|egfr|gfr|glomerular filtration rate
parous|parous women|given birth before|multiparous
doctor|doctors|physician|physicians|clinicians|clinician
detectable|traceable
usual care|standard care|usual treatment|standard treatment|standard therapy
pacemaker|pacemakers
vaccine|vaccination|vaccinated|vaccines|immunisation|immunization|jab
tolerate|tolerated|tolerability|tolerable
detect|detected|detectable|detection|detects
differ|difference|differences|differed|differs|different
eye|eyes|ocular|intraocular
skin|cutaneous|dermal
bone|bones|skeletal|osseous
blood|serum|plasma
muscle|muscles|muscular
tooth|teeth|dental
pregnancy|pregnant|pregnancies|gestation|gestational
caesarean|cesarean|c-section|caesarean section|cesarean section|caesareans
birth|births|delivery|deliveries|giving birth|gave birth|born
breastfeed|breastfed|breastfeeding|breast-feeding
cough|coughs|coughing|coughed
oedema|edema|swelling|swollen|swellings
fatigue|tired|tiredness|exhaustion|weariness
dizziness|dizzy|vertigo
alopecia|hair loss|baldness
heartrate|heart rate|pulse|heartbeat|heart beat
ventilation|mechanical ventilation|ventilator|ventilated|intubated|intubation
icu|intensive care|critical care|intensive care unit
walk|walking|walked|gait|steps
salt|sodium
lipid|lipids|fat|fats|fatty
antibody|antibodies
bacteria|bacterial|bacterium
virus|viral|viruses
mutation|mutations|mutant|mutants|mutated|variant|variants
offspring|pups|litter|litters
cost|costs|expense|expenses|spending|expenditure|expenditures
sickleave|sick leave|absenteeism|sickness absence
alcohol|drinking|drinkers
nerve|nerves|neural|neuronal
exacerbation|exacerbations|flare-up|flare-ups|flareup
vision|visual|sight|eyesight|visual acuity
intake|consumption|consumed|consume|ate|eat|eaten|eating
need|needs|needed|require|required|requires|requirement|requirements
leukaemia|leukemia|leukaemias|leukemias
arthritis|arthritic
hospital|hospitals
student|students|pupils|pupil
teenager|teenagers|adolescent|adolescents|teens
animal|animals
wound|wounds|incision|incisions
dementia|demented
"""


def _meanings() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _SAME.strip().splitlines():
        name, *others = line.split("|")
        for word in (name, *others):
            table[word] = "=" + name
    return table


MEANINGS = _meanings()
"""Every word and phrase, in small letters, with the name of what it means: "=" and a word."""


def _phrases() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for name in sorted((name for name in MEANINGS if " " in name or "-" in name), key=len, reverse=True):
        table.setdefault(name.replace("-", " ").split()[0], []).append(name)
    return table


PHRASES = _phrases()
"""The phrases of more than one word by their first word, the longest first."""
