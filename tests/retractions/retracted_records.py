"""Ten retracted records and twenty sound ones, invented: as PubMed's XML, and cited by answers that know nothing of it.

The retracted are said to be so in each of PubMed's ways: by their type (the first four), by a link to a notice (the
next three, one of which was republished), or by a notice alone, elsewhere in the file (the last three). Among the sound
are those notices, and articles with an erratum, an expression of concern or a retracted part, one that cites a
retracted article, and one that has the word in its title.
"""

from __future__ import annotations

from pathlib import Path

RECORDS = Path(__file__).with_name("records.xml")
ANSWERS = Path(__file__).with_name("answers.jsonl")
"""Each cites a retracted record and two sound ones, by ids that are PMIDs in one of five spellings."""

RETRACTED = frozenset(str(number) for number in range(91000001, 91000011))
SOUND = frozenset(str(number) for number in range(92000001, 92000021))
