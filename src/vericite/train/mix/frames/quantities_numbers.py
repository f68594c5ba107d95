"""Numbers as papers and readers put them: words, fractions, intervals, bounds between two values."""

from __future__ import annotations

import math
from fractions import Fraction

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()

# The ways of saying a share; the first is "so many in so many".
SHARES: dict[Fraction, tuple[str, ...]] = {
    Fraction(1, 20): ("one in twenty", "one in 20"),
    Fraction(1, 10): ("one in ten", "a tenth"),
    Fraction(1, 5): ("one in five", "a fifth"),
    Fraction(1, 4): ("one in four", "a quarter"),
    Fraction(3, 10): ("three in ten", "three tenths"),
    Fraction(1, 3): ("one in three", "a third"),
    Fraction(2, 5): ("two in five", "two fifths"),
    Fraction(1, 2): ("one in two", "half"),
    Fraction(3, 5): ("three in five", "three fifths"),
    Fraction(2, 3): ("two in three", "two thirds"),
    Fraction(7, 10): ("seven in ten", "seven tenths"),
    Fraction(3, 4): ("three in four", "three quarters"),
    Fraction(4, 5): ("four in five", "four fifths"),
    Fraction(9, 10): ("nine in ten", "nine tenths"),
    Fraction(19, 20): ("nineteen in twenty", "19 in every 20"),
}

BOUNDS: tuple[tuple[float, str], ...] = (
    (0.1, "a tenth"),
    (0.2, "a fifth"),
    (0.25, "a quarter"),
    (1 / 3, "a third"),
    (0.5, "half"),
    (2 / 3, "two thirds"),
    (0.75, "three quarters"),
)


def words(number: int) -> str:
    """A whole number from 0 to 999 in words, the British way."""
    if not 0 <= number < 1000:
        raise ValueError(f"no words for {number}")
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{_SMALL[hundreds]} hundred" + (f" and {words(rest)}" if rest else "")


def grouped(number: int, mark: str = ",") -> str:
    """A whole number with its thousands set apart: "12,400"."""
    return f"{number:,}".replace(",", mark)


def plain(number: float, decimals: int = 1) -> str:
    """A number without needless zeros: 1.50 is "1.5", 2.0 is "2"."""
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: Fraction) -> str:
    """A share as a percentage, whole where it is whole: "40%", "33.3%"."""
    return f"{plain(float(share) * 100)}%"


def bound_between(first: float, second: float, margin: float = 0.03) -> str | None:
    """The name of a share that lies clearly between two: what one is more than and the other is less than."""
    low, high = sorted((first, second))
    names = [name for value, name in BOUNDS if low + margin <= value <= high - margin]
    return "half" if "half" in names else names[len(names) // 2] if names else None


def interval(ratio: float, spread: float) -> tuple[float, float]:
    """The 95% interval of a ratio whose logarithm has this half-width."""
    return ratio * math.exp(-spread), ratio * math.exp(spread)


def interval_text(style: int, low: str, high: str) -> str:
    """An interval in one of the journals' formats."""
    formats = (
        "95% CI {}-{}",
        "95% CI, {} to {}",
        "95% CI: {}–{}",
        "95% confidence interval {} to {}",
        "CI 95% {}-{}",
        "95% CI = {}-{}",
    )
    return formats[style % len(formats)].format(low, high)


def p_text(style: int, value: str) -> str:
    """A p-value in one of the journals' formats; the value has its sign, as in "<0.001" or "=0.03"."""
    sign, number = value[0], value[1:]
    formats = (
        f"p{sign}{number}",
        f"P {sign} {number}",
        f"p {sign} {number}",
        f"P{sign}{number[1:]}",
        f"p-value {sign} {number}",
    )
    return formats[style % len(formats)]
