"""Patterns about where an effect ends: negation, population, time, certainty, cause, comparator."""

from __future__ import annotations

from vericite.train.mix.frames.effects_patterns import Topic, lines

NEGATION = Topic(
    "negation",
    lines("""
{t} [{did}|failed to {do}] {o} in {p} {yes_no}
we found [evidence|no evidence] that {t} {did} {o} {in_c} {yes_no}
[in spite of doubts, {t}|neither {t} nor placebo] {did} {o} {in_c}
there was [a clear|a lack of] effect of {t} on {o}, [which {t} {did}|although {t} was expected to {do} it] {yes_no}
it is [likely|unlikely] that {t} {does} {o} {in_c}
{t} [was not without effect, as it {did}|was without effect and never {did}] {o} in {p} {yes_no}
{t} [not only improved comfort but also {did}|improved comfort without any tendency to {do}] {o} {in_c}
none of the {n} {p} did badly, and {t} [{did} {o}|left {o} unchanged, contrary to the hope that it would {do} it]
the data [support|do not support] the hypothesis that {t} {does} {o} {yes_no}
{t} [rather than placebo|no more than placebo] {did} {o} {in_c} {yes_no}
{t2} [and {t} as well|, though not {t},] {did} {o} in {p}
{o} was {less} in those on {t}, [and this did not vanish|but this vanished] after adjustment, so that {t} [truly \
{did} it|did not truly {do} it]
"""),
    lines("""
{t} [was able to {do}|did nothing to {do}] {o}
~there was [reason|no reason] to say that {t} {did} {o}
{o} was [indeed|not] {done} by {t}
the hoped-for effect on {o} was [not missing|missing] with {t}
{t} [could|could not] {do} {o}
{t} [did not fail|failed] to {do} {o}
~one [cannot|can] say that {t} never {did} {o}
{less} {on} [came about|did not come about] through {t}
{t} was [not powerless|powerless] to {do} {o}
~the idea that {t} could {do} {o} [held up|did not hold up]
it was [wrong|right] to think that {t} cannot {do} {o}
{less} {on} [was indeed|was not] what {t} gave
"""),
    weight=3,
)
GROUPS = Topic(
    "population",
    lines("""
{t} {did} {o} in [{p}|{q}] but not in [{q}|{p}] {stat2}
among [{p}|{q}], {t} {did} {o} {sig}, whereas in [{q}|{p}] there was no difference {ns}
[{p}|{q}], and not [{q}|{p}], showed {less} {on} with {t} {inter}
the effect of {t} on {o} was seen in [{p}|{q}], in whom it {did} it; [{q}|{p}] showed none
in subgroup analysis {in_c}, {t} {did} {o} among [{p}|{q}] {sig}, with no such effect among [{q}|{p}] {ns}
{o} did not change with {t} in [{q}|{p}] {ns}; in [{p}|{q}], however, it was {less} {sig}
except in [{q}|{p}], in whom no effect was seen, {t} {did} {o}; the effect was clear in [{p}|{q}] {inter}
"""),
    lines("""
[{p}|{q}] given {t} had {less} {on}
{t} had no influence on {o} in [{q}|{p}]
in [{q}|{p}], {o} stayed as it was despite {t}
for [{p}|{q}], {t} made a difference to {o}
{t} left {o} unaltered among [{q}|{p}]
it was [{p}|{q}] rather than [{q}|{p}] whose {o} responded to {t}
[{q}|{p}], unlike [{p}|{q}], had {o} that {t} could not budge
{t} was able to {do} {o} in [{p}|{q}]
"""),
    weight=2.5,
)
BOTH = Topic(
    "population",
    lines("""
{t} {did} {o} in {p} [only, with no effect in {q}|and to the same extent in {q}] {inter}
the effect of {t}, which {did} {o}, was [restricted to {p} and absent in {q}|similar in {p} and {q}] {in_c}
in [{p} but not {q}|both {p} and {q}], {o} was {less} with {t} {in_c}
sex, age and other traits aside, {t} {did} {o} in [{p}, while {q} did not respond|{q} no less than in {p}]
"""),
    lines("""
{q} [were left out when|shared in it when] {t} was seen to {do} {o}
~{t} could {do} {o} in [just one of the two groups, {p}|{p} as well as in {q}]
{q} had [no|a] change in {o} on {t}
[not everyone, {q} for one,|everyone, {q} included,] responded to {t} in terms of {o}
{o} among {q} [was not|was also] {done} by {t}
"""),
)
TIME = Topic(
    "outcome",
    lines("""
{t} {did} {o} at [<3/4> months but not at <12/18> months|<12/18> months but not at <3/4> months] {in_c}
{o} was {less} with {t} [early on, but the difference had disappeared by the end of follow-up|at the end of \
follow-up, although early on there had been no difference] {inter}
[in the first weeks and no longer after them|after a long delay and not in the first weeks], {t} {did} {o}
"""),
    lines("""
the effect of {t} on {o} [came soon and then faded|was not there at first and came later]
{t} [worked on {o} in the short run only|worked on {o} in the long run only]
{o} was no different with {t} at the [late|early] measurement
{o} was {done} by {t} [soon after the start|only after a good while]
"""),
    weight=0.7,
)
CERTAINTY = Topic(
    "scope",
    lines("""
[we found no indication that {t} {does}|these preliminary findings suggest that {t} may {do}|large trials have now \
proved beyond doubt that {t} {does}] {o} {in_c}
{t} [showed no sign of being able to {do}|might {do}|has been conclusively shown to {do}] {o} in {p}
[there is nothing to suggest that {t} {does} {o}|a small pilot study hints that {t} could {do} {o}|it is firmly \
established that {t} {does} {o}] {in_c}
"""),
    lines("""
~[not even a hint exists|there is at least a hint|it is certain] that {t} can {do} {o}
~that {t} acts on {o} is [without any support|at least possible|settled for good]
~for an effect of {t} on {o} there is [no support whatever|some support|definitive proof]
~{t} [gave no hint of working|possibly works|works beyond any doubt] on {o}
"""),
    states=3,
    labels="ladder",
    weight=1.5,
)
EXTENT = Topic(
    "scope",
    lines("""
{t} {did} {o} in [none|some|every one] of the {n} {p} <treated/enrolled>
[no patient|a subset of patients|each and every patient] {with_c} had {less} {on} after {t}
{o} was {less} after {t} in [not a single one|a number|all] of the {p}
"""),
    lines("""
~{t} worked on {o} in [nobody|at least a few people|everybody] in the study
~[not one participant|one participant or more|every participant without exception] saw {o} {done} by {t}
the share of people whose {o} responded to {t} was [nil|above nil|one hundred percent]
[nobody's|somebody's|everybody's] {o} responded to {t}
"""),
    states=3,
    labels="ladder",
    weight=1.2,
)
CAUSE = Topic(
    "causality",
    lines("""
{x} was [unrelated to|associated with|shown by randomised and genetic evidence to be a cause of] {less} {on} {in_c}
in {n} {p}, {x} [showed no correlation with|correlated with|was proved in an experiment to bring about] {less} {on} \
{sig}
[no link was seen between {x} and|a cross-sectional survey found an association between {x} and|Mendelian \
randomisation demonstrated a causal effect of {x} in producing] {less} {on}
"""),
    lines("""
{x} and {less} {on} [did not go together at all|went together|were tied as cause and effect]
{less} {on} [was not to be found more with|was to be found more with|is the direct result of] {x}
between {x} and {less} {on} there is [no statistical tie|a statistical tie|a proven chain of cause and effect]
{x} is [not even a marker of|at the least a marker of|itself what produces] {less} {on}
"""),
    states=3,
    labels="ladder",
    weight=1.5,
)
SPECIES = Topic(
    "scope",
    lines("""
in [<mice/rats/a mouse model>|a trial of {n} {p}], {t} {did} {o} {sig}
{t} {did} {o} in [rodents fed a high-fat diet|adults enrolled at {k} hospitals] {sig}
[animals|volunteers] treated with {t} for {weeks} weeks had {less} {on} than untreated [littermates|people]
"""),
    lines("""
in [laboratory animals|human beings], {o} was {done} by {t}
{t} was able to {do} {o} in [experimental animals|people]
an effect of {t} on {o} has been seen in [rodents or other animals|human subjects]
"""),
    labels="apart",
)
VERSUS = Topic(
    "comparator",
    lines("""
{t} {did} {o} more than [placebo|{t2}] did {in_c} {sig}
compared with [placebo|{t2}], {t} {did} {o} in {p} {sig}
{t} was superior to [a dummy pill|{t2}] in that it {did} {o} {in_c}
"""),
    lines("""
set against [an inactive pill|{t2}], {t} had the stronger effect on {o}
{o} was {done} by {t} to a larger degree than by [sham treatment|{t2}]
{t} outdid [an inert control|{t2}] as regards {o}
[dummy treatment|{t2}] was the weaker one when {t} was tried for its effect on {o}
"""),
    labels="apart",
)
ADDED = Topic(
    "comparator",
    lines(
        """
{t} [added to|in place of] {t2} {did} {o} {in_c} {sig}
{p} received {t} [on top of|as a substitute for] {t2}, and {o} was {less} {sig}
[combining {t2} with {t}|stopping {t2} and starting {t}] {did} {o}
"""
    ),
    lines("""
{o} was {done} when {t} was used [together with|without] {t2}
people [kept taking|no longer took] {t2} when {t} was seen to {do} {o}
the change in {o} was seen with {t} [as a companion of|as a replacement for] {t2}
"""),
)
LIMITS = (NEGATION, GROUPS, BOTH, TIME, CERTAINTY, EXTENT, CAUSE, SPECIES, VERSUS, ADDED)
