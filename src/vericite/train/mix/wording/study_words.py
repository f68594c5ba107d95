"""Words of studies and results, with other words for the same; written as in clinical_words."""

STUDY = """
randomized controlled trial+ = RCT+ = randomised controlled trial+
randomized clinical trial+ > randomised trial+
randomized trial+ = randomised trial+
randomized = randomised
were randomized to > were randomly assigned to | were allocated at random to
were randomised to > were randomly assigned to | were allocated at random to
were randomly assigned to = were allocated at random to = were randomized to
cohort study/studies > cohort analysis
participants = subjects = study members
patients with > people with | individuals with | those with
people with = individuals with
individuals > people | persons
elderly patients = older patients = patients of advanced age
older adults = elderly people = older people
the elderly > older adults | elderly people
adolescents = teenagers
physicians = doctors = medical doctors
general practitioners = GPs = family doctors
clinicians > doctors and other clinicians
nurses > nursing staff
caregivers = carers
infants > babies
male patients > men
female patients > women
healthy controls = healthy people = healthy control subjects
healthy volunteers = healthy people
the control group = the controls
the placebo group = those on placebo = those given placebo
the majority of = most = more than half of
most of the = the majority of the
a large number of > many
a number of > several
a variety of = various
a wide range of = many kinds of
numerous > many
several > a number of
multiple > several
approximately = about = roughly = around
nearly = almost
per year > a year | each year
per day > a day | daily
mortality rate+ = death rate+
all-cause mortality = death from any cause = deaths from all causes
in-hospital mortality = death in hospital
overall survival > survival overall
disease-free survival = survival without disease
progression-free survival = PFS = survival without progression
quality of life = QoL
health-related quality of life = HRQoL
adverse events = side effects = adverse effects = unwanted effects
serious adverse events = serious side effects = severe unwanted effects
hospitalization+ = hospitalisation+ = hospital admission+ = admission+ to hospital
hospitalized = hospitalised = admitted to hospital
hospitalized patients > inpatients | patients in hospital
hospital stay = stay in hospital = hospitalization
length of stay = duration of stay
well tolerated > tolerated well
well-tolerated > tolerated well
discontinued = stopped
discontinuation = stopping
adherence = compliance
efficacy = effectiveness
efficacious > effective
effective in > effective at
treatment outcome+ > result+ of treatment
treatment group+ = treated group+ = intervention group+
therapy/therapies > treatment+
therapeutic > treatment
medications = drugs = medicines
regimen+ > schedule+
assessed = evaluated = appraised
examined = investigated = looked into
evaluated = assessed = appraised
analyzed = analysed
performed > carried out | done
conducted = carried out
undertaken = carried out
received = were given
administered > given
administration of = giving
utilized > used
utilization > use
employed > used
detected > found | picked up
observed = seen = noted
was noted = was seen
demonstrated > showed
exhibited > showed | displayed
reported > described
revealed > showed | brought to light
confirmed = bore out
indicate that = point to the fact that
suggest that > hint that | point to the idea that
suggests that > hints that | points to the idea that
appears to be = seems to be
appear to be = seem to be
appears to = seems to
appear to = seem to
may be = might be = could be
may > might
is likely to be > is probably
contribute to = play a part in
contributes to = plays a part in
contributed to = played a part in
plays an important role in > matters in | is important in | has a major part in
play an important role in > matter in | are important in
plays a critical role in > is crucial in | is crucial to
plays a key role in > is central to | is pivotal in
plays a role in = is involved in = has a part in
play a role in = are involved in = have a part in
is involved in = plays a part in
are involved in = play a part in
was associated with > was linked to | went along with | was related to
were associated with > were linked to | went along with | were related to
is associated with > is linked to | goes along with | is related to
are associated with > are linked to | go along with | are related to
associated with > linked to | related to
correlated with > tracked with | went along with
resulted in > led to | brought about
led to > resulted in | brought about
results in = leads to = brings about
result in = lead to = bring about
resulting in = leading to
caused > brought about
causes = brings about
due to = because of = owing to
as a result of > because of
prior to = before = ahead of
subsequent to > after
following > after
compared with = versus = relative to = in comparison with
compared to > versus | relative to | in comparison with
vs. > versus
vs > versus
as compared with > relative to | versus
in addition to = besides = on top of
in combination with = together with = combined with
combined with = together with
as well as > and also
with respect to = regarding = as regards = in terms of
in terms of = as regards
in the absence of = without
in the presence of > with
in order to > to
at least > no fewer than
whereas = while
although = even though = though
despite = in spite of
throughout > all through
within > inside of
among > amongst | in
significantly higher > clearly higher | significantly greater
significantly lower > clearly lower
significantly greater > significantly larger
significantly more > clearly more
significantly associated > significantly related
a significant increase > a marked rise | a significant rise
a significant reduction > a marked fall | a significant decrease
a significant decrease > a marked fall | a significant reduction
a significant improvement > a marked improvement
increased risk of > higher risk of | greater risk of
reduced risk of = lower risk of
higher risk of > greater risk of | raised risk of
lower risk of = reduced risk of
risk of > chance of | likelihood of | danger of
at risk of > prone to
incidence = rate of new cases
prevalence > frequency
more likely to > more apt to | more prone to
less likely to > less apt to
no significant difference > no marked difference
no significant differences > no marked differences
increased significantly = rose significantly
decreased significantly = fell significantly
increased from = rose from = went up from
decreased from = fell from = dropped from = went down from
increased by = rose by = went up by
decreased by = fell by = dropped by
were increased > were raised | were elevated
was increased > was raised | was elevated
were decreased = were reduced = were lowered
was decreased = was reduced = was lowered
were reduced = were lowered
was reduced = was lowered
were elevated = were raised
was elevated = was raised
reduced the = lowered the = decreased the
reduces the = lowers the = decreases the
reduce the = lower the = decrease the
reducing = lowering = decreasing
increased the = raised the
increases the = raises the
increase the = raise the
elevated levels of > raised levels of | high levels of
increased levels of = raised levels of = higher levels of
improvements in > gains in
improved > bettered
reduction in > decrease in | fall in | drop in
decrease in > fall in | drop in | reduction in
increase in = rise in
reductions in > decreases in | falls in
increases in = rises in
attenuated = weakened = dampened
attenuates = weakens = dampens
enhanced = strengthened = boosted
enhances = strengthens = boosts
inhibited = blocked = held back
inhibits = blocks = holds back
inhibition of = blocking of = blockade of
suppressed = held down = curbed
suppresses = curbs
promoted = furthered = fostered
promotes = furthers = fosters
induced > triggered | brought on
induces > triggers | brings on
stimulated > spurred
prevented = averted = warded off
prevents = averts = wards off
facilitates = eases
impaired > disturbed | weakened
abolished = did away with
ameliorated = eased = alleviated
ameliorates = eases = alleviates
alleviated = eased = relieved
alleviates = eases = relieves
exacerbated > worsened | made worse
accelerated = sped up = hastened
delayed = put off
prolonged > lengthened | extended
upregulated > turned up
downregulated > turned down
is required for = is needed for = is necessary for
are required for = are needed for = are necessary for
is essential for = is indispensable for = is vital for
are essential for = are indispensable for = are vital for
necessary = needed
sufficient = enough
important > key
beneficial > helpful
detrimental = harmful
harmful > damaging
safe and effective > effective and safe
similar to = comparable to = much like
similar > comparable | alike
comparable > similar
different from > unlike
frequently = often = commonly
frequent > common
most common = commonest = most frequent
more common = more frequent = commoner
common > frequent
rare = uncommon
primarily = mainly = mostly = chiefly
mainly = chiefly
predominantly = mostly = mainly
rapidly = quickly = fast
rapid = quick = fast
initially = at first
currently = at present = nowadays
immediately = at once = straight away
simultaneously = at the same time
subsequently = later = afterwards
particularly = especially = in particular
long-term > lasting | over the long run
short-term > brief
novel > new
additional > further | extra
entire > whole
adequate > sufficient
severe > serious
mild > slight
considerable > sizeable
substantial > large | sizeable
substantially > considerably | a good deal
large > big
crucial = vital = critical
underwent surgery = had surgery = were operated on
underwent > had
suffer from > have
suffered from > had
suffering from > with
possess > have
require > need
requires > needs
required > needed
provides = offers
provide = offer
lower than = below
higher than = above
shorter than > below
better outcomes > more favorable outcomes
poor prognosis = bad prognosis = unfavorable outlook
prognosis = outlook
worse outcomes = poorer outcomes
onset > beginning | start
duration > length
commenced > began
initiation = start
initiated = started = begun
cessation = stopping
smoking cessation = stopping smoking = giving up smoking
exercise training > training
alcohol consumption = alcohol intake = drinking
cigarette smoking > smoking
characteristics > features
manifestation+ > sign+
consistent with = in line with = in keeping with
favorable = favourable
behavior+ = behaviour+
center+ = centre+
program+ = programme+
fiber+ = fibre+
color = colour
labor = labour
"""
