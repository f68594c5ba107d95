"""What an effect is an effect on, with its technical and its lay names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Something measured.

    Attributes:
        names: Singular noun phrases that mean the same.
        good: Whether more of it is good for people.
        theme: Outcomes of one theme may imply one another; those of two themes do not.
        happen: What befalls a person ("die", "died"), where it is an event.
    """

    names: tuple[str, ...]
    good: bool
    theme: str
    happen: tuple[str, str] | None = None


# theme | + or - | names parted by "/" | what befalls a person, where it is an event
_LINES = """
death|-|all-cause mortality/death from any cause/the risk of dying|die/died
death|-|in-hospital mortality/death in hospital/the hospital death rate|die in hospital/died in hospital
death|+|overall survival/the length of life/life expectancy
death|+|five-year survival/the chance of being alive at five years
heart|-|myocardial infarction/heart attack/the heart attack rate|have a heart attack/had a heart attack
stroke|-|ischaemic stroke/stroke caused by a clot/cerebral infarction|have a stroke/had a stroke
heart|-|cardiovascular death/death from heart disease|die of heart disease/died of heart disease
clot|-|venous thromboembolism/blood clot formation in the veins/VTE|develop a blood clot/developed a blood clot
bleed|-|major bleeding/serious haemorrhage/severe blood loss|bleed severely/bled severely
bleed|-|gastrointestinal bleeding/haemorrhage in the gut/gut bleeding
pressure|-|systolic blood pressure/the upper blood pressure reading/SBP
pressure|-|the incidence of hypertension/new high blood pressure
rhythm|-|atrial fibrillation recurrence/return of the irregular heartbeat
rhythm|-|resting heart rate/the pulse at rest
fat|-|LDL cholesterol/low-density lipoprotein/the bad cholesterol
fat|+|HDL cholesterol/high-density lipoprotein/the good cholesterol
fat|-|the serum triglyceride level/the amount of fat in the blood
sugar|-|fasting glucose/blood sugar before breakfast
sugar|-|HbA1c/glycated haemoglobin/long-term blood sugar
sugar|+|insulin sensitivity/the response to insulin
hypo|-|severe hypoglycaemia/dangerously low blood sugar|have a severe hypoglycaemic episode/had a severe \
hypoglycaemic episode
weight|-|body weight/how much participants weighed
weight|-|waist circumference/waist size/abdominal girth
kidney|-|the decline in kidney function/loss of renal function/renal deterioration
kidney|+|the glomerular filtration rate/kidney filtration
kidney|-|acute kidney injury/sudden kidney failure/AKI|develop acute kidney injury/developed acute kidney injury
kidney|-|proteinuria/protein loss in the urine
liver|-|liver enzyme elevation/the rise of liver enzymes/hepatotoxicity
liver|-|liver fat content/fat in the liver/hepatic fat
admit|-|hospitalisation/hospital admission/being admitted to hospital|be admitted to hospital/were admitted to hospital
admit|-|readmission within 30 days/return to hospital within a month|be readmitted/were readmitted
admit|-|length of hospital stay/time spent in hospital
icu|-|intensive care admission/transfer to the ICU|need intensive care/needed intensive care
icu|-|the need for mechanical ventilation/intubation/dependence on a ventilator|need a ventilator/needed a ventilator
harm|-|the rate of adverse events/the frequency of side effects/the burden of unwanted effects
harm|-|treatment discontinuation/stopping the treatment/withdrawal from therapy|stop treatment/stopped treatment
nausea|-|nausea/feeling sick/queasiness|feel sick/felt sick
nausea|-|postoperative vomiting/throwing up after surgery|vomit after surgery/vomited after surgery
gut|-|diarrhoea/loose stool frequency|get diarrhoea/got diarrhoea
gut|-|constipation/difficulty passing stool|become constipated/became constipated
gut|-|abdominal bloating/distension of the belly
relapse|-|relapse/return of the disease/recurrence|relapse/relapsed
relapse|-|tumour recurrence/return of the cancer|have a recurrence/had a recurrence
relapse|+|progression-free survival/time without worsening disease/PFS
relapse|-|disease progression/worsening of the disease
response|+|the remission rate/the chance of remission|reach remission/reached remission
response|+|tumour shrinkage/reduction in tumour size
infection|-|surgical site infection/wound infection|get a wound infection/got a wound infection
infection|-|respiratory tract infection/infection of the airways/airway infection|catch an airway infection/caught \
an airway infection
infection|-|urinary tract infection/bladder infection/UTI|get a urinary infection/got a urinary infection
virus|-|viral load/the amount of virus/virus quantity
virus|+|viral clearance/elimination of the virus
antibody|+|the antibody titre/the antibody level/the humoral response
fever|-|fever duration/time with a raised temperature
pain|-|pain intensity/how much pain was felt/the pain score
pain|-|opioid consumption/use of opioid painkillers|need opioids/needed opioids
headache|-|headache frequency/the number of headache days
sleep|+|sleep quality/how well participants slept
sleep|+|total sleep time/hours slept/sleep duration
fatigue|-|fatigue/tiredness/exhaustion|feel exhausted/felt exhausted
mood|-|depressive symptom severity/low mood/the depression score
anxiety|-|anxiety/nervousness/the anxiety score
suicide|-|suicidal ideation/suicidal thinking/thinking about suicide
mind|+|cognitive performance/thinking ability/mental performance
mind|-|cognitive decline/loss of mental ability|lose mental ability/lost mental ability
mind|-|the incidence of dementia/new dementia|develop dementia/developed dementia
delirium|-|postoperative delirium/acute confusion after surgery|become delirious/became delirious
memory|+|working memory/short-term recall
attention|+|attention span/the ability to concentrate
life|+|quality of life/well-being/how well participants lived
life|+|treatment satisfaction/contentment with the treatment
comply|+|medication adherence/pill taking as prescribed/compliance
lung|+|forced expiratory volume/FEV1/lung function
lung|-|asthma exacerbation/worsening of asthma|have an asthma attack/had an asthma attack
lung|-|breathlessness/dyspnoea/shortness of breath|become breathless/became breathless
cough|-|cough severity/how badly participants coughed
fitness|+|exercise capacity/the walking distance/physical fitness
muscle|+|muscle strength/muscular power/grip strength
bone|+|bone mineral density/bone density/BMD
bone|-|hip fracture/a broken hip|break a hip/broke a hip
falls|-|the rate of falls/falling/how often participants fell|fall/fell
joint|-|joint stiffness/stiffness of the joints
joint|-|radiographic joint damage/joint destruction on X-ray
skin|-|itch/pruritus/skin irritation
skin|-|rash severity/the extent of the rash
heal|+|wound healing/closure of the wound
inflammation|-|C-reactive protein/CRP/the inflammation marker CRP
inflammation|-|interleukin-6 concentration/the IL-6 level
anaemia|+|haemoglobin concentration/the haemoglobin level
anaemia|-|the need for transfusion/blood transfusion|need a transfusion/needed a transfusion
blood|-|neutropenia/a low neutrophil count|become neutropenic/became neutropenic
birth|-|preterm birth/delivery before term/premature delivery
birth|-|low birth weight/being small at birth
birth|+|the live birth rate/the chance of a live birth
birth|-|miscarriage/pregnancy loss
cancer|-|cancer incidence/new malignant disease/the cancer risk|develop cancer/developed cancer
cancer|-|colorectal adenoma formation/polyp growth in the bowel
diabetes|-|incident type 2 diabetes/new adult-onset diabetes|develop diabetes/developed diabetes
eye|-|intraocular pressure/pressure inside the eye
eye|+|visual acuity/sharpness of sight
ear|-|hearing loss/deafness|lose hearing/lost hearing
teeth|-|dental caries/tooth decay|get cavities/got cavities
seizure|-|seizure frequency/the number of fits/how often seizures came
tremor|-|tremor/shaking/trembling
allergy|-|food allergy/an allergic reaction to food
growth|+|linear growth/height gain
smoke|+|smoking cessation/quitting cigarettes/tobacco abstinence
work|-|sick leave/absence from work|miss work/missed work
cost|-|the total cost of care/health expenditure
"""


def _read(line: str) -> Outcome:
    theme, sign, names, *event = line.split("|")
    happen = tuple(event[0].split("/")) if event else None
    return Outcome(tuple(names.split("/")), sign == "+", theme, (happen[0], happen[1]) if happen else None)


OUTCOMES: tuple[Outcome, ...] = tuple(_read(line) for line in _LINES.strip().splitlines())
EVENTS: tuple[Outcome, ...] = tuple(outcome for outcome in OUTCOMES if outcome.happen)
