"""Names of diseases, organs, people and treatments, with other names for the same.

One entry a line. ``a = b = c``: each may stand for each. ``a > b | c``: the first may become the others, not the other
way. A ``+`` is the plural's "s"; the plural of ``body/bodies`` is written out.
"""

CLINICAL = """
myocardial infarction+ = heart attack+
acute myocardial infarction > heart attack
hypertension = high blood pressure
hypotension = low blood pressure
hypertensive patients = patients with high blood pressure
diabetic patients = patients with diabetes
obese patients = patients with obesity
septic patients = patients with sepsis
asthmatic patients = patients with asthma
depressed patients = patients with depression
neoplasm+ > tumour+ | tumor+
malignancy/malignancies > cancer+
malignant tumor+ > cancer+
malignant tumour+ > cancer+
carcinoma > cancer
hepatocellular carcinoma = liver cell cancer
renal cell carcinoma = kidney cell cancer
non-small cell lung cancer = NSCLC
gastric cancer = stomach cancer
hepatic cancer > liver cancer
colorectal cancer = cancer of the colon or rectum = bowel cancer
breast cancer > cancer of the breast
prostate cancer > cancer of the prostate
lung cancer > cancer of the lung
ovarian cancer > cancer of the ovary
pancreatic cancer = cancer of the pancreas
cervical cancer = cancer of the cervix
cerebrovascular accident+ = stroke+
ischemic stroke > ischaemic stroke
coronary artery disease > coronary disease | CAD
coronary heart disease = CHD
cardiovascular disease+ > disease+ of the heart and vessels
heart failure = cardiac failure
congestive heart failure = CHF
atrial fibrillation = AF
cardiac arrest+ > arrest+ of the heart
arrhythmia+ = irregular heartbeat+
tachycardia = a fast heart rate
bradycardia = a slow heart rate
venous thromboembolism = VTE
pulmonary embolism = a blood clot in the lung
deep vein thrombosis = DVT
thrombosis > clotting
chronic obstructive pulmonary disease = COPD
acute respiratory distress syndrome = ARDS
dyspnea = dyspnoea = shortness of breath = breathlessness
pruritus = itching = itch
nausea and vomiting = feeling sick and vomiting
emesis = vomiting
pyrexia > fever
febrile > feverish
edema = oedema = swelling
erythema > redness of the skin | reddening
fatigue > tiredness
xerostomia = dry mouth
insomnia > sleeplessness
syncope = fainting
alopecia = hair loss
dysphagia = difficulty swallowing
headache+ > head pain
low back pain = pain in the lower back
abdominal pain > pain in the abdomen | belly pain
hemorrhage = haemorrhage = bleeding
hemorrhages = haemorrhages
epistaxis = nosebleed
fracture+ > broken bone+
hip fracture+ > broken hip+
osteoarthritis = OA
rheumatoid arthritis = RA
type 2 diabetes mellitus = T2DM = type 2 diabetes
type 1 diabetes mellitus = T1DM = type 1 diabetes
diabetes mellitus > diabetes
gestational diabetes mellitus > gestational diabetes | diabetes of pregnancy
hyperglycemia = hyperglycaemia = high blood sugar
hypoglycemia = hypoglycaemia = low blood sugar
hypercholesterolemia = hypercholesterolaemia = high cholesterol
hyperlipidemia > high blood lipids
blood glucose = blood sugar
fasting glucose = fasting blood sugar
glycemic control = glycaemic control = control of blood sugar
insulin resistance = resistance to insulin
insulin sensitivity = sensitivity to insulin
body mass index = BMI
anemia = anaemia
anemic > anaemic
leukemia = leukaemia
thrombocytopenia = a low platelet count
neutropenia = a low neutrophil count
hyponatremia = hyponatraemia = low sodium
hypokalemia = low potassium
hypoxia = low oxygen
chronic kidney disease = CKD
acute kidney injury = AKI
end-stage renal disease = end-stage kidney disease = kidney failure
renal failure = kidney failure
renal > kidney
kidney function = renal function
hepatic > liver
liver function = hepatic function
pulmonary function = lung function
pulmonary fibrosis = scarring of the lungs
cardiac > heart
cerebral > brain
gastric > stomach
cutaneous > skin
ocular > eye
dental > tooth
dermal > skin
intestinal > gut
intestinal microbiota = gut microbiota = gut bacteria
gut microbiome = gut flora
urinary tract infection+ = UTI+
nosocomial infection+ = hospital-acquired infection+
surgical site infection+ = wound infection+
respiratory tract infection+ = airway infection+
viral infection+ > infection+ with a virus | virus infection+
bacterial infection+ > infection+ with bacteria
human immunodeficiency virus = HIV
SARS-CoV-2 infection > infection with SARS-CoV-2
coronavirus disease 2019 > COVID-19
hepatitis C virus = HCV
hepatitis B virus = HBV
tuberculosis = TB
influenza = flu
influenza vaccination = flu vaccination
vaccination = immunisation = immunization
pathogen+ > germ+
Alzheimer's disease = AD
Parkinson's disease = PD
multiple sclerosis = MS
amyotrophic lateral sclerosis = ALS
epileptic seizure+ > seizure+
seizure+ > fit+
major depressive disorder = major depression = MDD
depressive symptoms = symptoms of depression
anxiety symptoms = symptoms of anxiety
symptoms of anxiety = anxious symptoms
posttraumatic stress disorder = PTSD
post-traumatic stress disorder = PTSD
attention-deficit/hyperactivity disorder = ADHD
autism spectrum disorder = ASD
cognitive impairment > impaired cognition
cognitive decline = decline in cognition
cognitive function = cognition
cognitive performance > performance in thinking tests
traumatic brain injury = TBI
spinal cord injury > injury to the spinal cord
inflammatory bowel disease = IBD
irritable bowel syndrome = IBS
gastroesophageal reflux disease = GERD
diarrhea = diarrhoea
cirrhosis > scarring of the liver
pre-eclampsia = preeclampsia
preterm birth+ = premature birth+
preterm delivery > premature delivery
preterm infants = premature infants = infants born early
miscarriage+ = pregnancy loss
cesarean section+ = caesarean section+ = cesarean delivery
pregnant women > women who were pregnant | expectant mothers
breastfeeding = breast-feeding
neonate+ = newborn+
newborn infants > newborns
low birth weight = low weight at birth
infant mortality > deaths of infants
fetal = foetal
fetus = foetus
menopausal women > women in menopause
polycystic ovary syndrome = PCOS
erectile dysfunction = impotence
visual acuity > sharpness of vision
intraocular pressure = pressure in the eye
myopia = short-sightedness
hearing loss > loss of hearing
weight loss = loss of weight
weight gain = gain in weight
sleep quality = quality of sleep
bone mineral density = BMD = bone density
bone loss = loss of bone
muscle strength = strength of the muscles
muscle mass > mass of muscle
tumor+ = tumour+
tumor growth = growth of the tumor = growth of the tumour
tumor size = size of the tumor
lymph node metastasis = spread to the lymph nodes
metastasis > spread
cell death > death of cells
cell proliferation = proliferation of cells
cell growth = growth of cells
cell viability = viability of cells
cell migration = migration of cells
apoptosis = programmed cell death
angiogenesis = growth of new blood vessels
oxidative stress = oxidant stress
immune response+ > response+ of the immune system
gene expression = expression of genes
leukocyte+ = white blood cell+
erythrocyte+ = red blood cell+
thrombocytes = platelets
T cells = T lymphocytes
B cells = B lymphocytes
cardiomyocytes = heart muscle cells
hepatocytes = liver cells
neurons = nerve cells
keratinocytes > skin cells
adipocytes = fat cells
adipose tissue = fat tissue
visceral fat > fat around the organs
plasma concentration+ = concentration+ in plasma
serum levels = levels in serum
blood pressure = BP
systolic blood pressure = SBP
diastolic blood pressure = DBP
heart rate = pulse rate
low-density lipoprotein cholesterol = LDL cholesterol = LDL-C
LDL cholesterol = LDL-C
high-density lipoprotein cholesterol = HDL cholesterol = HDL-C
C-reactive protein = CRP
glomerular filtration rate = GFR
left ventricular ejection fraction = LVEF
magnetic resonance imaging = MRI
computed tomography = CT
polymerase chain reaction = PCR
antihypertensive drugs = drugs against high blood pressure
antihypertensive therapy = treatment of high blood pressure
anticoagulant+ = blood thinner+
anticoagulation > treatment with blood thinners
antipyretic+ = fever medicine+
analgesic+ = painkiller+
analgesia = pain relief
diuretic+ = water pill+
antibacterials > antibiotics
nonsteroidal anti-inflammatory drugs = NSAIDs = non-steroidal anti-inflammatory drugs
proton pump inhibitors = PPIs
selective serotonin reuptake inhibitors = SSRIs
angiotensin-converting enzyme inhibitors = ACE inhibitors
beta-blockers = beta blockers = beta-adrenergic blockers
hormone replacement therapy = HRT
chemotherapy > chemo
radiotherapy = radiation therapy = radiation treatment
cognitive behavioral therapy = CBT = cognitive behavioural therapy
antiretroviral therapy = ART
psychotherapy > talking therapy
physiotherapy = physical therapy
acetaminophen = paracetamol
epinephrine = adrenaline
norepinephrine = noradrenaline
ascorbic acid = vitamin C
cholecalciferol > vitamin D3
tocopherol > vitamin E
acetylsalicylic acid = aspirin
dietary supplement+ > food supplement+
supplementation with = supplements of
resection > surgical removal
cholecystectomy = removal of the gallbladder
appendectomy = removal of the appendix
hysterectomy = removal of the womb
tonsillectomy = removal of the tonsils
mastectomy = removal of the breast
percutaneous coronary intervention = PCI
coronary artery bypass grafting = CABG = coronary bypass surgery
total knee arthroplasty = total knee replacement = knee replacement
total hip arthroplasty = total hip replacement = hip replacement
kidney transplantation = renal transplantation
hemodialysis = haemodialysis
mechanical ventilation > ventilation by machine
intensive care unit+ = ICU+
emergency department+ = emergency room+
anesthesia = anaesthesia
general anesthesia = general anaesthesia
postoperative pain = pain after surgery
postoperative complications = complications after surgery
postoperatively = after the operation
preoperatively = before the operation
oral administration of = giving by mouth
transfusion+ > blood transfusion+
"""
