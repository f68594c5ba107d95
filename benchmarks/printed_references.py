"""How many fields of printed references are read right: invented works in 12 styles, and references typed by hand.

    python benchmarks/printed_references.py             # the half that nothing was tuned on
    python benchmarks/printed_references.py --half 0    # the half to work with, with its errors

Half of the works, in all their styles, are kept apart. So are half of the references typed by hand. No work exists.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "recipes/references"))

from invented import InventedWork
from vericite.records.manuscripts import Reference
from vericite.text.printed import folded, parse_reference

TYPED = Path(__file__).parent / "cases" / "printed_references.jsonl"

TITLES = """Early antibiotics for suspected sepsis in rural hospitals: a cluster randomised trial
Vitamin D and falls in older women
Does walking after meals lower blood glucose? A crossover study
Long-term outcomes of hip fracture surgery
The role of IL-6 in post-operative delirium
Statins, muscle pain and expectation: the SAMPLE-2 n-of-1 trial
Salt substitutes in kitchens of northern Peru
Hearing aids and the rate of cognitive decline
Home blood pressure monitoring with or without telephone support
Effects of low-dose colchicine on recurrent pericarditis
Metformin in pregnancy and the weight of children at age 8
Telehealth for heart failure: a systematic review and network meta-analysis
Patients' views of stopping dialysis
Air pollution and hospital admission for asthma in 12 European cities, 2005-2015
Bariatric surgery versus medical therapy for type 2 diabetes
What do junior doctors read?
A score to predict bleeding in patients taking two antiplatelet drugs
Sleep apnoea and atrial fibrillation: cause, marker or bystander?
CRISPR screening identifies regulators of ferroptosis in hepatocytes
Structure of a bacterial efflux pump at 2.8 Å resolution
Childhood vaccination in the wake of conflict
Magnesium sulfate for acute severe migraine in the emergency department
Breast density notification and anxiety
Association between shift work and colorectal cancer. A nested case-control study
Gut microbiota after antibiotics: resilience and collapse
Smoking cessation by text message among adolescents
Screening for abdominal aortic aneurysm in women
Serum uric acid and progression of chronic kidney disease
Tranexamic acid in caesarean delivery
Machine learning for reading chest radiographs: who is left out?
Physiotherapy or arthroscopy for meniscal tears
Intermittent fasting in type 1 diabetes: a pilot study
The economics of snakebite envenoming in West Africa
Community-acquired pneumonia treated for 3 or 7 days
Probiotics in preterm infants
Oral iron every other day
Cognitive behavioural therapy for insomnia delivered by nurses
Neonatal hypoglycaemia and later school performance
Amyloid imaging in the memory clinic
Proton pump inhibitors and fracture risk: an umbrella review
Mortality of people released from prison
E-cigarettes and lung function over 4 years
Dapagliflozin in heart failure with preserved ejection fraction after infarction
Malaria vaccines in seasonal transmission
Pain after knee replacement: five trajectories
Stroke units in middle-income countries
Adherence to inhaled corticosteroids measured by electronic devices
Late effects of childhood leukaemia
A randomized comparison of two catheters
Corticosteroids for severe community-acquired pneumonia: individual patient data meta-analysis
Yoga for chronic low back pain
Blood donation intervals in young men
Cardiac rehabilitation at home: the REACH-OUT programme
Cytokine release in severe dengue
Ketamine for treatment-resistant depression: how long does it last?
Reporting of harms in abstracts of trials
Fatigue in multiple sclerosis
Zinc for the common cold
HPV self-sampling in women who do not attend screening
Opioid prescriptions after dental surgery""".splitlines()

JOURNALS = (
    ("The New England Journal of Medicine", "N Engl J Med", "N. Engl. J. Med."),
    ("BMJ", "BMJ", "BMJ"),
    ("The Lancet", "Lancet", "Lancet"),
    ("Journal of the American Medical Association", "JAMA", "JAMA"),
    ("Annals of Internal Medicine", "Ann Intern Med", "Ann. Intern. Med."),
    ("PLOS Medicine", "PLoS Med", "PLoS Med."),
    ("European Heart Journal", "Eur Heart J", "Eur. Heart J."),
    ("Journal of Clinical Epidemiology", "J Clin Epidemiol", "J. Clin. Epidemiol."),
    ("Clinical Infectious Diseases", "Clin Infect Dis", "Clin. Infect. Dis."),
    ("Nature Medicine", "Nat Med", "Nat. Med."),
    ("Diabetes Care", "Diabetes Care", "Diabetes Care"),
    ("Cochrane Database of Systematic Reviews", "Cochrane Database Syst Rev", "Cochrane Database Syst. Rev."),
    ("Thorax", "Thorax", "Thorax"),
    ("Stroke", "Stroke", "Stroke"),
    ("International Journal of Epidemiology", "Int J Epidemiol", "Int. J. Epidemiol."),
    ("Archives of Disease in Childhood", "Arch Dis Child", "Arch. Dis. Child."),
)

FAMILIES = (
    "Smith,Okafor,van der Berg,García-López,O'Neill,Müller,Nguyen,de Souza,Lindström,Al-Rashid,Kim,Łukasik,MacDonald,"
    "Fernández Soto,Yamamoto,D'Angelo,Zhang,Ivanova,Le Roux,Öztürk,Brown,Haddad,St. John,Patel,Ng,Wójcik,Adeyemi,"
    "Rossi,Li,Haugen"
).split(",")
GIVEN = (
    "John A,Karen,Pieter,María José,Sean,Hans-Peter,Thi Minh,Ana,Erik G,Omar,Soo-Jin,Piotr,Fiona R,Luis,Kenji,Carla,Wei"
).split(",")


SUFFIXES = ["j.abc.", "s41-", "xyz"]


def works() -> list[InventedWork]:
    """Return the invented works."""
    draw = random.Random(5)
    found: list[InventedWork] = []
    for number, title in enumerate(TITLES):
        count = draw.choice([1, 2, 3, 4, 5, 8, 11])
        families = draw.sample(FAMILIES, count)
        first = draw.randint(1, 1900)
        electronic = draw.random() < 0.25
        found.append(
            InventedWork(
                title,
                tuple((family, draw.choice(GIVEN)) for family in families),
                draw.choice(JOURNALS),
                draw.randint(1986, 2024),
                str(draw.randint(1, 400)),
                str(draw.randint(1, 24)),
                f"e{first + 100000}" if electronic else str(first),
                "" if electronic else str(first + draw.randint(2, 14)),
                f"10.{draw.randint(1000, 9999)}/{draw.choice(SUFFIXES)}{number:03}.{draw.randint(10, 99)}",
            )
        )
    return found


def _short(given: str, stop: str = "", gap: str = "") -> str:
    return gap.join(f"{word[0]}{stop}" for word in given.replace("-", " ").split())


def _plain(work: InventedWork, most: int, last: str = ", ") -> str:
    names = [f"{family} {_short(given)}" for family, given in work.authors]
    if len(names) > most:
        return ", ".join(names[: 3 if most < 6 else most]) + ", et al"
    return ", ".join(names[:-1]) + (last if len(names) > 1 else "") + names[-1]


def _dotted(work: InventedWork, last: str, gap: str = " ", joint: str = ", ", most: int = 20) -> str:
    names = [f"{family}, {_short(given, '.', gap)}" for family, given in work.authors]
    if len(names) > most:
        return f"{names[0]} et al."
    return joint.join(names[:-1]) + (last if len(names) > 1 else "") + names[-1]


def _before(work: InventedWork, last: str, gap: str = " ", most: int = 20) -> str:
    names = [f"{_short(given, '.', gap)} {family}" for family, given in work.authors]
    if len(names) > most:
        return f"{names[0]} et al."
    return ", ".join(names[:-1]) + (last if len(names) > 1 else "") + names[-1]


def _stop(title: str) -> str:
    return title if title.endswith("?") else f"{title}."


def _cased(title: str) -> str:
    small = "of the in for and or to by on at a an after with without from".split()
    words = [word if word in small else word[:1].upper() + word[1:] for word in title.split()]
    return " ".join(words)


def _full(work: InventedWork) -> str:
    (family, given), *others = work.authors
    if len(work.authors) > 3:
        return f"{family}, {given}, et al"
    names = [f"{family}, {given}", *(f"{own} {name}" for name, own in others)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, and {names[-1]}"


STYLES: dict[str, Callable[[InventedWork], str]] = {
    "Vancouver": lambda w: (
        f"{_plain(w, 6)}. {_stop(w.title)} {w.journal[1]}. {w.year} Mar;{w.volume}"
        f"({w.issue}):{w.pages.replace('–', '-')}. doi: {w.doi}"
    ),
    "AMA": lambda w: (
        f"{_plain(w, 5)}. {_stop(w.title)} {w.journal[1]}. {w.year};{w.volume}"
        f"({w.issue}):{w.pages.replace('–', '-')}. doi:{w.doi}"
    ),
    "APA": lambda w: (
        f"{_dotted(w, ', & ')} ({w.year}). {_stop(w.title)} {w.journal[0]}, {w.volume}({w.issue}),"
        f" {w.pages}. https://doi.org/{w.doi}"
    ),
    "Harvard": lambda w: (
        f"{_dotted(w, ' and ', '')} ({w.year}) ‘{w.title}’, {w.journal[0]}, {w.volume}({w.issue}),"
        f" pp. {w.pages}. doi: {w.doi}."
    ),
    "Chicago": lambda w: (
        f"{_full(w)}. {w.year}. “{_stop(_cased(w.title))}” {w.journal[0]} {w.volume} ({w.issue}):"
        f" {w.pages}. https://doi.org/{w.doi}."
    ),
    "MLA": lambda w: (
        f"{_full(w)}. “{_stop(_cased(w.title))}” {w.journal[0]}, vol. {w.volume}, no. {w.issue},"
        f" {w.year}, pp. {w.pages}."
    ),
    "IEEE": lambda w: (
        f"{_before(w, ', and ', most=6)}, “{w.title},” {w.journal[2]}, vol. {w.volume}, no."
        f" {w.issue}, pp. {w.pages}, Mar. {w.year}, doi: {w.doi}."
    ),
    "Nature": lambda w: (
        f"{_dotted(w, ' & ', most=5)} {_stop(w.title)} {w.journal[2]} {w.volume}, {w.pages} ({w.year})."
    ),
    "Science": lambda w: (
        f"{_before(w, ', ', most=5)}, {_stop(w.title)} {w.journal[2]} {w.volume}, {w.pages} ({w.year})."
    ),
    "Elsevier": lambda w: (
        f"{_before(w, ', ', '')}, {w.title}, {w.journal[2]} {w.volume} ({w.year}) {w.pages}. https://doi.org/{w.doi}."
    ),
    "Springer": lambda w: (
        f"{_plain(w, 20)} ({w.year}) {_stop(w.title)} {w.journal[1]} {w.volume}:{w.pages}. https://doi.org/{w.doi}"
    ),
    "Lancet": lambda w: f"{_plain(w, 6)}. {_stop(w.title)} {w.journal[1]} {w.year}; {w.volume}: {w.pages}.",
    "ACS": lambda w: (
        f"{_dotted(w, '; ', joint='; ')} {_stop(_cased(w.title))} {w.journal[2]} {w.year}, {w.volume}"
        f" ({w.issue}), {w.pages}."
    ),
    "Cell": lambda w: (
        f"{_dotted(w, ', and ', '')} ({w.year}). {_stop(w.title)} {w.journal[2]} {w.volume},"
        f" {w.pages}. https://doi.org/{w.doi}."
    ),
    "Science, no titles": lambda w: f"{_before(w, ', ', most=5)}, {w.journal[2]} {w.volume}, {w.pages} ({w.year}).",
    "ACS, no titles": lambda w: f"{_dotted(w, '; ', joint='; ')} {w.journal[2]} {w.year}, {w.volume}, {w.pages}.",
}
_NO_ISSUE = ("Nature", "Science", "Elsevier", "Springer", "Lancet", "Cell", "Science, no titles", "ACS, no titles")
_NO_DOI = ("MLA", "Nature", "Science", "Lancet", "ACS", "Science, no titles", "ACS, no titles")
_JOURNAL_FORM = {"APA": 0, "Harvard": 0, "Chicago": 0, "MLA": 0, "Vancouver": 1, "AMA": 1, "Springer": 1, "Lancet": 1}


@dataclass
class Printed:
    """A printed reference, and what it says; a field that is not in ``fields`` is not compared."""

    style: str
    text: str
    fields: dict[str, str | int | None] = field(default_factory=dict[str, "str | int | None"])


def printed(half: int) -> Iterator[Printed]:
    """Yield the references of one half: each work in three or four styles, and those typed by hand."""
    names = list(STYLES)
    for number, work in enumerate(works()):
        if number % 2 != half:
            continue
        for step in range(3):
            style = names[(number // 2 + 5 * step) % len(names)]
            yield Printed(
                style,
                STYLES[style](work),
                {
                    "title": "" if "no titles" in style else work.title,
                    "first author": work.authors[0][0],
                    "year": work.year,
                    "journal": work.journal[_JOURNAL_FORM.get(style, 2)],
                    "volume": work.volume,
                    "issue": None if style in _NO_ISSUE else work.issue,
                    "pages": work.pages,
                    "doi": None if style in _NO_DOI else work.doi,
                },
            )
    lines = TYPED.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if number % 2 == half:
            record = json.loads(line)
            yield Printed("typed by hand", record.pop("text"), record)


def read(reference: Reference) -> dict[str, str | int | None]:
    """Return the fields of a parsed reference under the names used here."""
    first = reference.authors[0] if reference.authors else ""
    return {
        "title": reference.title,
        "first author": first,
        "year": reference.year,
        "journal": reference.journal,
        "volume": reference.volume,
        "issue": reference.issue,
        "pages": reference.pages,
        "doi": reference.doi,
    }


def is_same(name: str, expected: str | int | None, found: str | int | None) -> bool:
    """Whether a field was read right: case, punctuation and accents are ignored; of an author, the family name."""
    if name == "first author":
        rest = folded(str(found)).removeprefix(folded(str(expected or "")))
        return (rest != folded(str(found)) and len(rest) <= 12) if expected else not found
    return folded(str(expected or "")) == folded(str(found or ""))


def main() -> None:
    """Print the share of fields that are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", type=int, default=1, choices=(0, 1))
    half = parser.parse_args().half
    right: dict[str, list[bool]] = {}
    styles: dict[str, list[bool]] = {}
    for case in printed(half):
        fields = read(parse_reference(case.text, "1"))
        wrong = [name for name, expected in case.fields.items() if not is_same(name, expected, fields[name])]
        for name in case.fields:
            right.setdefault(name, []).append(name not in wrong)
        core = not {"title", "year", "first author"}.intersection(wrong)
        right.setdefault("title, year and first author", []).append(core)
        styles.setdefault(case.style, []).append(core)
        if half == 0 and wrong:
            print(case.style, "|", case.text)
            for name in wrong:
                print(f"    {name}: expected {case.fields[name]!r}; found {fields[name]!r}")
    for name, values in [*right.items(), *styles.items()]:
        print(f"{name:30} {sum(values):4} of {len(values):4}  {sum(values) / len(values):.3f}")


if __name__ == "__main__":
    main()
