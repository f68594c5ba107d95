"""What the made-up facts are about: treatments, exposures, genes, conditions and groups of people.

In a table, names of one thing are parted by "/", things by ";".
"""

from __future__ import annotations

Names = tuple[str, ...]


def table(text: str) -> tuple[Names, ...]:
    """The things of a table, each with all its names."""
    return tuple(tuple(name.strip() for name in thing.split("/")) for thing in text.split(";") if thing.strip())


TREATMENTS = table("""
metformin; paracetamol/acetaminophen; ibuprofen; aspirin/acetylsalicylic acid; atorvastatin; rosuvastatin; ezetimibe;
warfarin; apixaban; rivaroxaban; dabigatran; clopidogrel; ticagrelor; lisinopril; losartan; amlodipine; bisoprolol;
spironolactone; furosemide/frusemide; empagliflozin; dapagliflozin; semaglutide; liraglutide; tirzepatide; sitagliptin;
pioglitazone; insulin glargine; levothyroxine; prednisolone; dexamethasone; methotrexate; tocilizumab; adalimumab;
infliximab; rituximab; ustekinumab; tofacitinib; hydroxychloroquine; colchicine; allopurinol; febuxostat; denosumab;
zoledronic acid/zoledronate; alendronate; omeprazole; amoxicillin; azithromycin; doxycycline; vancomycin; meropenem;
ciprofloxacin; rifaximin; ivermectin; remdesivir; baricitinib; molnupiravir; oseltamivir; tenofovir; dolutegravir;
fluconazole; sertraline; escitalopram; bupropion; lithium; quetiapine; clozapine; ketamine; gabapentin; pregabalin;
lamotrigine; levetiracetam; valproate/valproic acid; topiramate; donepezil; memantine; levodopa; melatonin;
montelukast; tiotropium; budesonide; salbutamol/albuterol; omalizumab; dupilumab; tamoxifen; letrozole; trastuzumab;
pembrolizumab; nivolumab; cisplatin; docetaxel; sorafenib; osimertinib; lenalidomide; imatinib; tranexamic acid;
magnesium sulfate; vitamin D/cholecalciferol; vitamin C/ascorbic acid; omega-3 supplementation/fish oil; zinc; selenium;
folic acid/folate; iron sucrose; curcumin; probiotics therapy/probiotic treatment; melatonin; acupuncture; yoga;
cognitive behavioural therapy/CBT; mindfulness training; bright light therapy; supervised exercise/exercise training;
telephone coaching; whole-body cooling; pulmonary rehabilitation; early mobilisation; the Mediterranean diet;
time-restricted eating; bariatric surgery/weight-loss surgery; laparoscopic repair/keyhole repair; epidural analgesia;
dry needling; oxygen therapy; continuous positive airway pressure/CPAP; faecal microbiota transplantation;
convalescent plasma; a school-based programme; motivational interviewing; music therapy; nicotine replacement
""")

DRUGS = TREATMENTS[: TREATMENTS.index(("tranexamic acid",)) + 1]

EXPOSURES = table("""
smoking/cigarette use; passive smoking/second-hand smoke; heavy drinking/high alcohol intake; coffee drinking;
green tea consumption; night-shift work/working at night; air pollution/dirty air; traffic noise; short sleep/sleeping
too little; physical inactivity/a lack of exercise; obesity/a very high body weight; red meat consumption/eating red
meat; a high-salt diet/eating a lot of salt; sugary drink intake/drinking sugary drinks; dietary fibre intake/eating
fibre; nut consumption/eating nuts; breastfeeding; preterm birth/being born too early; caesarean delivery/being born by
caesarean section; prolonged sitting/sitting for long hours; loneliness/social isolation; childhood adversity; job
strain/stress at work; antibiotic use in infancy; vitamin D deficiency/a lack of vitamin D; periodontal disease/gum
disease; lead exposure; pesticide exposure/contact with pesticides; oral contraceptive use/taking the pill;
menopausal hormone therapy/hormone replacement; proton pump inhibitor use; benzodiazepine use; statin use; dog
ownership/owning a dog; vegetarian eating/a meat-free diet; ultra-processed food intake/eating ultra-processed food;
higher education/longer schooling; screen time/time in front of screens; cannabis use; e-cigarette use/vaping;
poor oral hygiene; frequent napping/napping often; rural residence/living in the countryside; early menopause; high
birth weight/being heavy at birth; maternal stress/stress in the mother; unemployment/being out of work
""")

GENES = table("""
TP53; KRAS; BRAF; PTEN; BRCA1; BRCA2; MYC; EGFR; HER2; VEGFA; IL-6/interleukin-6; TNF-alpha/tumour necrosis factor \
alpha;
IL-17A; IL-10/interleukin-10; TGF-beta; STAT3; NF-kB; mTOR; AMPK; SIRT1; FOXO3; NLRP3; TLR4; CXCR4; CCL2; PD-L1; CTLA-4;
BCL2; CASP3/caspase-3; MMP9; CDH1/E-cadherin; HIF1A; NOTCH1; WNT5A; SHH; SOX2; OCT4; GATA3; RUNX2; PPARG; LDLR; PCSK9;
APOE; ACE2; TMPRSS2; CFTR; SMN1; HTT/huntingtin; SNCA/alpha-synuclein; TREM2; BDNF; COMT; DRD2; CYP2D6; miR-21;
miR-155; miR-34a; MALAT1; HOTAIR; METTL3; EZH2; HDAC1; DNMT1; LKB1; PINK1; GPX4; NRF2; KEAP1; YAP1; FGFR2; FGF21; GDF15
""")

PROCESSES = table("""
apoptosis/programmed cell death; autophagy; cell proliferation/cell division; cell migration/movement of cells;
angiogenesis/the growth of new blood vessels; tumour growth/growth of the tumour; insulin signalling; glycolysis;
lipid accumulation/the build-up of fat; mitochondrial respiration; oxidative stress; fibrosis/scar formation;
T-cell activation; neutrophil recruitment/the arrival of neutrophils; bone resorption/the breakdown of bone;
viral replication/multiplication of the virus; DNA repair; synaptic plasticity; myelination; wound closure;
osteoblast differentiation; adipogenesis/the making of fat cells; ferroptosis; cytokine release/the release of
cytokines; platelet aggregation/clumping of platelets; gluconeogenesis/glucose production; the Wnt pathway/Wnt
signalling; the MAPK pathway/MAPK signalling; pyroptosis; cell invasion; metastasis/spread of the tumour
""")

CONDITIONS = table("""
type 2 diabetes/T2DM/adult-onset diabetes; type 1 diabetes/T1DM; hypertension/high blood pressure; heart failure/HF;
atrial fibrillation/AF; coronary artery disease/CAD; acute stroke; chronic kidney disease/CKD; COPD/chronic obstructive
pulmonary disease; asthma; cystic fibrosis; pneumonia; COVID-19/SARS-CoV-2 infection; influenza/flu; tuberculosis/TB;
HIV infection; hepatitis C; malaria; sepsis/blood poisoning; rheumatoid arthritis/RA; osteoarthritis; gout;
osteoporosis/brittle bones; lupus/systemic lupus erythematosus; psoriasis; atopic dermatitis/eczema; Crohn's disease;
ulcerative colitis; irritable bowel syndrome/IBS; coeliac disease; cirrhosis; fatty liver disease/hepatic steatosis;
breast cancer/carcinoma of the breast; prostate cancer; lung cancer; colorectal cancer/bowel cancer; melanoma;
pancreatic cancer; acute myeloid leukaemia/AML; multiple myeloma; glioblastoma; Parkinson's disease; Alzheimer's
disease; multiple sclerosis/MS; epilepsy; migraine; major depressive disorder/depression; schizophrenia; bipolar \
disorder;
generalised anxiety disorder/GAD; ADHD/attention deficit hyperactivity disorder; post-traumatic stress disorder/PTSD;
insomnia; obstructive sleep apnoea; polycystic ovary syndrome/PCOS; endometriosis; pre-eclampsia; sickle cell disease;
haemophilia; chronic low back pain; fibromyalgia; anorexia nervosa
""")

# Two groups that share nobody; each has several names.
POPULATIONS: tuple[tuple[Names, Names], ...] = (
    (("women", "female patients"), ("men", "male patients")),
    (("smokers", "people who smoked"), ("never-smokers", "people who had never smoked")),
    (("children", "paediatric patients"), ("adults", "grown-ups")),
    (("older adults", "the elderly"), ("younger adults", "young people")),
    (("premenopausal women", "women before menopause"), ("postmenopausal women", "women past menopause")),
    (("inpatients", "patients in hospital"), ("outpatients", "patients living at home")),
    (("pregnant women", "expectant mothers"), ("non-pregnant women", "women who were not pregnant")),
    (("obese participants", "people with obesity"), ("normal-weight participants", "people of normal weight")),
    (("diabetic patients", "people with diabetes"), ("non-diabetic patients", "people without diabetes")),
    (
        ("hypertensive patients", "people with high blood pressure"),
        ("normotensive patients", "people with normal pressure"),
    ),
    (("preterm infants", "babies born early"), ("term infants", "babies born on time")),
    (("carriers of the variant", "people with the variant"), ("non-carriers", "people lacking the variant")),
    (("vaccinated individuals", "people who had been immunised"), ("unvaccinated individuals", "people not immunised")),
    (
        ("treatment-naive patients", "patients never treated before"),
        ("pretreated patients", "previously treated patients"),
    ),
    (("nulliparous women", "women who had never given birth"), ("multiparous women", "mothers of several children")),
    (("urban residents", "city dwellers"), ("rural residents", "people in the countryside")),
    (("heavy drinkers", "people drinking heavily"), ("abstainers", "people who drank no alcohol")),
    (("patients with mild disease", "mildly ill patients"), ("patients with severe disease", "severely ill patients")),
    (("seropositive patients", "patients with antibodies"), ("seronegative patients", "patients lacking antibodies")),
    (("athletes", "people who trained regularly"), ("sedentary subjects", "people who did not exercise")),
)

GERMS = (
    "SARS-CoV-2",
    "influenza A",
    "measles",
    "norovirus",
    "hepatitis E",
    "the Zika virus",
    "rotavirus",
    "pertussis",
    "mpox",
    "dengue",
)
WAYS = (
    "contaminated surfaces",
    "respiratory droplets",
    "drinking water",
    "sexual contact",
    "breast milk",
    "insect bites",
    "shared needles",
    "raw food",
)
