"""Made-up findings, each told soundly and wrongly: only the wrong ones differ from their source."""

import re

import pytest

from vericite.pipeline.repair.proposals import differences

# kind of the finding: source; + a sound claim; - a broken one. A line that begins with spaces goes on with the one
# before.
TABLE = """
number: Sensitivity of the assay was 85% in blood, 86% in plasma and 89.4% in serum.
+ The assay's sensitivity lay between 80 and 90 % in all three fluids.
- The assay's sensitivity lay between 60 and 70 % in all three fluids.
number: Wound infection occurred in 12 of 48 operated limbs.
+ A quarter of the operated limbs became infected.
- Half of the operated limbs became infected.
number: Pain fell by 3.1 points with ketoprofen and by 1.2 points with placebo.
+ Pain scores dropped 1.9 points further with ketoprofen than with placebo.
- Pain scores dropped 4.9 points further with ketoprofen than with placebo.
number: At 24 weeks, 61.8% of women assigned to the app had quit smoking.
+ By week 24 some 38 % of women using the app had not stopped smoking.
- By week 24 some 78 % of women using the app had not stopped smoking.
number: Seventeen trials with 4,312 participants were included in the review.
+ The review pooled 17 trials.
- The review pooled 71 trials.
number: Follow-up lasted 104 weeks.
+ Patients were followed for two years.
- Patients were followed for 104 months.
number: Vitamin D3 was given at 50 µg daily.
+ Daily vitamin D3 amounted to 0.05 mg.
- Daily vitamin D3 amounted to 50 mg.
number: Infusions of 250 mL were given over 30 minutes.
+ A quarter of a litre (0.25 L) was infused in half an hour.
- Infusions of 250 mL were given over 30 hours.
number: Fasting glucose averaged 126 mg/dL.
+ Mean fasting glucose was 7.0 mmol/L.
- Mean fasting glucose was 126 mmol/L.
number: The drug has a half-life of 36 hours.
+ Its half-life is one and a half days (36 h).
- Its half-life is 36 minutes.
number: Sodium intake was below 2 g per day.
+ Less than 2000 mg of sodium a day was eaten.
- Less than 2 mg of sodium a day was eaten.
number: Symptoms resolved within 10 days in most children.
+ In most children symptoms were gone in 10 days.
- In most children symptoms were gone in 10 hours.
number: Accuracy was 71%, 74% and 78% with the three readers.
+ With all three readers accuracy was between 70 and 80 %.
- With all three readers accuracy was between 80 and 90 %.
number: Incubation took 2-14 days.
+ Incubation lasted from two days to two weeks.
- Incubation lasted from two to 41 days.
number: Vaccine efficacy was 94.1% (95% CI 89.3-96.8) against symptomatic COVID-19.
+ Against symptomatic COVID-19 the vaccine was about 94 % effective.
- Against symptomatic COVID-19 the vaccine was about 74 % effective.
number: HDL cholesterol increased from 1.0 to 1.3 mmol/L.
+ HDL cholesterol rose by 0.3 mmol/L.
- HDL cholesterol rose by 0.9 mmol/L.
number: Levothyroxine was started at 25 mcg per day.
+ The starting dose of levothyroxine was 0.025 mg a day.
- The starting dose of levothyroxine was 25 mg a day.
number: Participants fasted for 16 h each day.
+ Each day, participants did not eat for 16 hours.
- Each day, participants did not eat for 16 minutes.
number: Plasma creatinine was 1.2 mg/dL at entry.
+ At entry creatinine averaged 106 µmol/L.
- At entry creatinine averaged 1.2 g/dL.
number: The lesion had a diameter of 8 mm.
+ The lesion was 0.8 cm across.
- The lesion was 8 cm across.
number: Patients received 15 mg/kg of bevacizumab every 3 weeks.
+ Bevacizumab was given three-weekly at 15 mg per kg body weight.
- Bevacizumab was given at 15 mg/kg every 3 days.
number: Time to first dose was 90 minutes.
+ The first dose came after one and a half hours.
- The first dose came after 90 hours.
number: Treatment lasted 6 to 8 weeks.
+ Patients were treated for six to eight weeks.
- Patients were treated for six to eighteen weeks.
number: Serum levels were 3.1, 3.4 and 3.9 ng/mL in the three groups.
+ All groups had serum levels between 3 and 4 ng/mL.
- All groups had serum levels between 5 and 6 ng/mL.
number: Seroconversion was achieved in 171 of 180 vaccinees (95%).
+ All but 5 % of the vaccinees seroconverted.
- All but 25 % of the vaccinees seroconverted.
number: Children received 10 mg/kg of ivermectin, at most 200 mg.
+ The ceiling for ivermectin was 0.2 g.
- The ceiling for ivermectin was 0.2 mg.
number: Serum potassium was 5.9 mmol/L.
+ Potassium in serum reached 5.9 mmol per litre.
- Potassium in serum reached 5.9 µmol/L.
number: Babies were cooled for 72 hours.
+ Cooling went on for three days.
- Cooling went on for 72 days.
number: Statins reduced strokes in people older than 75 years.
+ Strokes were fewer in statin users above the age of 75.
- Statins reduced strokes in people younger than 40 years.
interval: Pooled sensitivity was 78% (95% CI 71-84).
+ Sensitivity, 78 % when pooled, had a CI of 71 % to 84 %.
- Sensitivity, 78 % when pooled, had a CI of 51 % to 84 %.
p-value: Depression scores did not differ between groups (P = 0.41).
+ Depression scores were alike in both groups (p > 0.05).
- Depression scores differed significantly between groups (p < 0.05).
p-value: The two arms differed in readmissions, 12% v 18% (p=0.03).
+ The arms differed in readmissions at the 5 % level (p<0.05).
- The arms differed in readmissions (p = 0.3).
p-value: IL-6 levels were higher in septic patients (p<0.001).
+ Septic patients had raised IL-6, with p below 0.01.
- Septic patients had raised IL-6, with p = 0.08.
p-value: The interaction between sex and treatment was significant (P for interaction = 0.02).
+ Sex and treatment interacted (p = 0.02).
- Sex and treatment interacted (p = 0.2).
p-value: Walking speed rose by 0.1 m/s (p = 0.046).
+ Walking speed improved significantly (p < 0.05).
- Walking speed improved (p < 0.01).
p-value: Trend test: p=0.0004.
+ A trend was present with p < 0.001.
- A trend was present with p < 0.0001.
p-value: HbA1c fell more with exenatide; P = 0.012.
+ The larger fall in HbA1c with exenatide had a p-value of 0.012.
- The larger fall in HbA1c with exenatide had a p-value of 0.12.
p-value: There was no difference in bleeding (4% vs 5%; p = 0.62).
+ Bleeding rates were comparable (p = 0.62).
- Bleeding rates differed (p = 0.02).
p-value: Overall survival favoured the experimental arm (log-rank p=0.021).
+ Survival in the experimental arm was better (p = 0.021).
- Survival in the experimental arm was better (p = 0.21).
p-value: Rates of surgical infection fell from 9% to 5%, p<0.01.
+ The fall in surgical infections was statistically significant (p < 0.05).
- The fall in surgical infections was not statistically significant (p > 0.05).
direction: Statin therapy reduced major vascular events compared with placebo.
+ Major vascular events fell on statins.
- Major vascular events rose on statins.
direction: Serum ferritin was higher in men than in women.
+ Women had lower serum ferritin than men.
- Women had higher serum ferritin than men.
direction: Early mobilisation shortened hospital stay after hip surgery.
+ People who got up early spent less time in hospital after hip surgery.
- Early mobilisation prolonged hospital stay after hip surgery.
direction: Coffee consumption was inversely associated with liver cirrhosis.
+ Coffee drinkers had less liver cirrhosis.
- Coffee consumption was positively associated with liver cirrhosis.
direction: Ketamine was superior to midazolam in relieving depressive symptoms.
+ Depressive symptoms improved more with ketamine than with midazolam.
- Ketamine was inferior to midazolam in relieving depressive symptoms.
direction: miR-21 was upregulated in gastric cancer tissue.
+ Gastric cancer tissue contained raised levels of miR-21.
- miR-21 was downregulated in gastric cancer tissue.
direction: Air pollution was associated with an increased risk of asthma in children.
+ Children breathing polluted air developed asthma more often.
- Air pollution was associated with a decreased risk of asthma in children.
direction: Exercise training improved quality of life in heart failure.
+ Quality of life got better with exercise in heart failure.
- Quality of life got worse with exercise in heart failure.
direction: Mortality was lower in the early surgery group than in the delayed surgery group.
+ Fewer patients died when operated on early than when surgery was delayed.
- Mortality was lower in the delayed surgery group than in the early surgery group.
direction: Sleep restriction impaired working memory.
+ Working memory suffered and became worse when sleep was restricted.
- Sleep restriction enhanced working memory.
direction: Hypoxia upregulates VEGF expression in retinal cells.
+ Retinal cells make more VEGF when oxygen is low.
- Hypoxia suppresses VEGF expression in retinal cells.
direction: Night shifts worsened insulin sensitivity.
+ Insulin sensitivity deteriorated with night shifts.
- Night shifts improved insulin sensitivity.
direction: Obesity increased the odds of gestational hypertension.
+ Obese women more often developed high blood pressure in pregnancy.
- Obesity decreased the odds of gestational hypertension.
direction: Telomerase activity declined with age in T cells.
+ With age, T cells lost telomerase activity.
- Telomerase activity rose with age in T cells.
direction: CPAP improved daytime sleepiness in sleep apnoea.
+ Daytime sleepiness was reduced by CPAP in sleep apnoea.
- CPAP worsened daytime sleepiness in sleep apnoea.
direction: Time to wound closure was shorter with the dressing.
+ Wounds closed faster with the dressing.
- Time to wound closure was longer with the dressing.
negation: Vitamin E did not reduce the incidence of prostate cancer.
+ Prostate cancer was no less common with vitamin E.
- Vitamin E reduced the incidence of prostate cancer.
negation: Donepezil improved cognition in mild dementia.
+ In mild dementia, cognition was better on donepezil.
- Donepezil did not improve cognition in mild dementia.
negation: BRCA2 mutations were not associated with age at onset.
+ Age at onset was unrelated to BRCA2 mutations.
- BRCA2 mutations were associated with age at onset.
negation: The virus was detected in breast milk.
+ Breast milk contained the virus.
- The virus was not detected in breast milk.
negation: No serious adverse events were reported.
+ There were no serious adverse events.
- Serious adverse events were reported.
negation: Cardiac output was unaffected by the infusion.
+ The infusion did not change cardiac output.
- The infusion changed cardiac output.
negation: Probiotics failed to prevent antibiotic-associated diarrhoea in hospital patients.
+ Antibiotic-associated diarrhoea was not prevented by probiotics.
- Probiotics prevented antibiotic-associated diarrhoea in hospital patients.
negation: The antibody crosses the placenta.
+ The placenta lets the antibody through.
- The antibody does not cross the placenta.
negation: Fluoxetine was not inferior to sertraline.
+ Fluoxetine was noninferior to sertraline.
- Fluoxetine was inferior to sertraline.
negation: Routine episiotomy is not recommended.
+ Guidelines advise against routine episiotomy.
- Routine episiotomy is recommended.
negation: Helmet use was associated with fewer head injuries.
+ Helmet wearers had a lower rate of head injury.
- Helmet use was not associated with head injuries.
negation: Ginkgo had no effect on tinnitus.
+ Tinnitus was not changed by ginkgo.
- Ginkgo had an effect on tinnitus.
negation: Acupuncture did not improve live birth rates in IVF.
+ Live birth rates in IVF were not increased by acupuncture.
- Acupuncture improved live birth rates in IVF.
negation: Ivermectin showed no benefit in outpatients with COVID-19.
+ Outpatients with COVID-19 were not helped by ivermectin.
- Ivermectin showed a benefit in outpatients with COVID-19.
negation: The receptor is expressed in the hippocampus.
+ The hippocampus expresses the receptor.
- The receptor is not expressed in the hippocampus.
negation: Patients without fever did not need antibiotics.
+ Antibiotics were unnecessary in patients who had no fever.
- Patients with fever did not need antibiotics.
negation: The biopsy confirmed malignancy.
+ Malignancy was shown by the biopsy.
- The biopsy did not confirm malignancy.
negation: Neither dose of the drug reduced pain.
+ Pain was not reduced by either dose.
- Both doses of the drug reduced pain.
negation: The enzyme requires magnesium for its activity.
+ Magnesium is needed for activity of the enzyme.
- The enzyme does not require magnesium for its activity.
negation: Surgery was not delayed by preoperative screening.
+ Preoperative screening caused no delay of surgery.
- Surgery was delayed by preoperative screening.
negation: Omega-3 capsules did not lower the rate of atrial fibrillation.
+ The rate of atrial fibrillation was not lowered by omega-3 capsules.
- Omega-3 capsules lowered the rate of atrial fibrillation.
negation: Metformin was effective in preventing diabetes.
+ Diabetes was prevented by metformin.
- Metformin was not effective in preventing diabetes.
"""


def cases() -> list[tuple[str, str, str, str]]:
    lines = re.sub(r"\n {2,}", " ", TABLE.strip()).splitlines()
    return [
        (*source.split(": ", 1), sound.removeprefix("+ "), broken.removeprefix("- "))
        for source, sound, broken in zip(lines[::3], lines[1::3], lines[2::3], strict=True)
    ]


CASES = cases()
KINDS = list(dict.fromkeys(kind for kind, *_ in CASES))


def test_the_table_is_read_whole():
    assert len(CASES) == len(TABLE.split("\n+ ")) - 1 == len(TABLE.split("\n- ")) - 1 == 78
    assert KINDS == ["number", "interval", "p-value", "direction", "negation"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_claim_has_no_difference(kind: str):
    flagged = [(sound, differences(sound, source)) for name, source, sound, _ in CASES if name == kind]
    assert [(sound, found) for sound, found in flagged if found] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_broken_claim_has_its_kind_of_difference(kind: str):
    told = [(broken, differences(broken, source)) for name, source, _, broken in CASES if name == kind]
    assert [broken for broken, found in told if kind not in {difference.kind for difference in found}] == []
