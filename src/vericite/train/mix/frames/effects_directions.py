"""Patterns about the direction of an effect: down, up, none; one treatment, two arms, several outcomes."""

from __future__ import annotations

from vericite.train.mix.frames.effects_patterns import Topic, lines

# {dgood}/{ugood}: what less or more of the outcome is for people ("favourable"); {dwell}/{uwell} "better"/"worse"
ONE_CLAIMS = lines("""
{t} <[cut|pushed up|had no influence on]/[brought down|drove up|did not alter]> {o}
{o} <[went down|went up|stayed the same]/[fell|climbed|held steady]> <with/under/after> {t}
<people given/those on/patients taking> {t} had [less|more|the same level] of {o}, going by the findings
with {t}, {o} [became lower|became higher|remained as it was]
~{t} did [not leave {o} where it was but brought it down|not leave {o} where it was but pushed it up|leave {o} where \
it was]
the effect of {t} on {o} was [downward|upward|nil]
as for {o}, {t} made [it fall|it climb|no difference]
{o} was [diminished|heightened|not changed] by {t}
{o} [turned out smaller|turned out greater|was not influenced] when {t} was used
a [fall|climb|standstill] in {o} was what {t} brought about
compared with those going without {t}, recipients had [less|more|equal] {on}
from the point of view of {o}, {t} was [{dgood}|{ugood}|neither favourable nor unfavourable]
in terms of {o}, recipients of {t} fared [{dwell} than|{uwell} than|no better and no worse than] those without it
using {t} meant [that {o} declined|that {o} grew|no shift in {o}]
{o} moved [downwards|upwards|in neither direction] once {t} was given
there was [a lessening of|a growth in|no movement in] {o} on {t}
not using {t} was accompanied by [more|less|neither more nor less] {o}
what {t} did to {o} was to [bring it down|push it up|leave it alone]
""")

ONE = Topic(
    "direction",
    lines("""
{t} <significantly/markedly/> [<reduced/lowered/decreased>|<increased/raised/elevated>|did not affect] {o} {in_c} {stat}
treatment with {t} <resulted in/led to/was followed by> [a <reduction/decrease> in|an <increase/elevation> in|no \
change in] {o} {stat}
{o} was <significantly/> [<lower/reduced>|<higher/increased>|similar] in the {t} group compared with the control \
group {stat}
compared with controls, {n} {p} <assigned/randomised> to {t} showed [reduced|increased|comparable] {on} {stat}
in {p} {with_c}, {o} [<decreased/declined>|<increased/rose>|did not differ from baseline] over {weeks} weeks of {t} \
{stat}
[a <reduction/decrease> in {o}|an <increase/rise> in {o}|no difference in {o}] was <observed/seen> among {p} who \
received {t} {stat}
when {t} was given {in_c}, {o} [dropped|increased|was comparable to that with placebo] {stat}
the pooled estimate of {k} trials indicated that {o} was [<less/lower>|<greater/higher>|no different] with {t} than \
without it {stat}
{t}, which was given for {weeks} weeks, [attenuated|augmented|had no effect on] {o} {stat}
in controls, {o} was [<higher/greater>|<lower/reduced>|similar] relative to {p} receiving {t} {stat}
withdrawal of {t} [raised|lowered|did not affect] {o} in {p}, and giving it again [reversed this rise|reversed this \
drop|was equally without effect] {stat}
the use of {t} {in_c}, after adjustment for age and sex, was accompanied by [decreased|increased|unaltered] {on} {stat}
"""),
    ONE_CLAIMS,
    states=3,
    weight=3,
)
EVENT = Topic(
    "direction",
    lines("""
{o} occurred [less frequently|more frequently|equally often] in {p} receiving {t} than in those receiving placebo {stat}
there were <significantly/> [fewer|more|as many] cases of {o} with {t} <as against/relative to> placebo among {n} \
{p} {stat}
the hazard of {o} was [<reduced/lowered>|<elevated/increased>|not altered] by {t} {in_c} {stat}
{t} [protected against|predisposed to|neither protected against nor predisposed to] {o} over {weeks} weeks of \
follow-up {stat}
use of {t} was followed by [a lower|a higher|an unchanged] incidence of {o} {in_c} {stat}
"""),
    lines("""
[fewer|more|just as many] people {died} on {t}
patients on {t} were [less|more|neither less nor more] likely to {die}
the chance that a patient would {die} [shrank|grew|stayed the same] with {t}
those not given {t} {died} [more|less|just as] often
~{t} [did not leave the chance that people would {die} unchanged but made it smaller|did not leave the chance that \
people would {die} unchanged but made it bigger|left the chance that people would {die} unchanged]
[fewer|more|the same number of] patients {died} after <taking/getting> {t}
"""),
    states=3,
    weight=2,
)
EXPOSED = Topic(
    "direction",
    lines(
        """
{x} was [inversely|positively|not] associated with {o} in a cohort of {n} {p} {stat}
{o} was [lower|higher|the same] with {x} {in_c} {stat}
in this cohort study, {x} was linked to [reduced|increased|neither reduced nor increased] {on} {stat}
{x} went along with [decreased|increased|unaltered] {on} {stat}
in multivariable regression, {x} was [negatively related|positively related|unrelated] to {o} {stat}
average {on} was [lower|higher|no different] where {x} was reported {stat}
"""
    ),
    lines("""
{x} went together with [less|more|neither more nor less] {o}
where there was {x}, {o} was [smaller|greater|the same as elsewhere]
{o} [was seen less|was seen more|did not vary] with {x}
people not exposed to {x} had [more|less|the same amount of] {o}
{o} and {x} [ran in opposite directions|went up together|had nothing to do with each other]
[a smaller|a larger|an equal] burden of {o} accompanied {x}
where {x} was found more, {o} was [found less|found more as well|found neither more nor less]
"""),
    states=3,
    weight=2,
)
ARMS = Topic(
    "comparator",
    lines(
        """
{o} was [lower|higher|similar] with {t} <than with/compared with> {t2} {in_c} {stat}
{t} led to [less {on} than|more {on} than|{on} similar to that with] {t2} in a head-to-head trial of {n} {p} {stat}
{p} treated with {t} had [<reduced/decreased>|<increased/greater>|comparable] {on} relative to those treated with \
{t2} {stat}
in contrast to placebo, against which both drugs did well, {t2} gave [<higher/greater> {on} than|<lower/smaller> \
{on} than|{on} equal to that of] {t} {stat}
switching from {t2} to {t} [lowered|raised|did not modify] {o} {in_c} {stat}
"""
    ),
    lines("""
{t2} went with [more|less|the same amount of] {o} when set against {t}
{t2} and {t} were [unequal, the former having the larger|unequal, the former having the smaller|alike in their] {on}
between {t} and {t2}, {o} was [worst kept down by the latter|best kept down by the latter|kept down equally well by \
both]
as to {o}, the figures for {t} were [below|above|level with] those for {t2}
{o} under {t2} [exceeded|fell short of|matched] that under {t}
people on {t} had [smaller|bigger|the same] {on} as measured against people on {t2}
choosing {t} over {t2} would mean [less|more|no change in] {o}
judged by {o}, {t} came out as [the more {dadj} of the two, against {t2}|the more {uadj} of the two, against \
{t2}|neither better nor worse than {t2}]
"""),
    states=3,
    weight=2,
)
# what is said of three outcomes at once; the claims are those about one
SEVERAL = lines("""
{t} [reduced|increased|did not change] {o}, whereas {o2} [2:declined|went up|was unaffected]
{t} [lowered|raised|did not influence] {o} {stat}; by contrast, {o2} was [2:reduced|increased|no different], and \
{o3} was [3:lower|higher|similar] in both analyses
while {o} was [reduced|increased|not altered] by {t} {in_c}, {o2} was [2:decreased|elevated|comparable between groups]
in {p}, {t} was associated with [lower|higher|unchanged] {on}, [2:lower|higher|unchanged] {on2} and \
[3:lower|higher|unchanged] {on3}
{o} [decreased|increased|did not differ], {o2} [2:decreased|increased|did not differ] and {o3} \
[3:decreased|increased|did not differ] in the {t} arm relative to placebo
although {t} [reduced|increased|had no effect on] {o} {stat}, it [2:reduced|increased|had no effect on] {o2} in the \
same {n} {p}
{t} [reduced|increased|did not affect] {o}. However, {o2} was [2:significantly lower|significantly higher|not \
significantly different] with {t} than with placebo
""")
MANY = Topic("outcome", SEVERAL, ONE_CLAIMS, states=3, weight=4)
DIRECTIONS = (ONE, EVENT, EXPOSED, ARMS)
