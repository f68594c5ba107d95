"""Made-up findings, each told soundly and wrongly: how many are caught, how few of the sound flagged."""

import re

import pytest

from vericite.verify.checks import findings

# kind: source; + a sound claim; - a broken one. A line that begins with spaces goes on with the one before.
TABLE = """
number: Of 212 patients given rivolumab, 84 (39.6%) had a complete response at one year.
+ About 40 % of those treated with rivolumab responded completely within a year.
- About 60 % of those treated with rivolumab responded completely within a year.
number: Remission was reached by 48 of 120 participants on diet A and 30 of 121 on diet B.
+ Two in five people on diet A went into remission.
- Four in five people on diet A went into remission.
number: The hazard ratio for stroke was 0.72 (95% CI 0.58-0.90).
+ The hazard of stroke was lowered by 28 %.
- The hazard of stroke was lowered by 48 %.
number: We enrolled 9361 adults at 102 sites.
+ More than 9,000 adults took part.
- More than 19,000 adults took part.
number: Sensitivity of the assay was 85% in blood, 86% in plasma and 89.4% in serum.
+ The assay's sensitivity lay between 80 and 90 % in all three fluids.
- The assay's sensitivity lay between 60 and 70 % in all three fluids.
number: Wound infection occurred in 12 of 48 operated limbs.
+ A quarter of the operated limbs became infected.
- Half of the operated limbs became infected.
number: Pain fell by 3.1 points with ketoprofen and by 1.2 points with placebo.
+ Pain scores dropped 1.9 points further with ketoprofen than with placebo.
- Pain scores dropped 4.9 points further with ketoprofen than with placebo.
number: Annual incidence doubled from 4.1 to 8.2 cases per 100 000 between 2004 and 2014.
+ In 2014 there were twice as many cases per 100,000 as in 2004.
- In 2014 there were five times as many cases per 100,000 as in 2004.
number: At 24 weeks, 61.8% of women assigned to the app had quit smoking.
+ By week 24 some 38 % of women using the app had not stopped smoking.
- By week 24 some 78 % of women using the app had not stopped smoking.
number: Median survival was 14.2 months with the combination and 9.8 months with chemotherapy alone.
+ Patients on the combination lived a median of 14.2 months.
- Patients on the combination lived a median of 9.8 months.
number: Response rates were 62% in the tofacitinib arm and 31% in the placebo arm.
+ Tofacitinib produced a response in 62 %, twice the rate seen with placebo.
- Tofacitinib produced a response in 31 %.
number: Seventeen trials with 4,312 participants were included in the review.
+ The review pooled 17 trials.
- The review pooled 71 trials.
number: The prevalence of delirium was 23% among 1,040 inpatients.
+ Nearly a quarter of the inpatients were delirious.
- Nearly three quarters of the inpatients were delirious.
number: Body weight decreased by 4.8 kg on average in 6 months.
+ On average people lost nearly 5 kg in half a year.
- On average people lost nearly 8 kg in half a year.
unit: Participants received 0.5 g of metformin twice daily.
+ The dose was 500 mg of metformin two times a day.
- The dose was 500 µg of metformin two times a day.
unit: Follow-up lasted 104 weeks.
+ Patients were followed for two years.
- Patients were followed for 104 months.
unit: Vitamin D3 was given at 50 µg daily.
+ Daily vitamin D3 amounted to 0.05 mg.
- Daily vitamin D3 amounted to 50 mg.
unit: Infusions of 250 mL were given over 30 minutes.
+ A quarter of a litre (0.25 L) was infused in half an hour.
- Infusions of 250 mL were given over 30 hours.
unit: Fasting glucose averaged 126 mg/dL.
+ Mean fasting glucose was 7.0 mmol/L.
- Mean fasting glucose was 126 mmol/L.
unit: Babies weighed 3200 g at birth.
+ Birth weight averaged 3.2 kg.
- Birth weight averaged 32 kg.
unit: The drug has a half-life of 36 hours.
+ Its half-life is one and a half days (36 h).
- Its half-life is 36 minutes.
unit: Patients took alendronate 70 mg once weekly.
+ Alendronate was taken at 70 mg per week.
- Alendronate was taken at 70 mg per day.
unit: The inhibitor had an IC50 of 12 nM.
+ Half-maximal inhibition was seen at 0.012 µM.
- Half-maximal inhibition was seen at 12 µM.
unit: Body temperature reached 39.0 °C.
+ Temperature peaked at 102.2 °F.
- Temperature peaked at 39 °F.
unit: The tumour measured 25 mm across.
+ The tumour was 2.5 cm wide.
- The tumour was 25 cm wide.
unit: Sodium intake was below 2 g per day.
+ Less than 2000 mg of sodium a day was eaten.
- Less than 2 mg of sodium a day was eaten.
unit: Symptoms resolved within 10 days in most children.
+ In most children symptoms were gone in 10 days.
- In most children symptoms were gone in 10 hours.
interval: The odds ratio was 1.42 (95% CI, 1.10-1.83).
+ The odds ratio came to 1.42, with a 95 % confidence interval from 1.10 to 1.83.
- The odds ratio came to 1.42, with a 95 % confidence interval from 0.80 to 1.83.
interval: Relative risk 0.91 (95% CI 0.78 to 1.06).
+ The confidence interval for the relative risk included 1.
- The confidence interval for the relative risk excluded 1.
interval: The mean difference was -2.3 mmHg (95% CI -4.1 to -0.5).
+ The fall in pressure had a confidence interval that excluded zero.
- The fall in pressure had a confidence interval that included zero.
interval: Hazard ratio for death 0.66; 95% CI 0.48-0.90.
+ Death was significantly less likely, with a hazard ratio of 0.66 (0.48 to 0.90).
- Death was less likely, with a hazard ratio of 0.66 (0.48 to 1.20).
interval: The risk ratio for falls was 0.97 (95% CI 0.84-1.12).
+ Falls were not significantly reduced.
- Falls were significantly reduced.
interval: Ages ranged from 34 to 71 years.
+ Participants were between 34 and 71 years old.
- Participants were between 14 and 51 years old.
interval: Doses between 5 and 20 mg were tested.
+ Tested doses ran from 5 mg up to 20 mg.
- Tested doses ran from 5 mg up to 80 mg.
interval: Specificity was 0.93 (95% CI 0.89–0.96).
+ The 95 % CI of the specificity reached from 0.89 to 0.96.
- The 95 % CI of the specificity reached from 0.69 to 0.96.
interval: The rate ratio was 0.80 (95 % confidence interval, 0.70 to 0.92).
+ The rate fell by 20 %, with limits of 8 % and 30 %.
- The rate fell by 20 % (95 % CI 2 to 45 %).
interval: Accuracy was 71%, 74% and 78% with the three readers.
+ With all three readers accuracy was between 70 and 80 %.
- With all three readers accuracy was between 80 and 90 %.
interval: Incubation took 2-14 days.
+ Incubation lasted from two days to two weeks.
- Incubation lasted from two to 41 days.
interval: The HR for relapse was 1.15 (95% CI 0.95-1.39).
+ Relapse did not become significantly more frequent.
- Relapse became significantly more frequent.
p-value: Mortality was lower with dexamethasone (p=0.003).
+ Fewer people died on dexamethasone, a significant difference (p < 0.01).
- Fewer people died on dexamethasone, but the difference was not significant.
p-value: Depression scores did not differ between groups (P = 0.41).
+ Depression scores were alike in both groups (p > 0.05).
- Depression scores differed significantly between groups (p < 0.05).
p-value: The two arms differed in readmissions, 12% v 18% (p=0.03).
+ The arms differed in readmissions at the 5 % level (p<0.05).
- The arms differed in readmissions (p = 0.3).
p-value: Vitamin C shortened colds by 0.4 days, p = 0.18.
+ The effect of vitamin C on the length of colds was not statistically significant.
- The effect of vitamin C on the length of colds was statistically significant.
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
p-value: Bone density did not change, P=.67.
+ Bone density stayed the same (p = 0.67).
- Bone density stayed the same (p = 0.067).
p-value: Recurrence was 8% with mesh and 21% without (P<0.001).
+ Mesh significantly lowered recurrence.
- Mesh lowered recurrence, though not significantly.
p-value: HbA1c fell more with exenatide; P = 0.012.
+ The larger fall in HbA1c with exenatide had a p-value of 0.012.
- The larger fall in HbA1c with exenatide had a p-value of 0.12.
p-value: Hospital stay was similar (5.1 vs 5.3 days, p=0.52).
+ The difference in hospital stay was not significant.
- The difference in hospital stay was significant.
direction: Statin therapy reduced major vascular events compared with placebo.
+ Major vascular events fell on statins.
- Major vascular events rose on statins.
direction: Serum ferritin was higher in men than in women.
+ Women had lower serum ferritin than men.
- Women had higher serum ferritin than men.
direction: Loss of PTEN accelerated tumour growth.
+ Tumours grew faster without PTEN.
- Tumours grew more slowly when PTEN was lost.
direction: Early mobilisation shortened hospital stay after hip surgery.
+ People who got up early spent less time in hospital after hip surgery.
- Early mobilisation prolonged hospital stay after hip surgery.
direction: Overall survival was longer with nivolumab than with docetaxel.
+ Nivolumab extended survival compared with docetaxel.
- Docetaxel extended survival compared with nivolumab.
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
direction: Antibiotic prophylaxis lowered wound infections after caesarean section.
+ Fewer wounds became infected after caesarean section when antibiotics were given.
- More wounds became infected after caesarean section when antibiotics were given.
direction: Mortality was lower in the early surgery group than in the delayed surgery group.
+ Fewer patients died when operated on early than when surgery was delayed.
- Mortality was lower in the delayed surgery group than in the early surgery group.
direction: Sleep restriction impaired working memory.
+ Working memory suffered and became worse when sleep was restricted.
- Sleep restriction enhanced working memory.
direction: Blood pressure dropped after renal denervation.
+ Renal denervation brought blood pressure down.
- Blood pressure climbed after renal denervation.
negation: Vitamin E did not reduce the incidence of prostate cancer.
+ Prostate cancer was no less common with vitamin E.
- Vitamin E reduced the incidence of prostate cancer.
negation: Donepezil improved cognition in mild dementia.
+ In mild dementia, cognition was better on donepezil.
- Donepezil did not improve cognition in mild dementia.
negation: No significant difference in graft failure was seen between the two techniques.
+ Graft failure was similar with both techniques.
- Graft failure differed significantly between the two techniques.
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
negation: Kidney function remained stable without dialysis in all recipients.
+ None of the recipients needed dialysis.
- All recipients needed dialysis.
scope: Some patients with psoriasis relapsed after stopping therapy.
+ Relapse was seen in some patients with psoriasis once therapy stopped.
- All patients with psoriasis relapsed after stopping therapy.
scope: These data suggest that vitamin K may slow vascular calcification.
+ Vitamin K might slow calcification of vessels.
- The data prove that vitamin K slows vascular calcification.
scope: Red meat intake was associated with colorectal cancer in this cohort.
+ There was a link between red meat and colorectal cancer.
- Red meat intake causes colorectal cancer.
scope: The vaccine often causes mild fever.
+ Mild fever is frequent after the vaccine.
- The vaccine always causes mild fever.
scope: Headache improved in most patients.
+ Most patients had less headache.
- Headache improved in every patient.
scope: The rash was partially resolved by steroid cream.
+ Steroid cream cleared the rash in part.
- The rash was completely resolved by steroid cream.
scope: Rarely, the drug triggers seizures.
+ Seizures are a rare effect of the drug.
- The drug never triggers seizures.
scope: Treatment reduced hepatitis C viral load.
+ Hepatitis C viral load was lower after treatment.
- Treatment cured hepatitis C.
scope: Screen time was correlated with short sleep in adolescents.
+ Adolescents with more screen time slept less.
- Screen time leads to short sleep in adolescents.
scope: Metastases were found mainly in the liver.
+ The liver was the main site of metastases.
- Metastases were found exclusively in the liver.
population: The trial was done in adults aged 18 to 65 years with asthma.
+ The trial enrolled adult asthmatics.
- The trial was done in children with asthma.
population: Iron supplements raised haemoglobin in pregnant women.
+ In pregnancy, iron supplements increased haemoglobin.
- Iron supplements raised haemoglobin in men.
population: The score predicted fractures in postmenopausal women.
+ After the menopause, the score foretold fractures.
- The score predicted fractures in premenopausal women.
population: Semaglutide lowered weight in people with type 2 diabetes.
+ People with type 2 diabetes lost weight on semaglutide.
- Semaglutide lowered weight in people with type 1 diabetes.
population: Zinc shortened diarrhoea in children under five years.
+ Young children had shorter bouts of diarrhoea with zinc.
- Zinc shortened diarrhoea in elderly people.
population: Lung function declined faster in current smokers.
+ People who smoke lost lung function more quickly.
- Lung function declined faster in people who had never smoked.
population: Falls were common among adults aged 80 years and older.
+ Very old people (80 or above) often fell.
- Falls were common among teenagers.
population: Trastuzumab prolonged survival in HER2-positive breast cancer.
+ Women with HER2-positive breast cancer lived longer on trastuzumab.
- Trastuzumab prolonged survival in HER2-positive gastric cancer.
population: The diet lowered cholesterol in healthy volunteers.
+ Healthy people had lower cholesterol on the diet.
- The diet lowered cholesterol in patients with heart disease.
population: Caffeine prevented apnoea in preterm infants.
+ Babies born preterm had less apnoea with caffeine.
- Caffeine prevented apnoea in adults.
population: Hospitalised patients with COVID-19 benefited from dexamethasone.
+ Dexamethasone helped inpatients with COVID-19.
- Outpatients with COVID-19 benefited from dexamethasone.
population: The drug worked in boys but not in girls.
+ Boys responded to the drug.
- The drug worked in girls.
species: Resveratrol extended lifespan in mice fed a high-fat diet.
+ Mice on a high-fat diet lived longer with resveratrol.
- Resveratrol extended lifespan in patients on a high-fat diet.
species: The compound inhibited tumour growth in rats.
+ Tumours of rats grew less under the compound.
- The compound inhibited tumour growth in humans.
species: In zebrafish embryos, knockdown of tbx5 caused heart defects.
+ Zebrafish lacking tbx5 had malformed hearts.
- In mouse embryos, knockdown of tbx5 caused heart defects.
species: Curcumin induced apoptosis in cultured cell lines.
+ Cultured cells underwent apoptosis when given curcumin.
- Curcumin induced apoptosis in patients.
species: The vaccine protected rhesus macaques from infection.
+ Macaques were protected from infection by the vaccine.
- The vaccine protected people from infection.
species: Pigs given the stent had less restenosis.
+ In swine the stent lowered restenosis.
- Rabbits given the stent had less restenosis.
species: Sixty healthy men took part and their glucose fell.
+ Glucose fell in 60 healthy men.
- Glucose fell in 60 healthy monkeys.
species: Loss of the gene shortened life in Drosophila.
+ Fruit flies without the gene died sooner.
- Loss of the gene shortened life in yeast.
species: Dogs with osteoarthritis walked better on carprofen.
+ Carprofen helped dogs with osteoarthritis to walk.
- Cats with osteoarthritis walked better on carprofen.
species: Oral insulin delayed diabetes in NOD mice.
+ Diabetes came later in NOD mice fed insulin.
- Oral insulin delayed diabetes in children.
number: In the trial, 1,204 of 3,010 participants (40.0%) withdrew before month 6.
+ Roughly 60 % stayed in the trial for at least six months.
- Roughly 85 % stayed in the trial for at least six months.
number: Vaccine efficacy was 94.1% (95% CI 89.3-96.8) against symptomatic COVID-19.
+ Against symptomatic COVID-19 the vaccine was about 94 % effective.
- Against symptomatic COVID-19 the vaccine was about 74 % effective.
number: Median progression-free survival was 11.3 months vs 5.6 months.
+ Progression-free survival was about twice as long, 11.3 against 5.6 months.
- Progression-free survival was about twice as long, 13.1 against 5.6 months.
number: HDL cholesterol increased from 1.0 to 1.3 mmol/L.
+ HDL cholesterol rose by 0.3 mmol/L.
- HDL cholesterol rose by 0.9 mmol/L.
number: Twelve studies (n = 2,450) were eligible; five had a low risk of bias.
+ Five of the 12 eligible studies had a low risk of bias.
- Nine of the 12 eligible studies had a low risk of bias.
number: Cure rates were 92% after 7 days and 94% after 14 days of treatment.
+ A week of treatment cured 92 % of patients.
- A week of treatment cured 82 % of patients.
number: Rates of nausea were 18% with drug A and 6% with drug B.
+ Nausea was three times as frequent with drug A as with drug B.
- Nausea affected 18 % of those on drug B.
number: Heritability was estimated at 0.79.
+ About 79 % of the variance was heritable.
- About 29 % of the variance was heritable.
number: The NNT was 25 over five years.
+ Twenty-five people must be treated for five years to help one.
- Fifty people must be treated for five years to help one.
number: In 2019 there were 229 million malaria cases and 409 000 deaths worldwide.
+ Malaria killed over 400,000 people in 2019.
- Malaria killed over 900,000 people in 2019.
unit: Levothyroxine was started at 25 mcg per day.
+ The starting dose of levothyroxine was 0.025 mg a day.
- The starting dose of levothyroxine was 25 mg a day.
unit: Participants fasted for 16 h each day.
+ Each day, participants did not eat for 16 hours.
- Each day, participants did not eat for 16 minutes.
unit: Plasma creatinine was 1.2 mg/dL at entry.
+ At entry creatinine averaged 106 µmol/L.
- At entry creatinine averaged 1.2 g/dL.
unit: The lesion had a diameter of 8 mm.
+ The lesion was 0.8 cm across.
- The lesion was 8 cm across.
unit: Patients received 15 mg/kg of bevacizumab every 3 weeks.
+ Bevacizumab was given three-weekly at 15 mg per kg body weight.
- Bevacizumab was given at 15 mg/kg every 3 days.
unit: Time to first dose was 90 minutes.
+ The first dose came after one and a half hours.
- The first dose came after 90 hours.
unit: Vitamin B12 was injected at 1 mg monthly for 12 months.
+ For a year, 1000 µg of vitamin B12 was injected every month.
- For a year, 1 mg of vitamin B12 was injected every day.
unit: Energy intake fell by 500 kcal per day.
+ People ate 500 kcal a day less.
- People ate 500 kcal a week less.
interval: Adjusted OR 2.10 (95% CI 1.45, 3.04) for current users.
+ Current users had about twice the odds (OR 2.1, 95 % CI 1.45 to 3.04).
- Current users had about twice the odds (OR 2.1, 95 % CI 0.45 to 3.04).
interval: Weighted mean difference in weight -1.8 kg (95% CI -2.9 to -0.7).
+ Weight was lower by 1.8 kg, with a confidence interval of 0.7 to 2.9 kg.
- Weight was lower by 1.8 kg, with a confidence interval of 0.1 to 5.9 kg.
interval: The HR for dementia was 1.02 (95% CI 0.93-1.12).
+ The interval around the hazard ratio included 1, so dementia risk was not significantly altered.
- Dementia risk was significantly raised.
interval: Estimated prevalence was 5.2% (95% CI 4.4% to 6.1%).
+ Prevalence was put at 5.2 %, between 4.4 and 6.1 %.
- Prevalence was put at 5.2 %, between 2.4 and 9.1 %.
interval: Treatment lasted 6 to 8 weeks.
+ Patients were treated for six to eight weeks.
- Patients were treated for six to eighteen weeks.
interval: Serum levels were 3.1, 3.4 and 3.9 ng/mL in the three groups.
+ All groups had serum levels between 3 and 4 ng/mL.
- All groups had serum levels between 5 and 6 ng/mL.
p-value: Grip strength was greater after training (p = 0.008).
+ Training significantly increased grip strength.
- Training did not significantly increase grip strength.
p-value: There was no difference in bleeding (4% vs 5%; p = 0.62).
+ Bleeding rates were comparable (p = 0.62).
- Bleeding rates differed (p = 0.02).
p-value: Telomere length correlated with age (r = -0.41, P<0.0001).
+ Telomeres were shorter at higher age (P < 0.001).
- Telomere length and age were not significantly correlated.
p-value: Serum urate tended to be lower (p=0.07).
+ The lower urate levels did not reach significance.
- Urate was significantly lower.
p-value: Overall survival favoured the experimental arm (log-rank p=0.021).
+ Survival in the experimental arm was better (p = 0.021).
- Survival in the experimental arm was better (p = 0.21).
p-value: Anxiety scores fell in both arms (P = 0.04 for the difference).
+ The arms differed in anxiety with P below 0.05.
- The arms differed in anxiety with P below 0.001.
direction: Compared with placebo, liraglutide lowered the rate of kidney events.
+ Kidney events were less frequent on liraglutide than on placebo.
- Kidney events were more frequent on liraglutide than on placebo.
direction: Silencing of SIRT1 increased p53 acetylation.
+ When SIRT1 was silenced, acetylation of p53 went up.
- When SIRT1 was silenced, acetylation of p53 went down.
direction: Patients with delirium had longer hospital stays than those without.
+ Delirium lengthened the time in hospital.
- Delirium shortened the time in hospital.
direction: Physical fitness was negatively correlated with depressive symptoms.
+ Fitter people had fewer depressive symptoms.
- Fitter people had more depressive symptoms.
direction: Hip protectors reduced hip fractures in nursing homes.
+ In nursing homes, hip fractures became rarer with hip protectors.
- In nursing homes, hip fractures became more common with hip protectors.
direction: Recovery was faster after laparoscopic than after open surgery.
+ Patients recovered sooner after laparoscopic surgery.
- Patients recovered sooner after open surgery.
direction: Hypoxia upregulates VEGF expression in retinal cells.
+ Retinal cells make more VEGF when oxygen is low.
- Hypoxia suppresses VEGF expression in retinal cells.
direction: Breastfeeding was protective against otitis media.
+ Breastfed infants had otitis media less often.
- Breastfeeding increased the risk of otitis media.
direction: Night shifts worsened insulin sensitivity.
+ Insulin sensitivity deteriorated with night shifts.
- Night shifts improved insulin sensitivity.
direction: Mortality was 12% in the restrictive group and 16% in the liberal group.
+ Fewer patients died with the restrictive strategy.
- More patients died in the restrictive group than in the liberal group.
negation: Acupuncture did not improve live birth rates in IVF.
+ Live birth rates in IVF were not increased by acupuncture.
- Acupuncture improved live birth rates in IVF.
negation: Ivermectin showed no benefit in outpatients with COVID-19.
+ Outpatients with COVID-19 were not helped by ivermectin.
- Ivermectin showed a benefit in outpatients with COVID-19.
negation: The receptor is expressed in the hippocampus.
+ The hippocampus expresses the receptor.
- The receptor is not expressed in the hippocampus.
negation: Smoking cessation was unrelated to weight of the infants.
+ Weight of the infants did not depend on smoking cessation.
- Smoking cessation was related to weight of the infants.
negation: Patients without fever did not need antibiotics.
+ Antibiotics were unnecessary in patients who had no fever.
- Patients with fever did not need antibiotics.
negation: Cognitive training had little effect on daily functioning and none on mood.
+ Mood was not changed by cognitive training.
- Cognitive training improved mood.
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
scope: The drug may lower the risk of relapse.
+ A lower risk of relapse is possible with the drug.
- The drug will lower the risk of relapse.
scope: Half of the patients reported fatigue.
+ Fatigue was reported by 50 % of patients.
- All patients reported fatigue.
population: In a cohort of men aged 40-75, nut intake was linked to lower mortality.
+ Middle-aged and older men who ate nuts had lower mortality.
- In women, nut intake was linked to lower mortality.
population: The guideline concerns neonates with jaundice.
+ Jaundiced newborn babies are the subject of the guideline.
- The guideline concerns older adults with jaundice.
population: Rituximab induced remission in rheumatoid arthritis.
+ Rheumatoid patients went into remission on rituximab.
- Rituximab induced remission in osteoarthritis.
population: Nursing home residents who got vitamin D fell less.
+ Elderly residents fell less often with vitamin D.
- Children who got vitamin D fell less.
population: First-time mothers had longer labours.
+ Labour lasted longer in nulliparous women.
- Multiparous women had longer labours.
population: Adolescents with obesity lost weight with the programme.
+ Obese teenagers lost weight in the programme.
- Adults with obesity lost weight with the programme.
population: The regimen eradicated H. pylori in patients never treated before.
+ H. pylori was eradicated in previously untreated patients.
- The regimen eradicated H. pylori in children.
species: Bone loss was prevented in ovariectomised rats given genistein.
+ Genistein kept bone in rats without ovaries.
- Bone loss was prevented in postmenopausal women given genistein.
species: Transgenic mice lacking apoE developed plaques.
+ ApoE-deficient mice had plaques.
- Transgenic rabbits lacking apoE developed plaques.
species: HeLa cells treated with the extract stopped dividing.
+ The extract halted division of HeLa cells in culture.
- Patients treated with the extract had tumours that stopped dividing.
species: The parasite was found in dogs from three provinces.
+ Dogs in three provinces carried the parasite.
- The parasite was found in cats from three provinces.
species: In a mouse model of stroke, cooling protected neurons.
+ Cooling protected the neurons of mice after stroke.
- In stroke patients, cooling protected neurons.
species: In healthy volunteers the drug was well tolerated.
+ Healthy people tolerated the drug well.
- In beagle dogs the drug was well tolerated.
number: Seroconversion was achieved in 171 of 180 vaccinees (95%).
+ All but 5 % of the vaccinees seroconverted.
- All but 25 % of the vaccinees seroconverted.
number: Mean age was 67.4 years and 54% were women.
+ Just over half of the participants were women.
- Just over a third of the participants were women.
number: Pneumonia developed in 3.1% on the steroid and 1.6% on placebo.
+ Pneumonia was nearly twice as common on the steroid.
- Pneumonia was nearly six times as common on the steroid.
number: The cohort comprised 45,120 nurses followed for 22 years.
+ Over 45 000 nurses were followed for more than two decades.
- Over 65 000 nurses were followed for more than two decades.
unit: Children received 10 mg/kg of ivermectin, at most 200 mg.
+ The ceiling for ivermectin was 0.2 g.
- The ceiling for ivermectin was 0.2 mg.
unit: Serum potassium was 5.9 mmol/L.
+ Potassium in serum reached 5.9 mmol per litre.
- Potassium in serum reached 5.9 µmol/L.
unit: Babies were cooled for 72 hours.
+ Cooling went on for three days.
- Cooling went on for 72 days.
unit: Ferric carboxymaltose was infused at 1 g over 15 min.
+ One infusion of 1000 mg took a quarter of an hour.
- One infusion of 1000 µg took a quarter of an hour.
interval: Pooled sensitivity was 78% (95% CI 71-84).
+ Sensitivity, 78 % when pooled, had a CI of 71 % to 84 %.
- Sensitivity, 78 % when pooled, had a CI of 51 % to 84 %.
interval: The odds ratio for preterm birth was 1.31 (95% CI 1.04-1.65).
+ Preterm birth was significantly more frequent (the interval excludes 1).
- Preterm birth was more frequent, but the interval included 1.
interval: Relapse occurred 3 to 9 months after stopping treatment.
+ Relapses came within three to nine months of stopping.
- Relapses came within thirteen to nineteen months of stopping.
interval: Reduction in LDL cholesterol ranged from 52% to 58%.
+ LDL cholesterol fell by between 50 and 60 %.
- LDL cholesterol fell by between 20 and 30 %.
p-value: Fatigue improved more with yoga than with stretching (p=0.01).
+ Yoga beat stretching for fatigue, p = .01.
- Yoga beat stretching for fatigue, p = .10.
p-value: No effect modification by age was found (P for interaction=0.55).
+ The interaction with age was not significant.
- The interaction with age was significant.
p-value: Cognitive decline was slower with the infusion (P = 0.049).
+ Decline was slower to an extent that just reached significance.
- Decline was slower to an extent that was not significant.
p-value: Rates of surgical infection fell from 9% to 5%, p<0.01.
+ The fall in surgical infections was statistically significant (p < 0.05).
- The fall in surgical infections was not statistically significant (p > 0.05).
direction: Vitamin D supplementation raised serum calcium.
+ Serum calcium went up when vitamin D was given.
- Serum calcium went down when vitamin D was given.
direction: Bleeding was more frequent with clopidogrel than with aspirin.
+ Aspirin caused less bleeding than clopidogrel.
- Aspirin caused more bleeding than clopidogrel.
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
negation: Omega-3 capsules did not lower the rate of atrial fibrillation.
+ The rate of atrial fibrillation was not lowered by omega-3 capsules.
- Omega-3 capsules lowered the rate of atrial fibrillation.
negation: Metformin was effective in preventing diabetes.
+ Diabetes was prevented by metformin.
- Metformin was not effective in preventing diabetes.
negation: We found no evidence that the vaccine causes autism.
+ There was no sign that autism is caused by the vaccine.
- We found that the vaccine causes autism.
negation: The mutation was absent from all controls.
+ None of the controls carried the mutation.
- The mutation was present in all controls.
population: Statins reduced strokes in people older than 75 years.
+ Strokes were fewer in statin users above the age of 75.
- Statins reduced strokes in people younger than 40 years.
population: Bariatric surgery helped adolescents with severe obesity.
+ Severely obese teenagers benefited from bariatric surgery.
- Bariatric surgery helped elderly people with severe obesity.
population: Among women with ovarian cancer, bevacizumab slowed progression.
+ Bevacizumab slowed the progression of ovarian cancer.
- Among men with prostate cancer, bevacizumab slowed progression.
population: In hospital inpatients the tool predicted falls.
+ The tool predicted falls of hospitalised patients.
- In outpatients the tool predicted falls.
species: Leptin-deficient rats overate.
+ Rats lacking leptin ate too much.
- Leptin-deficient humans overate.
species: In Caenorhabditis elegans, fasting prolonged life.
+ Worms (C. elegans) lived longer when fasted.
- In mice, fasting prolonged life.
species: Volunteers infected with the virus shed it for five days.
+ Infected volunteers shed the virus for five days.
- Ferrets infected with the virus shed it for five days.
species: Piglets fed the probiotic gained more weight.
+ Young pigs put on more weight with the probiotic.
- Children fed the probiotic gained more weight.
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
    assert len(CASES) == len(TABLE.split("\n+ ")) - 1 == len(TABLE.split("\n- ")) - 1
    assert 2 * len(CASES) >= 160


@pytest.mark.parametrize("kind", KINDS)
def test_hardly_a_sound_claim_is_flagged(kind: str):
    flagged = [(sound, findings(sound, source)) for name, source, sound, _ in CASES if name == kind]
    flagged = [(sound, found) for sound, found in flagged if found]
    assert len(flagged) <= 1, flagged


def test_of_all_sound_claims_at_most_three_in_a_hundred_are_flagged():
    flagged = [sound for _, source, sound, _ in CASES if findings(sound, source)]
    assert len(flagged) <= 0.03 * len(CASES), flagged


@pytest.mark.parametrize("kind", KINDS)
def test_most_broken_claims_are_caught(kind: str):
    missed = [broken for name, source, _, broken in CASES if name == kind and not findings(broken, source)]
    assert len(missed) <= 0.15 * sum(name == kind for name, *_ in CASES), missed


def test_of_all_broken_claims_nine_in_ten_are_caught():
    missed = [broken for _, source, _, broken in CASES if not findings(broken, source)]
    assert len(missed) <= 0.1 * len(CASES), missed
