"""Patterns of amounts in words: parts, multiples, and how exactly a number is meant."""

from __future__ import annotations

SIGNS = (
    (
        "~",
        r"about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.?|~|≈|close to|just over"
        r"|just under"
        r"|slightly (?:more|less|over|under|above|below)(?: than)?|(?:just|a little|little|somewhat) (?:more|less"
        r"|over|under)"
        r"(?: than)?|an estimated|up to|on the order of|well over|nearly all",
    ),
    (
        "<",
        r"<|≤|less than|fewer than|under|below|at most|no more than|not more than|not exceeding|within|no later than"
        r"|lower than|smaller than|maximum of|younger than|shorter than|up to",
    ),
    (
        ">",
        r">|≥|more than|greater than|over|above|at least|no fewer than|no less than|not less than|exceed(?:s|ed|ing)?"
        r"|higher than|minimum of|larger than|older than|longer than|upwards? of",
    ),
)
"""What before a number says how exactly it is meant."""

FRACTIONS = (
    (r"(?:1|a|one)[ -]half|half", 50.0),
    (r"(?:2)[ -]thirds", 66.6667),
    (r"(?:1|a|one)[ -]third", 33.3333),
    (r"3[ -]quarters|3[ -]fourths", 75.0),
    (r"(?:1|a|one)[ -](?:quarter|fourth)", 25.0),
    (r"(?:1|a|one)[ -]fifth", 20.0),
    (r"2[ -]fifths", 40.0),
    (r"3[ -]fifths", 60.0),
    (r"4[ -]fifths", 80.0),
    (r"(?:1|a|one)[ -]sixth", 16.6667),
    (r"(?:1|a|one)[ -]eighth", 12.5),
    (r"(?:1|a|one)[ -]tenth", 10.0),
)
"""Parts of a whole in words, each with what it is in per cent."""

MULTIPLE = (
    (
        r"twice(?![ -](?:daily|weekly|a |per|monthly|yearly|annually|each|every))|doubl(?:ed|es|ing)"
        r"|double(?![ -](?:blind|dose"
        r"|dummy|mask|placebo))",
        2.0,
    ),
    (r"2-?fold|twofold", 2.0),
    (r"trebled|tripled|triple(?! therapy)|threefold|thrice(?! )", 3.0),
    (r"fourfold|quadrupled", 4.0),
    (r"fivefold", 5.0),
    (r"sixfold", 6.0),
    (r"tenfold", 10.0),
    (r"halved|halves|halving", 0.5),
)
"""Multiples in words, each with its factor."""
