"""Whom or what a finding is about: claims about one group from sources about another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vericite.verify.checks.finding import Finding, Kind

# Families of groups that exclude each other. A line: name | pattern | names of groups of the family that it is part of
_FAMILIES: dict[str, str] = {
    "species": r"""
mice | mice|mouse|(?:wild-type|transgenic|knockout) mice|c57bl/?6\w*|balb/?c
rodents | rodents?|murine|murids?
rats | rats?|wistar|sprague[ -]dawley
rabbits | rabbits?
guinea pigs | guinea[ -]pigs?
hamsters | hamsters?
pigs | pigs?|piglets?|swine|porcine|minipigs?
dogs | dogs?|canines?|hounds?|terriers?|beagles?|puppies
cats | cats?|felines?
cattle | cattle|cows?|bovines?|calves|heifers?|bulls?
sheep | sheep|ovine|lambs?|ewes?
horses | horses?|equine|foals?|mares?
monkeys | monkeys?|macaques?|non-?human primates?|primates?|chimpanzees?|apes?|simians?|baboons?|marmosets?|rhesus
zebrafish | zebrafish|zebra fish|danio
fish | fish(?:es)?|salmon|trout|carp|tilapia|medaka
flies | drosophila|fruit fl(?:y|ies)
worms | c\. ?elegans|caenorhabditis|nematodes?
yeast | yeasts?|saccharomyces|s\. ?cerevisiae
chickens | chickens?|hens?|broilers?|chicks?|poultry|quails?
frogs | frogs?|xenopus|tadpoles?
ferrets | ferrets?
goats | goats?
plants | arabidopsis|tobacco plants?|seedlings?|rice plants?|tomato plants?
honeybees | honey ?bees?
bumblebees | bumble ?bees?
bees | bees?
mosquitoes | mosquito(?:e?s)?|anopheles|aedes
cells | cell lines?|cultured (?:human |mouse |rat )?\w+|\w+ cells in culture|in vitro|cell cultures?
|in culture|keratinocytes|fibroblasts|primary (?:human |mouse |rat )?\w+cytes|explants?|in a dish|petri dish
|[a-z0-9]+ cells in culture|hela|hek293\w*
|fibroblasts in culture|organoids?|hepg2|mcf-7|a549|vero
bacteria | e\. ?coli|escherichia coli|bacterial cultures?
humans | humans?(?! (?:milk|serum|cells?|airway|keratinocytes?|umbilical|plasma|albumin|insulin|\w+ (?:cells?
|organoids?|cultures?|keratinocytes?|fibroblasts?)))
|(?<!canine )(?<!feline )(?<!equine )(?<!veterinary )(?<!animal )patients?|volunteers?|people|men|women
|(?<!of )adults?(?! (?:male |female )?(?:mice|rats|zebrafish|mosquito))|children|bab(?:y|ies)|participants?
|persons?|individuals?
|adolescents?|infants?|clinical trials?|boys?|girls?|teenagers?|nurses?|residents|smokers?|mothers?|outpatients?
|inpatients?|pensioners?|veterans?
""",
    "age": r"""
neonates | neonates?|newborns?|neonatal|preterm infants?|premature (?:infants?|babies)|term infants?
infants | infants?|bab(?:y|ies)|infancy
children | children|child|paediatrics?|pediatrics?|boys?|girls?|schoolchildren|preschoolers?|school-?age\w*
|kids|toddlers?|pupils?
|childhood
adolescents | adolescents?|teenagers?|teens?|adolescence|youths?|young people
adults | adults?|middle-aged|grown-ups?|pregnant women|expectant mothers|nurses|firefighters|veterans|employees
older adults | older (?:adults?|people|persons?|patients?|men|women|individuals?|participants?)|elderly|seniors?
|geriatric|octogenarians?|nonagenarians?|nursing[ -]home residents|aged (?:65|70|75|80|85) (?:years )?(?:and
|or) (?:older|over|above)|(?:over|older than|above) (?:the age of )?(?:65|70|75|80|85)|pensioners?|(?:65|70|75|80
|85) years (?:of age )?(?:and|or) (?:older|over|above)
young adults | young(?:er)? adults?|college students?|university students?
""",
    "sex": r"""
men | men|males?|man|boys?|husbands?|fathers?
women | women|females?|woman|girls?|mothers?|pregnan\w+|postmenopausal|premenopausal|wives
""",
    "menopause": r"""
premenopausal women | pre-?menopausal|before (?:the )?menopause
postmenopausal women | post-?menopausal|after (?:the )?menopause
""",
    "pregnancy": r"""
pregnant women | pregnant|pregnanc(?:y|ies)|expectant mothers?|gestation\w*
non-pregnant women | non-?pregnant|not pregnant
postpartum women | post-?partum|breast-?feeding|lactating|nursing mothers
""",
    "parity": r"""
nulliparous women | nullipar\w+|primipar\w+|first-time mothers?|first pregnanc\w+
multiparous women | multipar\w+
""",
    "smoking": r"""
smokers | (?<!non-)(?<!non)(?<!never-)(?<!never )(?<!ex-)(?<!former )(?<!non )smokers|people who smoke|(?:men|women
|adults|those|participants|patients) who smoked?
non-smokers | non-? ?smokers?|never[ -]smok\w+|who (?:had )?never smoked|who (?:do|did) not smoke
former smokers | (?:ex|former)[ -]smokers?|quit smoking
""",
    "setting": r"""
inpatients | inpatients?|hospitali[sz]ed|in-?patients?|admitted to (?:the )?hospital|intensive care|icu|critically ill
outpatients | outpatients?|out-?patients?|ambulatory|primary care|general practice|community-dwelling
|non-hospitali[sz]ed
""",
    "hiv": r"""
people with HIV | hiv-(?:positive|infected)|(?:living )?with hiv|hiv infection
people without HIV | hiv-(?:exposed )?(?:uninfected|negative)|without hiv|hiv-exposed uninfected
""",
    "residence": r"""
nursing-home residents | (?:nursing|care|residential)[ -]homes?|long-term care|institutionali[sz]ed
people living at home | community-dwelling|living (?:at home|in the community|independently)|in their own homes?
""",
    "kidney": r"""
dialysis patients | (?:haemo|hemo)?dialysis
transplant recipients | (?:kidney |renal |liver |heart )?transplant(?:ed)? (?:recipients?|patients?)
""",
    "stage": r"""
mild disease | mild(?:ly)? (?:\w+ ){0,2}(?:disease|cases|illness|covid-19|asthma)
severe disease | severe(?:ly)? (?:\w+ ){0,2}(?:disease|cases|illness|covid-19|asthma)
""",
    "health": r"""
healthy people | healthy (?:\w+ ){0,2}(?:volunteers?|people|adults?|men|women|subjects?|individuals?|participants?
|controls?|persons?|children|infants?)
patients | patients|diseased|critically ill|suffering from|sufferers
""",
    "diabetes": r"""
type 1 diabetes | type[ -](?:1|i)\b(?: or 2)?|t1dm?|juvenile diabetes|insulin-dependent diabetes|autoimmune diabetes
type 2 diabetes | type[ -](?:2|ii)\b|t2dm?|adult-onset diabetes|type 1 (?:or|and) 2
gestational diabetes | gestational diabetes
people without diabetes | without (?:known )?(?:type 2 )?diabetes|non-?diabetic\w*|free of diabetes
""",
    "cancer": r"""
breast cancer | breast (?:cancer|carcinoma|tumou?r)s?
prostate cancer | prostat(?:e|ic) (?:cancer|carcinoma|tumou?r)s?
lung cancer | lung (?:cancer|carcinoma|adenocarcinoma|tumou?r)s?|nsclc|sclc
colorectal cancer | (?:colorectal|colon|rectal|bowel) (?:cancer|carcinoma|tumou?r)s?
gastric cancer | (?:gastric|stomach) (?:cancer|carcinoma|tumou?r)s?
ovarian cancer | ovarian (?:cancer|carcinoma|tumou?r)s?
pancreatic cancer | pancrea\w* (?:cancer|carcinoma|adenocarcinoma|tumou?r)s?
liver cancer | (?:liver|hepatocellular) (?:cancer|carcinoma)s?|hcc
kidney cancer | (?:kidney|renal(?: cell)?) (?:cancer|carcinoma)s?
bladder cancer | (?:bladder|urothelial) (?:cancer|carcinoma)s?
cervical cancer | cervical (?:cancer|carcinoma)s?
melanoma | melanomas?
leukaemia | leuka?emias?
lymphoma | lymphomas?
myeloma | (?:multiple )?myelomas?
glioma | gliomas?|glioblastomas?
""",
    "disease": r"""
asthma | asthma\w*
COPD | copd|chronic obstructive
cystic fibrosis | cystic fibrosis
epilepsy | epilep\w+
migraine | migraines?
Parkinson's disease | parkinson\w*
Alzheimer's disease | alzheimer\w*
multiple sclerosis | multiple sclerosis
schizophrenia | schizophreni\w+
bipolar disorder | bipolar
rheumatoid arthritis | rheumatoid
osteoarthritis | osteoarthriti\w+
psoriasis | psoria\w+
eczema | eczema|atopic dermatitis
Crohn's disease | crohn\w*|inflammatory bowel disease
ulcerative colitis | ulcerative colitis|inflammatory bowel disease
coeliac disease | c(?:o)?eliac
hepatitis B | hepatitis b|hbv
hepatitis C | hepatitis c|hcv
HIV | hiv|aids
tuberculosis | tubercul\w+
malaria | malaria
heart failure | heart failure
atrial fibrillation | atrial fibrillation
""",
    "work": r"""
nurses | nurses?|nursing staff
doctors | physicians?|doctors?|surgeons?|clinicians
teachers | teachers?
soldiers | soldiers?|military personnel
firefighters | fire-?fighters?|firemen
police | police (?:officers?|men|women)|policemen
athletes | athletes?
farmers | farmers?|farm workers?
miners | miners?
students | students?
office workers | office workers?
drivers | drivers?
""",
    "ethnicity": r"""
Chinese | chinese|china
Japanese | japanese|japan
Korean | koreans?|korea
Indian | indians?|india
European | europeans?|europe|danish|swedish|norwegian|finnish|german|french|italian|spanish|dutch|british
American | americans?|united states
African | africans?|africa|kenyan?|nigerian?|ugandan?
""",
}
_SHARE_OF_SEX = re.compile(
    r"%[)]? (?:[a-z]+ ){0,3}(?:men|women|male|female)s?\b|(?:men|women|male|female)s?[,:]? \(?[0-9.]+ ?%"
)
_PEOPLE = {"human", "humans", "people", "patients", "men", "women", "volunteers", "participants"}


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    pattern: re.Pattern[str]


def _compiled() -> dict[str, tuple[_Group, ...]]:
    families: dict[str, tuple[_Group, ...]] = {}
    for family, table in _FAMILIES.items():
        lines = [line.split(" | ") for line in table.strip().replace("\n|", "|").splitlines()]
        families[family] = tuple(
            _Group(name.strip(), re.compile(rf"(?<![\w-])(?:{pattern.strip()})(?![\w])", re.IGNORECASE))
            for name, pattern in lines
        )
    return families


_GROUPS = _compiled()
# Whom a name includes: a claim about these may rest on a source about those.
_INCLUDES = {
    "rodents": {"mice", "rats", "hamsters", "guinea pigs"},
    "mice": {"rodents"},
    "cells": set[str](),
    "children": {"infants", "neonates", "adolescents"},
    "infants": {"neonates"},
    "neonates": {"infants"},
    "adolescents": {"children", "young adults"},
    "adults": {"older adults", "young adults"},
    "older adults": set[str](),
    "young adults": {"adults", "adolescents"},
    "fish": {"zebrafish"},
    "postpartum women": {"pregnant women"},
    "inpatients": set[str](),
}
_CHILDISH = {"neonates", "infants", "children"}
_NOT = re.compile(
    r"(?:\b(?:excluding|except(?: for| in)?|excluded|rather than(?: in)?"
    r"|unlike) )(?P<who>[^.;,]{3,40})"
    r"|(?P<whom>[^.;,]{3,80}?) (?:did not (?:take part|participate)|(?:was|were|had been) (?:excluded"
    r"|not (?:included|enrolled|eligible|studied)))",
    re.IGNORECASE,
)
_AGES = re.compile(
    r"\b(?P<low>[0-9]{1,2})(?:\s?(?:-|to|and)\s?(?P<high>[0-9]{1,3}))? ?(?:-| )?(?:years?|yrs?)(?:[ -](?:of"
    r" age|old))?"
    r"(?P<open> (?:of age )?(?:or|and) (?:older|over|above))?",
    re.IGNORECASE,
)
_AGED = re.compile(r"\b(?:aged?|ages|mean age|median age|years? old|years of age|between the ages)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:not|no|never|without|nor|neither|unlike|exclud\w*|except)\b|n't\b", re.IGNORECASE)


def group_findings(claim: str, source: str) -> Iterator[Finding]:
    """Findings about groups: the claim names one, and the source speaks only of another of the same family."""
    for family, groups in _GROUPS.items():
        said, given = _named(claim, groups), _named(source, groups)
        named = {name: word for name, word in said.items() if word.lower() not in _PEOPLE}
        given |= {name: word for name, word in named.items() if re.search(rf"\b{re.escape(word)}\b", source, re.I)}
        if family == "sex" and _SHARE_OF_SEX.search(source):
            continue
        if family == "menopause" and said and not given:
            given |= {name: "women of that age" for name in _of_ages(source) if "menopausal" in name}
        if family == "age":
            given |= {name: name for name in _of_ages(source)}
            said |= {name: name for name in _of_ages(claim)}
        found = _family_finding(family, said, given)
        if found:
            yield found
            return
    yield from _excluded(claim, source)


def rivals(denied: str, affirmed: str, claim: str) -> bool:
    """Whether a claim names a group that one text names, and none of the same family that the other names instead."""
    for family, groups in _GROUPS.items():
        without, with_it, said = (set(_named(text, groups)) for text in (denied, affirmed, claim))
        if family != "species":
            without, with_it, said = (names - {"patients"} for names in (without, with_it, said))
        apart = without - with_it
        if said & apart and with_it - without and not said & (with_it - without):
            return True
    return False


def _named(text: str, groups: tuple[_Group, ...]) -> dict[str, str]:
    matches = ((group.name, group.pattern.search(text)) for group in groups)
    return {name: match[0] for name, match in matches if match}


def _of_ages(text: str) -> set[str]:
    """The groups that stated ages belong to."""
    found: set[str] = set()
    for match in _AGES.finditer(text):
        if not _AGED.search(text, max(0, match.start() - 25), min(len(text), match.end() + 14)):
            continue
        low = int(match["low"])
        high = int(match["high"]) if match["high"] else (120 if match["open"] else low)
        found |= {"children"} if low < 12 else set()
        found |= {"adolescents"} if low < 18 and high >= 12 else set()
        found |= {"adults"} if high >= 18 else set()
        found |= {"older adults"} if high >= 65 else set()
        found |= {"young adults"} if low <= 30 and high >= 18 else set()
        found |= {"premenopausal women"} if low >= 15 and high <= 42 else set()
        found |= {"postmenopausal women"} if low >= 60 else set()
    return found


def _family_finding(family: str, said: dict[str, str], given: dict[str, str]) -> Finding | None:
    if not said or not given or said.keys() & given.keys() == said.keys():
        return None
    for name, shown in said.items():
        opposed = name == "young adults" and "older adults" in given
        if name in given or (not opposed and _INCLUDES.get(name, set[str]()) & given.keys()):
            continue
        if _passes(family, name, said, given):
            continue
        others = [word for other, word in given.items() if other not in said] or list(given.values())
        kind: Kind = "species" if family == "species" else "population"
        return Finding(kind, f"claim speaks of {shown}, the source of {others[0]}")
    return None


def _passes(family: str, name: str, said: dict[str, str], given: dict[str, str]) -> bool:
    """Whether a group that the source does not name may stand in the claim all the same."""
    if family == "age":
        return (name == "adults" and not set(given) <= _CHILDISH | {"adolescents"}) or (
            name == "older adults" and "adults" in given and "adults" in said
        )
    if family in ("disease", "ethnicity", "work"):
        return bool(said.keys() & given.keys()) or len(given) > 2
    if family == "species":
        return name == "cells" and bool(said.keys() & given.keys())
    return False


def _excluded(claim: str, source: str) -> Iterator[Finding]:
    """Groups that the source says its finding does not hold for."""
    if _NEGATIVE.search(claim):
        return
    for match in _NOT.finditer(source):
        phrase = match["who"] or match["whom"]
        rest = source[: match.start()] + " " + source[match.end() :]
        for family, groups in _GROUPS.items():
            left_out, kept = _named(phrase, groups), _named(rest, groups)
            for name, shown in _named(claim, groups).items():
                if name in left_out and name not in kept:
                    kind: Kind = "species" if family == "species" else "population"
                    yield Finding(kind, f"claim speaks of {shown}, whom the source leaves out ('{match[0].strip()}')")
                    return
