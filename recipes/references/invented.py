"""Invented works, and references to them that are sound, altered in one field, or to works that do not exist.

No work, author or DOI exists. Journals are real names with their abbreviations.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vericite.corpus.manuscript.works import PublishedWork
from vericite.records import Document, Section
from vericite.records.manuscripts import Reference, ReferenceProblemKind

DRUGS = """Metformin;Low-dose aspirin;Vitamin D;Colchicine;Dapagliflozin;Tranexamic acid;Ketamine;Magnesium sulfate;
Intravenous iron;Probiotics;Early antibiotics;Home monitoring;Telehealth;Cognitive behavioural therapy;Yoga;Zinc;
Salt substitutes;Hearing aids;Screening;Physiotherapy;Beta-blockers;Statins;Corticosteroids;Rivaroxaban;Semaglutide;
Oxytocin;Intermittent fasting;Nurse-led care;A text-message programme;Melatonin""".replace("\n", "").split(";")
CONDITIONS = """heart failure;type 2 diabetes;hip fracture;chronic kidney disease;sepsis;severe asthma;
atrial fibrillation;depression;chronic low back pain;community-acquired pneumonia;recurrent pericarditis;
knee osteoarthritis;insomnia;
migraine;multiple sclerosis;preterm birth;postpartum haemorrhage;delirium;gout;COPD;stroke;hypertension;obesity;
colorectal cancer;iron-deficiency anaemia;malaria;tuberculosis;psoriasis;epilepsy;dementia""".replace("\n", "").split(
    ";"
)
PEOPLE = """older women;older men;children;adolescents;pregnant women;nursing homes;primary care;rural hospitals;
intensive care;Japan;northern Peru;low-income countries;veterans;young adults;kidney transplant recipients;infants;
people over 80;the emergency department;South Asia;health workers""".replace("\n", "").split(";")
KINDS = """a randomised controlled trial;a systematic review and meta-analysis;a cohort study;a pilot study;
a cluster randomised trial;a nested case-control study;long-term follow-up;a qualitative study;
an interrupted time series;two-year results""".replace("\n", "").split(";")
FORMS = (
    "{drug} for {condition} in {people}: {kind}",
    "{drug} and the risk of {condition} among {people}",
    "Effect of {drug} on {condition} in {people}. {kind}",
    "Does {drug} prevent {condition} in {people}?",
    "{drug} versus usual care in {people} with {condition}: {kind}",
    "Mortality after {condition} in {people} treated with {drug}",
    "{drug} in {condition}: experience from {people}",
)
JOURNALS = (
    ("The New England Journal of Medicine", "N Engl J Med", "N. Engl. J. Med."),
    ("BMJ (Clinical research ed.)", "BMJ", "BMJ"),
    ("Lancet (London, England)", "Lancet", "Lancet"),
    ("JAMA", "JAMA", "JAMA"),
    ("Annals of Internal Medicine", "Ann Intern Med", "Ann. Intern. Med."),
    ("PLoS Medicine", "PLoS Med", "PLoS Med."),
    ("European Heart Journal", "Eur Heart J", "Eur. Heart J."),
    ("Journal of Clinical Epidemiology", "J Clin Epidemiol", "J. Clin. Epidemiol."),
    ("Clinical infectious diseases : an official publication of the Infectious Diseases Society of America",
     "Clin Infect Dis", "Clin. Infect. Dis."),
    ("Nature Medicine", "Nat Med", "Nat. Med."),
    ("Diabetes Care", "Diabetes Care", "Diabetes Care"),
    ("The Cochrane Database of Systematic Reviews", "Cochrane Database Syst Rev", "Cochrane Database Syst. Rev."),
    ("Thorax", "Thorax", "Thorax"),
    ("International Journal of Epidemiology", "Int J Epidemiol", "Int. J. Epidemiol."),
    ("Archives of Disease in Childhood", "Arch Dis Child", "Arch. Dis. Child."),
    ("Proceedings of the National Academy of Sciences of the United States of America", "Proc Natl Acad Sci U S A",
     "Proc. Natl. Acad. Sci. U. S. A."),
    ("American Journal of Respiratory and Critical Care Medicine", "Am J Respir Crit Care Med",
     "Am. J. Respir. Crit. Care Med."),
    ("Journal of the American Society of Nephrology", "J Am Soc Nephrol", "J. Am. Soc. Nephrol."),
)  # fmt: skip
FAMILIES = """Smith,Okafor,van der Berg,García-López,O'Neill,Müller,Nguyen,de Souza,Lindström,Al-Rashid,Kim,Łukasik,
MacDonald,Yamamoto,D'Angelo,Zhang,Ivanova,Le Roux,Öztürk,Brown,Haddad,Patel,Ng,Wójcik,Adeyemi,Rossi,Li,Haugen,Chen,
Johnson,Jones,Kowalski,Silva,Dubois,Schmidt,Tanaka,Park,Hansen,Novak,Mbeki,Thompson,Wright,Garner,Sato,Bauer,Costa,
Fischer,Moreau,Kaya,Hussain,Wang,Singh,Cohen,Murphy,Olsen,Petrov,Ricci,Varga,Eriksson,Mwangi""".replace("\n", "").split(
    ","
)
GIVEN = "John A,Karen,Pieter,María José,Sean,Hans-Peter,Thi Minh,Ana,Erik G,Omar,Soo-Jin,Piotr,Fiona R,Wei".split(",")


@dataclass(frozen=True)
class InventedWork:
    """An article as printed styles need it; ``authors`` are family and given names."""

    title: str
    authors: tuple[tuple[str, str], ...]
    journal: tuple[str, str, str]
    year: int
    volume: str
    issue: str
    first_page: str
    last_page: str
    doi: str

    @property
    def pages(self) -> str:
        """First and last page, joined by a dash as in print."""
        return f"{self.first_page}–{self.last_page}" if self.last_page else self.first_page


@dataclass(frozen=True)
class MadeWork(InventedWork):
    """An invented article of the corpus, with its number and the parts that its title was made of."""

    number: int
    parts: tuple[str, str, str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Authors as PubMed writes them."""
        return tuple(
            f"{family} {''.join(w[0] for w in given.replace('-', ' ').split())}" for family, given in self.authors
        )

    @property
    def work(self) -> PublishedWork:
        """The work as PubMed describes it."""
        document = Document(
            id=str(30_000_000 + self.number),
            pmid=str(30_000_000 + self.number),
            doi=self.doi,
            title=self.title if self.title.endswith("?") else f"{self.title}.",
            sections=(Section(text=f"A study of {self.parts[1]} in {self.parts[2]}."),),
            journal=self.journal[0],
            year=self.year,
            authors=self.names,
            publication_types=("Journal Article",),
        )
        # PubMed writes only the digits of the last page that differ: 1498-509.
        same = next((n for n, (a, b) in enumerate(zip(self.first_page, self.last_page, strict=False)) if a != b), 0)
        last = self.last_page[same:] if len(self.last_page) == len(self.first_page) else self.last_page
        pages = f"{self.first_page}-{last}" if last else self.first_page
        return PublishedWork(document, self.journal[:2], (self.year,), self.volume, pages)


def made_works(draw: random.Random, count: int) -> list[MadeWork]:
    """Return works of which two thirds are close to another in title, and some of those by its first author."""
    found: list[MadeWork] = []
    titles: set[str] = set()
    while len(found) < count:
        base = draw.choice(found) if found and draw.random() < 0.67 else None
        parts = list(base.parts) if base else [draw.choice(names) for names in (DRUGS, CONDITIONS, PEOPLE, KINDS)]
        form = next(f for f in FORMS if _titled(f, base.parts) == base.title) if base else draw.choice(FORMS)
        if base:
            at = draw.randrange(4)
            parts[at] = draw.choice((DRUGS, CONDITIONS, PEOPLE, KINDS)[at])
        title = _titled(form, parts)
        if title in titles:
            continue
        titles.add(title)
        authors = [(family, draw.choice(GIVEN)) for family in draw.sample(FAMILIES, draw.choice([1, 2, 3, 4, 6, 9]))]
        if base and draw.random() < 0.3:
            authors = [base.authors[0], *(author for author in authors if author[0] != base.authors[0][0])]
        page, electronic = draw.randint(1, 1900), draw.random() < 0.2
        number = len(found)
        found.append(
            MadeWork(
                title, tuple(authors), draw.choice(JOURNALS), draw.randint(1988, 2025),
                str(draw.randint(1, 400)), str(draw.randint(1, 24)), f"e{page + 100000}" if electronic else str(page),
                "" if electronic else str(page + draw.randint(2, 14)),
                f"10.{draw.randint(1000, 9999)}/{draw.choice(['j.abc.', 's41-', 'xyz'])}{number:05}", number,
                tuple(parts),
            )
        )  # fmt: skip
    return found


def _titled(form: str, parts: tuple[str, ...] | list[str]) -> str:
    drug, condition, people, kind = parts
    title = form.format(drug=drug if form.startswith("{drug}") else drug[0].lower() + drug[1:], condition=condition,
                        people=people, kind=kind)  # fmt: skip
    before, stop, after = title.partition(". ")
    return f"{before}{stop}{after[:1].upper()}{after[1:]}"


@dataclass(frozen=True)
class MadeReference:
    """A reference as an author writes it.

    ``cited`` is the work as the reference states it, ``work`` the number of the work that it means, None for one that
    does not exist, and ``altered`` the problem that the check has to name.
    """

    cited: MadeWork
    work: int | None
    altered: ReferenceProblemKind | None = None


ALTERATIONS: tuple[ReferenceProblemKind, ...] = (
    "title differs", "authors differ", "year differs", "journal differs", "volume differs", "pages differ", "wrong DOI",
)  # fmt: skip


def made_references(
    draw: random.Random, works: list[MadeWork], count: int, wrong: float = 0.1
) -> Iterator[MadeReference]:
    """Yield references; of the share ``wrong`` a half is invented, and a half altered in one field."""
    altered = 0
    for number, work in enumerate(draw.sample(works, count)):
        if number >= round(wrong * count):
            yield MadeReference(work, work.number)
        elif number % 2:
            yield MadeReference(_invented(draw, works), None)
        else:
            kind = ALTERATIONS[altered % len(ALTERATIONS)]
            altered += 1
            yield MadeReference(_altered(draw, work, works, kind), work.number, kind)


def _invented(draw: random.Random, works: list[MadeWork]) -> MadeWork:
    """Return a work that does not exist, put together of works that do, as language models do.

    Half of them have the authors, the journal and the year of one work, and a title that they never wrote.
    """
    titles = {work.title for work in works}
    one, two, three = draw.sample(works, 3)
    while True:
        parts = [draw.choice(names) for names in (DRUGS, CONDITIONS, PEOPLE, KINDS)]
        title = _titled(draw.choice(FORMS), parts)
        if title not in titles:
            break
    borrowed = draw.random() < 0.5
    return replace(
        one, title=title, authors=one.authors if borrowed else two.authors,
        year=one.year if borrowed else draw.randint(1990, 2025), volume=three.volume, issue=two.issue,
        first_page=str(draw.randint(1, 1800)), last_page="",
        doi=f"10.{draw.randint(1000, 9999)}/x{draw.randint(1, 9**6)}",
    )  # fmt: skip


def _altered(draw: random.Random, work: MadeWork, works: list[MadeWork], kind: ReferenceProblemKind) -> MadeWork:
    other = draw.choice([w for w in works if w.journal != work.journal and w.authors[0] != work.authors[0]])
    if kind == "title differs":
        words = work.title.split()
        places = [at for at, word in enumerate(words) if len(word) > 4 and word.isalpha()]
        others = ("selected", "healthy", "chronic", "early", "severe", "urban", "intensive")
        words[draw.choice(places)] = draw.choice([other for other in others if other not in words])
        return replace(work, title=" ".join(words))
    if kind == "authors differ":
        family = draw.choice([name for name in FAMILIES if name not in dict(work.authors)])
        at = draw.randrange(min(3, len(work.authors)))
        authors = [*work.authors[:at], (family, "Jo"), *work.authors[at + 1 :]]
        return replace(work, authors=tuple(authors))
    if kind == "wrong DOI":
        return replace(work, doi=other.doi)
    changed: dict[ReferenceProblemKind, dict[str, object]] = {
        "year differs": {"year": work.year + draw.choice([-10, -3, -2, -1, 1, 2, 3, 10])},
        "journal differs": {"journal": other.journal},
        "volume differs": {"volume": str(int(work.volume) + draw.randint(1, 30))},
        "pages differ": {"first_page": str(draw.randint(2000, 2500)), "last_page": ""},
    }
    return replace(work, **changed[kind])  # pyright: ignore[reportArgumentType]


def as_record(draw: random.Random, key: str, cited: MadeWork, whole: bool = False) -> Reference:
    """Return a reference as a reference manager or a parser gives it: authors cut, parts missing, cases changed.

    With ``whole`` nothing is missing.
    """

    def kept(share: float) -> bool:
        return whole or draw.random() < share

    most = draw.choice([1, 3, 6, 20])
    title = cited.title.title() if draw.random() < 0.2 else cited.title
    if not whole and draw.random() < 0.05:
        title = title.partition(":")[0]
    return Reference(
        key=key,
        title=title if kept(0.97) else "",
        authors=cited.names if whole else cited.names[:most] if kept(0.97) else (),
        journal=draw.choice(cited.journal) if kept(0.95) else None,
        year=cited.year if kept(0.97) else None,
        volume=cited.volume if kept(0.9) else None,
        pages=cited.pages if kept(0.9) else None,
        doi=cited.doi if whole or draw.random() < 0.5 else None,
    )
