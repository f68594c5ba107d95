"""The names that made-up studies of quantities are about: treatments, conditions, people, events and markers."""

from __future__ import annotations

from dataclasses import dataclass


def _listed(text: str) -> tuple[str, ...]:
    """The entries of a table: separated by semicolons, over as many lines as it takes."""
    return tuple(" ".join(entry.split()) for entry in text.split(";") if entry.strip())


TREATMENTS = _listed("""
metformin; semaglutide; empagliflozin; dapagliflozin; sitagliptin; insulin glargine; liraglutide; pioglitazone;
atorvastatin; rosuvastatin; ezetimibe; evolocumab; amlodipine; lisinopril; losartan; valsartan; metoprolol; carvedilol;
spironolactone; eplerenone; furosemide; torsemide; apixaban; rivaroxaban; warfarin; dabigatran; clopidogrel; ticagrelor;
low-dose aspirin; colchicine; tranexamic acid; alteplase; tenecteplase; amoxicillin; azithromycin; doxycycline;
ceftriaxone; nitrofurantoin; vancomycin; fidaxomicin; oseltamivir; remdesivir; tenofovir; dolutegravir; fluconazole;
ivermectin; albendazole; artesunate; prednisolone; dexamethasone; budesonide; tiotropium; salbutamol; montelukast;
omalizumab; dupilumab; tocilizumab; adalimumab; infliximab; rituximab; methotrexate; tofacitinib; upadacitinib;
pembrolizumab; nivolumab; trastuzumab; bevacizumab; olaparib; osimertinib; sorafenib; capecitabine; paclitaxel;
cisplatin; sertraline; escitalopram; venlafaxine; quetiapine; lithium; ketamine; pregabalin; gabapentin; topiramate;
levetiracetam; donepezil; melatonin; ibuprofen; paracetamol; morphine; ondansetron; omeprazole; lactulose; allopurinol;
febuxostat; denosumab; zoledronic acid; vitamin D; oral iron; folic acid; zinc; fish oil; acupuncture; yoga;
cognitive behavioural therapy; aerobic exercise; resistance training; a Mediterranean diet; mindfulness training;
pulmonary rehabilitation; compression therapy; telephone coaching; early mobilisation; probiotic supplementation
""")

# What has a dose in grams or millilitres: the table lists the rest after these.
MEDICINES = TREATMENTS[: TREATMENTS.index("acupuncture")]

GENERIC = _listed("the intervention; the study drug; active treatment; the new regimen; the trial treatment")

CONTROLS = _listed("placebo; usual care; standard care; no treatment; a sham procedure; watchful waiting; routine care")

CONDITIONS = _listed("""
type 2 diabetes; type 1 diabetes; hypertension; heart failure; atrial fibrillation; stable angina; acute stroke;
chronic kidney disease; asthma; bronchiectasis; community-acquired pneumonia; tuberculosis; sepsis; HIV infection;
chronic hepatitis C; cirrhosis; ulcerative colitis; Crohn's disease; irritable bowel syndrome; coeliac disease;
rheumatoid arthritis; psoriatic arthritis; lupus; gout; knee osteoarthritis; osteoporosis; low back pain; fibromyalgia;
migraine; epilepsy; multiple sclerosis; Parkinson's disease; mild cognitive impairment; major depression;
bipolar disorder; schizophrenia; generalised anxiety disorder; insomnia; alcohol use disorder; obesity;
obstructive sleep apnoea; atopic dermatitis; plaque psoriasis; chronic urticaria; venous leg ulcers; melanoma;
colorectal cancer; lung cancer; gastric cancer; multiple myeloma; acute myeloid leukaemia; sickle cell disease;
iron deficiency anaemia; deep vein thrombosis; pulmonary embolism; malaria; influenza; severe burns; hip fracture;
chronic pancreatitis; glaucoma; hypothyroidism; nephrotic syndrome; cystic fibrosis
""")

PEOPLE = _listed("""
patients; adults; participants; outpatients; inpatients; men and women; volunteers; veterans; primary care patients;
hospital patients; clinic attenders; ambulatory patients; consecutive patients; treatment-naive patients;
previously treated patients; community-dwelling adults; urban residents; rural residents; trial participants;
insured adults; referred patients; working-age adults
""")

# What happened; what people did, in the past tense; the plain name.
_EVENTS = _listed("""
relapse|relapsed|a return of the disease; all-cause mortality|died|death from any cause;
hospital readmission|were readmitted|a return to hospital; ischaemic stroke|had an ischaemic stroke|a clot-type stroke;
myocardial infarction|had a myocardial infarction|a heart attack; nausea|experienced nausea|feeling sick;
vomiting|experienced vomiting|being sick; headache|developed headache|head pain; pruritus|developed pruritus|itching;
dizziness|experienced dizziness|feeling dizzy; diarrhoea|developed diarrhoea|loose stools;
constipation|experienced constipation|difficulty passing stool; hypoglycaemia|experienced hypoglycaemia|low blood sugar;
hyperkalaemia|developed hyperkalaemia|high blood potassium; acute kidney injury|developed acute kidney injury|
sudden loss of kidney function; neutropenia|developed neutropenia|a low neutrophil count;
thrombocytopenia|developed thrombocytopenia|a low platelet count; major bleeding|had major bleeding|a serious bleed;
venous thromboembolism|had venous thromboembolism|a clot in the veins; surgical site infection|
developed a surgical site infection|an infected wound; delirium|developed delirium|acute confusion;
falls|had a fall|falling; hip fracture|had a hip fracture|a broken hip; vertebral fracture|had a vertebral fracture|
a broken vertebra; treatment discontinuation|discontinued treatment|stopping treatment;
smoking cessation|stopped smoking|giving up smoking; clinical remission|achieved clinical remission|
being free of symptoms of the disease; viral suppression|achieved viral suppression|a suppressed virus;
wound healing|achieved complete wound healing|a healed wound; seizure|had a seizure|a fit;
respiratory failure|developed respiratory failure|failing lungs; mechanical ventilation|were mechanically ventilated|
being put on a ventilator; intensive care admission|were admitted to intensive care|a stay in intensive care;
hepatotoxicity|developed hepatotoxicity|liver injury; peripheral oedema|developed peripheral oedema|swollen ankles;
alopecia|developed alopecia|hair loss; oral candidiasis|developed oral candidiasis|thrush of the mouth;
cataract|developed cataract|a clouded lens; hearing loss|developed hearing loss|poorer hearing;
insomnia|experienced insomnia|trouble sleeping; fatigue|experienced fatigue|tiredness;
retinopathy|developed retinopathy|damage to the retina; limb amputation|had a limb amputation|loss of a limb;
blood transfusion|were transfused|being given blood
""")

# Name; unit; lowest and highest mean; decimals; another name.
_MARKERS = _listed("""
HbA1c|%|6.8|9.6|1|glycated haemoglobin; fasting glucose|mmol/L|5.6|11.8|1|blood sugar before breakfast;
systolic blood pressure|mm Hg|122|168|0|the upper blood pressure reading; diastolic blood pressure|mm Hg|70|98|0|
the lower blood pressure reading; LDL cholesterol|mmol/L|1.8|4.6|1|low-density lipoprotein;
HDL cholesterol|mmol/L|0.8|1.9|1|high-density lipoprotein; triglycerides concentration|mmol/L|1.1|3.9|1|blood fat;
body weight|kg|62|118|1|body mass in kilograms; body mass index|kg/m2|24|41|1|BMI;
waist circumference|cm|84|124|0|waist girth; haemoglobin|g/L|84|142|0|the blood's haemoglobin;
serum ferritin|ng/mL|12|180|0|stored iron; C-reactive protein|mg/L|3|64|0|CRP; serum creatinine|µmol/L|68|210|0|
creatinine in the blood; albuminuria|mg/g|30|420|0|protein in the urine;
serum potassium|mmol/L|3.3|5.8|1|blood potassium;
serum urate|µmol/L|290|580|0|uric acid; alanine aminotransferase|U/L|22|140|0|ALT; bilirubin|µmol/L|9|88|0|
the bile pigment level; platelet count|x 10^9/L|92|340|0|the number of platelets; CD4 count|cells/µL|120|640|0|
the T-helper cell count; serum 25-hydroxyvitamin D|nmol/L|24|96|0|vitamin D status; thyrotropin|mIU/L|1.2|9.6|1|TSH;
NT-proBNP|pg/mL|300|2400|0|the natriuretic peptide level; ejection fraction|%|26|58|0|the heart's pumping fraction;
resting heart rate|beats/min|58|96|0|pulse at rest; forced expiratory volume in 1 s|mL|1200|3100|0|FEV1;
six-minute walk distance|m|240|560|0|distance walked in six minutes; peak expiratory flow|L/min|220|520|0|
peak flow; oxygen saturation|%|84|97|0|blood oxygen level; pain score|points|2|8|1|pain intensity;
depression score|points|8|29|0|severity of depressive symptoms; fatigue score|points|10|42|0|severity of tiredness;
lumbar spine bone density|mg/cm2|780|1120|0|bone mass of the spine; intraocular pressure|mm Hg|13|29|0|
pressure within the eye; grip strength|kg|16|44|0|hand strength; length of hospital stay|days|3|16|0|
time spent in hospital; sleep duration|minutes|290|470|0|time asleep; tumour diameter|mm|12|74|0|tumour size;
interleukin-6|pg/mL|3|58|0|IL-6
""")

_BASES = {
    "relapsed": "relapse",
    "died": "die",
    "had": "have",
    "developed": "develop",
    "experienced": "experience",
    "discontinued": "discontinue",
    "stopped": "stop",
    "achieved": "achieve",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to people: its name, what they did, what the others did not, its plain name."""

    event: str
    had: str
    hadnt: str
    lay: str


@dataclass(frozen=True, slots=True)
class Marker:
    """Something measured: its name, unit, plausible means, decimals, and another name."""

    name: str
    unit: str
    low: float
    high: float
    decimals: int
    lay: str


def denied(past: str) -> str:
    """The negation of a verb phrase in the past tense that the table of events knows."""
    first, _, rest = past.partition(" ")
    start = "were not" if first == "were" else f"did not {_BASES[first]}"
    return f"{start} {rest}".strip()


def _event(row: str) -> Event:
    name, had, lay = (part.strip() for part in row.split("|"))
    return Event(name, had, denied(had), lay)


def _marker(row: str) -> Marker:
    name, unit, low, high, decimals, lay = (part.strip() for part in row.split("|"))
    return Marker(name, unit, float(low), float(high), int(decimals), lay)


EVENTS = tuple(_event(row) for row in _EVENTS)
MARKERS = tuple(_marker(row) for row in _MARKERS)
