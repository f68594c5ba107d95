"""Patterns about mechanisms, tests, diseases in populations, advice and the ways of drugs in the body."""

from __future__ import annotations

from vericite.train.mix.frames.effects_patterns import Topic, lines

PATHWAY = Topic(
    "direction",
    lines("""
{g} [inhibits|promotes] {b} by acting on {g2} {sig}
knockdown of {g} [enhanced|suppressed] {b} in cultured cells {sig}
overexpression of {g} [suppressed|enhanced] {b}, and blocking {g2} did not alter this effect
loss of {g} [accelerated|attenuated] {b} in knockout mice {sig}
{b} was [increased|reduced] in cells lacking {g} {sig}
{g} acts as a [negative|positive] regulator of {b}
in the absence of {g}, {b} was [no longer held back|hardly seen], which silencing of {g2} did not bring about
"""),
    lines("""
{b} is [held back|driven forward] by {g}
{g} [puts a brake on|gives a boost to] {b}
cells without {g} showed [more|less] {bn}
taking {g} away [favours|hinders] {b}
with plenty of {g} one would see [less|more] {bn}
{g} [opposes|supports] {b}
"""),
    weight=3,
)
EXPRESSION = Topic(
    "direction",
    lines("""
{g} expression was <significantly/> [downregulated|upregulated] in {c} tissue relative to healthy tissue {sig}
patients with {c} had [lower|higher] {g} levels than healthy controls {sig}
healthy controls had [higher|lower] levels of {g} than patients with {c} {sig}
tissue from {c} showed [reduced|increased] {g}, whereas {g2} was equal in both groups
"""),
    lines("""
{g} is [scarcer|more abundant] in people affected by {c}
{c} goes with [too little|too much] {g}
those who were well had [more|less] {g} than those suffering from {c}
there was [a shortage|an excess] of {g} in {c}
"""),
    weight=1.5,
)
INHERITED = Topic(
    "causality",
    lines(
        """
[mutations in {g}, but not in {g2},|mutations in {g2}, but not in {g},] were found in families with {c}
variants of {g} [are|are not] associated with susceptibility to {c}, in contrast to variants of {g2}[, which are \
not|, which are]
sequencing revealed [a pathogenic|no] {g} mutation in patients with {c} {sig}
"""
    ),
    lines("""
{c} [goes|does not go] with alterations of {g}
~people with {c} [did|did not] carry changes in {g}
alterations of {g} [do|do not] have to do with {c}
~[a|no] genetic tie between {g} and {c} came to light
"""),
)
MARKER = Topic(
    "negation",
    lines("""
baseline {g} [independently predicted|did not predict] {o} in patients with {c} {yes_no}
{g} levels were [a significant|not a significant] predictor of {o} after adjustment {yes_no}
[high|neither high nor low] {g} was associated with subsequent {on} {in_c} {yes_no}
"""),
    lines("""
measuring {g} [helps|does not help] to foretell {o}
one [can|cannot] tell from {g} what {o} will be
{g} [carries|carries no] information about later {on}
as a forecast of {o}, {g} is [useful|useless]
"""),
)
TEST = Topic(
    "comparator",
    lines("""
for the diagnosis of {c}, {g} had [higher|lower] accuracy than {g2} {sig}
{g} [outperformed|was outperformed by] {g2} in telling {c} from other illness {sig}
the area under the curve for {c} was [larger|smaller] for {g} than for {g2} {sig}
"""),
    lines("""
{g2} is the [weaker|stronger] marker of {c} when set against {g}
to recognise {c}, one does better with [{g} than with {g2}|{g2} than with {g}]
in detecting {c}, {g2} [fell short of|surpassed] {g}
doctors looking for {c} would miss [more|fewer] cases with {g2} than with {g}
"""),
)
PREVALENCE = Topic(
    "population",
    lines("""
the prevalence of {c} was higher in [{p} than in {q}|{q} than in {p}] {sig}
{c} was less common in [{q} than in {p}|{p} than in {q}] {sig}
[{p}|{q}] had twice the odds of {c} that [{q}|{p}] had {sig}
[{q}|{p}] were at lower risk of {c} compared with [{p}|{q}] {sig}
"""),
    lines("""
{c} was found more often in [{p}|{q}] as against [{q}|{p}]
it is [{p}|{q}] who are more often affected by {c}, when set against [{q}|{p}]
[{q}|{p}] suffered from {c} more rarely as against [{p}|{q}]
the greater share of {c} fell on [{p}|{q}], the smaller on [{q}|{p}]
"""),
    weight=1.5,
)
ADVICE = Topic(
    "negation",
    lines("""
{t} is [recommended|not recommended] for {p} with {c}
{t} is [indicated|contraindicated] in {p} who have {c}
the panel [advises|advises against] the use of {t} in {p} with {c}
in {c}, {t} should be [offered to|withheld from] {p}
"""),
    lines("""
experts [favour|oppose] giving {t} to {p} who suffer from {c}
for {c} in {p}, {t} is a treatment to be [chosen|avoided]
{p} affected by {c} [ought|ought not] to get {t}
with {c}, the use of {t} by {p} is [welcome|unwelcome]
"""),
    weight=1.5,
)
KINETICS = Topic(
    "direction",
    lines("""
the half-life of {d} was [longer|shorter] in {p} than in {q} {sig}
clearance of {d} was [reduced|increased] in {p} relative to {q} {sig}
{d} was eliminated more [slowly|rapidly] by {p} than by {q} {sig}
"""),
    lines("""
{d} lingered [longer|less long] in the bodies of {p}, when set against {q}
{q} got rid of {d} [sooner|later] as against {p}
the body needs [more|less] time to rid itself of {d} in {p} when measured against {q}
"""),
)
METABOLISM = Topic(
    "entity",
    lines("""
{d} is metabolised mainly by [{g}|{g2}] and not by [{g2}|{g}]
inhibition of [{g}|{g2}], unlike inhibition of [{g2}|{g}], blocked the breakdown of {d} in the liver {sig}
"""),
    lines("""
the enzyme that breaks {d} down is [{g}|{g2}] rather than [{g2}|{g}]
[{g}|{g2}], not [{g2}|{g}], sees to the degradation of {d}
~the body depends on [{g}|{g2}] to dispose of {d}
"""),
)
SPREAD = Topic(
    "negation",
    lines("""
transmission of {germ} by {way} [was documented|was not documented] in {k} households
{germ} [can|cannot] be transmitted through {way}, according to tracing of {n} contacts
among {n} contacts, {way} [accounted|did not account] for any spread of {germ}
"""),
    lines("""
people [do|do not] catch {germ} by {way}
{way} is [a|no] route by which {germ} passes on
{germ} [is|is not] handed on via {way}
"""),
)
VACCINE = Topic(
    "negation",
    lines("""
vaccination [conferred|did not confer] protection against {germ} in {p} {yes_no}
the vaccine was [effective|ineffective] in preventing {germ} infection among {p} {yes_no}
{germ} infection was [less frequent in|as frequent in] vaccinated {p} [than in|as in] their unvaccinated peers {yes_no}
"""),
    lines("""
the jab [kept|did not keep] {p} from catching {germ}
{p} [were|were not] shielded from {germ} by being immunised
against {germ}, immunisation was [of use|of no use] to {p}
"""),
)
MECHANISMS = (
    *(PATHWAY, EXPRESSION, INHERITED, MARKER, TEST, PREVALENCE),
    *(ADVICE, KINETICS, METABOLISM, SPREAD, VACCINE),
)
