"""Every component of pages and reports on one page, made by the scripts and styles that they use.

    python docs/components.py --out FILE    write the page (make site puts it next to docs/design.md)

``docs/pictures.py components`` takes its pictures.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from markupsafe import Markup

import vericite
from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.records import Change, Document
from vericite.reporting.data import ShownAnswer, with_verdicts
from vericite.reporting.page import ANSWER_SCRIPTS, PageParts, as_json, page_part, policy, template
from vericite.reporting.words import Wording
from vericite.text.citations import parse_answer

FOLDER = Path(__file__).parent / "components"
SERVICE = Path(vericite.__file__).parent / "serve" / "page" / "service.css"
TOKEN = re.compile(r"(--[a-z]+): light-dark\(#")
YES_OR_NO = "Does tight glucose control with intensive insulin therapy reduce mortality in critically ill adults?"
NOWHERE = "Does acupuncture shorten labour in sheep?"
REVIEW = Document.from_text(
    "review",
    "Beta-blockers reduce mortality in patients with heart failure and a reduced ejection fraction. Treatment is "
    "started at a low dose, and the dose is doubled every two weeks.",
    "Beta-blockers in heart failure: a review of randomised trials",
)
TRIAL = Document.from_text(
    "trial",
    "We randomised 2,647 adults with chronic heart failure to bisoprolol or placebo. Bisoprolol reduced deaths from "
    "any cause by a third.",
    "Bisoprolol in chronic heart failure: a randomised trial",
)
TEXT = (
    "Beta-blockers lower mortality in heart failure with reduced ejection fraction [1]. Treatment is started at a low "
    "dose [1]. Bisoprolol did not reduce deaths from any cause [2]. Carvedilol is better than metoprolol [3]."
)
CHANGE = Change(
    sentence=2, action="rewritten", before="Bisoprolol did not reduce deaths from any cause [2].",
    after="Bisoprolol reduced deaths from any cause by a third [2].", why="[2] contradicts it", round=1, by="quotation",
)  # fmt: skip


def data() -> dict[str, Any]:
    """Answers in the form that pages show, checked and repaired by the real parts, and the names of colours."""
    documents: dict[str, dict[str, Any]] = {}

    def row(item: Item) -> dict[str, Any]:
        return ShownAnswer(item.answer, documents).row(item) | {"remark": ""}

    def checked(text: str, *changes: Change) -> dict[str, Any]:
        answer = parse_answer("answer", text, [REVIEW, TRIAL], "Do beta-blockers help in heart failure?")
        (item,) = with_verdicts(System("components", (Item(answer.id, answer, changes=changes),))).items
        return row(item)

    def asked(question: str) -> dict[str, Any]:
        run = vericite.ask(question)
        return row(Item(run.question.id, run.answer, run.checked))

    before = checked(TEXT)
    after = checked(TEXT.replace(CHANGE.before, str(CHANGE.after)), CHANGE)
    return {
        "answer": before,
        "repaired": after | {"earlier": before},
        "asked": asked(YES_OR_NO),
        "refused": asked(NOWHERE),
        "documents": documents,
        "tokens": TOKEN.findall(page_part("components.css")),
    }


def page() -> str:
    """The page."""
    css = "".join(
        [page_part("components.css"), SERVICE.read_text("utf-8"), (FOLDER / "components.css").read_text("utf-8")]
    )
    script = "".join([*(page_part(name) for _, name in ANSWER_SCRIPTS), (FOLDER / "components.js").read_text("utf-8")])
    # The environment of the pages: the template extends theirs.
    body = template("base.html.j2").environment.from_string((FOLDER / "components.html.j2").read_text("utf-8"))
    words = Wording()
    return body.render(
        title="Components · VeriCite",
        language=words.language,
        t=words,
        policy=policy(css, script, PageParts((), ())),
        css=Markup(css),
        script=Markup(script),
        data=Markup(as_json(data())),
        words=Markup(as_json(words.of(name.removesuffix(".js") for _, name in ANSWER_SCRIPTS))),
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
