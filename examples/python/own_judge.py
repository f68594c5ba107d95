"""A judge of your own: a function of premise and claim."""

import vericite as vc


def same_words(premise: str, claim: str) -> float:
    """The share of the claim's words that the premise has."""
    words = claim.lower().split()
    return sum(word in premise.lower() for word in words) / len(words)


print(vc.check("Zinc shortens colds [1].", ["Zinc shortens colds by two days."], judge=same_words))
