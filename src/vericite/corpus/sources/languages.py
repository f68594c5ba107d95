"""Languages by the codes that PubMed has."""

from __future__ import annotations

# Code of PubMed, code of two letters, name in English.
_LANGUAGES = """
    afr af afrikaans; ara ar arabic; bul bg bulgarian; cat ca catalan; chi zh chinese; cze cs czech; dan da danish
    dut nl dutch; eng en english; est et estonian; fin fi finnish; fre fr french; ger de german; gre el greek
    heb he hebrew; hrv hr croatian; hun hu hungarian; ice is icelandic; ind id indonesian; ita it italian
    jpn ja japanese; kor ko korean; lat la latin; lav lv latvian; lit lt lithuanian; mac mk macedonian; may ms malay
    nor no norwegian; per fa persian; pol pl polish; por pt portuguese; rum ro romanian; rus ru russian
    slo sk slovak; slv sl slovenian; spa es spanish; srp sr serbian; swe sv swedish; tha th thai; tur tr turkish
    ukr uk ukrainian; vie vi vietnamese
"""
_OTHER = {
    "zho": "chi", "ces": "cze", "nld": "dut", "fra": "fre", "deu": "ger", "ell": "gre", "isl": "ice", "mkd": "mac",
    "msa": "may", "fas": "per", "ron": "rum", "slk": "slo", "nb": "nor", "nn": "nor",
}  # fmt: skip
_CODES = _OTHER | {
    name: entry.split()[0]
    for entry in _LANGUAGES.replace("\n", ";").split(";")
    if entry.strip()
    for name in entry.split()
}


def language_code(name: str) -> str | None:
    """PubMed's code of a language that is named by a code (``en``, ``en-GB``, ``deu``) or in English."""
    folded = name.strip().casefold()
    return _CODES.get(folded) or _CODES.get(folded.replace("_", "-").split("-")[0])
