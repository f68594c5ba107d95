"""Words that say which way something went, and whether that way is good."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


UP = _words(
    """
    increase increases increased increasing higher highest raise raises raised raising rose rise rises risen
    rising elevate elevates elevated elevating elevation greater greatest larger more climbed climb climbs grew
    growth-promoting gain gained upregulate upregulates upregulated upregulation overexpressed boost boosts
    boosted amplify amplified amplifies augment augments augmented augmentation stimulate stimulates stimulated
    stimulation induce induces induced induction activate activates activated promote promotes promoted heighten
    heightened heightens surge surged multiply doubled doubles doubling tripled trebled expanded expand expands
    enhance enhances enhanced enhancement strengthen strengthens strengthened stronger heavier taller wider
    trigger triggers triggered potentiate potentiated potentiates intensify intensified intensifies jumped
    upward bigger commoner cause causes caused causing provoke provokes provoked favour favours favored
    aggravated exacerbate exacerbates exacerbated soared escalated accumulated upregulating hyperactivation
    escalates raised
    """
)
DOWN = _words(
    """
    decrease decreases decreased decreasing lower lowest lowers lowered lowering reduce reduces reduced reducing
    reduction reductions fell fall falls fallen drop drops dropped dropping decline declines declined declining
    diminish diminishes diminished fewer less smaller smallest lesser cut cuts cutting halve halves halved
    shrink shrank shrinks shrunk shrinking downregulate downregulates downregulated downregulation
    underexpressed suppress suppresses suppressed suppression inhibit inhibits inhibited inhibition inhibiting
    attenuate attenuates attenuated attenuation curb curbs curbed lessen lessened lessens prevent prevents
    prevented preventing prevention blocked abolish abolishes abolished weaken weakens weakened
    weaker deplete depleted depletes depletion inactivate inactivates inactivated repress represses repressed
    limit limited limits lost loses alleviate alleviates alleviated alleviating relieve relieves relieved ease
    eases eased mitigate mitigates mitigated protect protects protected protective protecting protection avert
    averts averted dampen dampened dampens minimise minimize downward rarer scarcer plummeted blunt blunted
    blunts counteract ameliorate ameliorates ameliorated eliminate eliminated eliminates eradicate eradicated
    decrement tapered spared spares impede impedes impeded hinder hindered hinders discourage
    """
)
GOOD = _words(
    """
    improve improves improved improving improvement improvements better best superior superiority beneficial
    benefit benefits benefited benefitted favourable favorable outperformed outperforms outperform helped helps
    help effective efficacious useful advantageous safer healthier
    """
)
BAD = _words(
    """
    worsen worsens worsened worsening worse worst inferior inferiority harmful harm harms harmed detrimental
    deteriorate deteriorates deteriorated deterioration unfavourable unfavorable impair impairs impaired
    impairment underperformed damaging damages damaged ineffective useless disadvantageous adversely poorer hurt
    hurts undermine undermines undermined deleterious poisoned unsafe
    """
)
LONG = _words("""
    prolong prolongs prolonged prolonging longer lengthen lengthens lengthened extend extends extended delay
    delays delayed slow slows slowed slower later slowing postponed postpone postpones longest slowly delaying
    prolongation
    """)
SHORT = _words("""
    shorten shortens shortened shortening shorter shortest accelerate accelerates accelerated faster quicker
    sooner hasten hastens hastened speeded sped earlier quickly quickened fastest rapidly accelerating
    """)
POSITIVE = _words("positively directly positive direct")
NEGATIVE = _words("inversely negatively inverse negative indirectly")

BAD_OUTCOMES = _words(
    """
    =mortality =mi =stroke =bleeding =hypertension =cancer =admission =stay =hypoglycaemia =fracture =fall =ldl
    =pain =relapse =infection =adverse =itch =vomiting =nausea =fever =diarrhoea =breathless =clot =premature
    =depression =anxiety =anaemia =inflammation =seizure =symptom =asthma =migraine =hba1c fatigue complicat
    ulcer toxic event fail failur diseas disabil viral exacerbat exacerb cough rash edem dement insomn
    readmission injur lesion cholesterol hospital crash attack sever damag dropout wors stress suicid delir
    sepsi pneumonia arrhythm
    """
)
GOOD_OUTCOMES = _words(
    """
    =survival =kidneyfunction =remission =quality of life =cognition =tolerate function capac adherenc recov recovery
    healing heal complianc satisfact mobil strength fertil birthweight efficac efficacy accuracy sensitiv specific healt
    eject lifespan longev
    """
)
NEGATORS = _words(
    """
    not no never without neither nor cannot didn't doesn't don't wasn't weren't isn't aren't hasn't haven't
    hadn't can't won't couldn't wouldn't shouldn't none non fail fails failed failing lack lacks lacked lacking
    absence absent nobody nothing hardly unable unlikely instead nowhere free little minimal negligible barely
    scarcely
    """
)
NULL = _words(
    """
    unchanged unaffected similar similarly comparable equal equally equivalent same unaltered indistinguishable
    identical unrelated stable alike constant irrespective regardless
    """
)


def magnitude(lower: str) -> int:
    """1 for a word of growth, -1 for one of decline, 0 for others."""
    return (lower in UP) - (lower in DOWN)


def valence(lower: str) -> int:
    """1 for a word of good effect, -1 for one of harm, 0 for others."""
    return (lower in GOOD) - (lower in BAD)


def pace(lower: str) -> int:
    """1 for a word of longer times, -1 for one of shorter times, 0 for others."""
    return (lower in LONG) - (lower in SHORT)


def correlation(lower: str) -> int:
    """1 for a word of going along, -1 for one of going against, 0 for others."""
    return (lower in POSITIVE) - (lower in NEGATIVE)
