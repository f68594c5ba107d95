"""Words that say which way something went, that it went no way, and that it was not so."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


UP = _words(
    """
    increase increases increased increasing higher highest raise raises raised raising rose rise rises risen rising
    elevate elevates elevated elevating elevation elevations greater larger more upregulate upregulates upregulated
    upregulation boost boosts boosted augment augments augmented stimulate stimulates stimulated induce induces
    induced activate activates activated promote promotes promoted promoting enhance enhances enhanced enhancing
    enhancement potentiate potentiates potentiated exacerbate exacerbates exacerbated longer prolong prolongs
    prolonged prolonging heightened overexpressed facilitate facilitates facilitated trigger triggers triggered
    """
)
DOWN = _words(
    """
    decrease decreases decreased decreasing lower lowers lowered lowering reduce reduces reduced reducing reduction
    reductions fell fall drop drops dropped decline declines declined declining diminish diminishes diminished fewer
    less smaller downregulate downregulates downregulated downregulation suppress suppresses suppressed suppression
    inhibit inhibits inhibited inhibiting inhibition attenuate attenuates attenuated attenuation prevent prevents
    prevented preventing abolish abolishes abolished weaken weakens weakened impair impairs impaired impede impedes
    repress represses repressed shorter shorten shortens shortened alleviate alleviates alleviated mitigate
    mitigates mitigated block blocks blocked blocking lessen lessens lessened protect protects protected deactivate
    deactivates inactivate inactivates disrupt disrupts disrupted ameliorate ameliorates ameliorated
    """
)
GOOD = _words("improve improves improved improving improvement improvements better superior")
BAD = _words("worsen worsens worsened worsening worse inferior deteriorate deteriorates deteriorated deterioration")
PLACES = _words(
    """
    esophageal oesophageal limb limbs extremity extremities leg legs back body respiratory airway airways urinary
    abdominal abdomen gastrointestinal gi tract jaw lip lobe lobes eyelid third pole
    """
)
"""Words before which "lower" says where something is."""
NEGATIVE = _words("inversely negatively inverse negative")
"""Words that turn a link round."""
LINKS = _words("associated association associations correlated correlates correlation linked related relationship")
CHANGES = _words(
    """
    effect effects affect affects affected influence influences influenced impact alter alters altered change changes
    changed difference differences differ differs differed
    """
)
UNCHANGED = _words("unaffected unchanged unaltered")
ALIKE = _words("similar similarly comparable same equal equally equivalent identical alike")
"""Words that deny a difference without a negator."""
_NOUNS = _words(
    """
    increase increases decrease decreases reduction reductions rise rises fall drop decline declines elevation
    elevations enhancement suppression inhibition attenuation upregulation downregulation improvement improvements
    deterioration change changes difference differences
    """
)
_ON = _words("effect effects influence impact")
_AGAINST = _words("protect protects protected")
LEADING = (
    dict.fromkeys(_NOUNS, ("in", "of")) | dict.fromkeys(_ON, ("on",)) | dict.fromkeys(_AGAINST, ("against", "from"))
)
"""Prepositions between a word of direction and what it speaks of."""
BOUNDS = _words(
    """
    in with among by after during when while who that which under within through from at for on than compared versus
    vs and or but to as is was were are has have had across throughout upon without associated
    """
)
"""Words that end the phrase a word of direction speaks of."""
NEGATORS = _words(
    """
    not no never without neither nor cannot didn't doesn't don't wasn't weren't isn't aren't hasn't haven't hadn't
    can't won't couldn't none fail fails failed failing lack lacks lacked lacking absence unable
    """
)
INVERTERS = _words(
    """
    knockdown knockout silencing silenced silences deletion deleted loss lost lack lacking deficiency deficient
    deficiencies depletion depleted absence antagonist antagonists antagonism inhibitor inhibitors inhibiting
    inhibition blockade blocking ablation knocked withdrawal discontinuation low poor null disruption suppressing
    avoidance abstinence cessation nonusers without insufficiency
    """
)
"""Words that make the cause of something its opposite."""
FINITE = _words("have has had was were is are who that which")
UNDECIDED = _words(
    """
    whether if unclear unknown hypothesized hypothesised hypothesis aim aimed investigate investigated evaluate
    evaluated assess assessed examine examined determine
    """
)
"""Words of a clause that only asks."""


def direction(lower: str) -> tuple[str, int]:
    """What a word of direction is about, and which way it goes; 0 for other words."""
    size = (lower in UP) - (lower in DOWN)
    worth = (lower in GOOD) - (lower in BAD)
    if size or worth:
        return ("size", size) if size else ("worth", worth)
    if lower in LINKS:
        return "link", 1
    return "change", int(lower in CHANGES or lower in UNCHANGED)


def directs(lower: str) -> bool:
    """Whether a word says which way something went, or that it did."""
    return direction(lower)[1] != 0
