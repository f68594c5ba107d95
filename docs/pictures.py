"""Pictures of the page, of reports and of annotation, in docs/images.

    python docs/pictures.py                    take all of them
    python docs/pictures.py answer bar         take these states
    python docs/pictures.py --out FOLDER       write them to another folder, to look at first
    python docs/pictures.py --list             name the states

A state is a page that somebody sees, such as a checked answer. It is taken in four views: light, dark, on a phone, and
printed. The texts are the demonstration corpus, ``examples/`` and the ones below, so the same source gives the same
pictures. Chromium takes them, driven by ``tests/browser.py``; ``tests/llm/server.py`` stands in for a language model.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.lab.annotate.page import make_annotation_page
from vericite.lab.annotate.schemes import load_scheme
from vericite.lab.annotate.units import units_of
from vericite.records import Document
from vericite.reporting.data import with_verdicts
from vericite.reporting.page import Page, write_page
from vericite.text.citations import parse_answer

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "llm")]

from components import NOWHERE, YES_OR_NO  # noqa: E402
from components import page as component_page  # noqa: E402
from server import ScriptedServer, stream  # noqa: E402

from browser import Browser  # noqa: E402

FOLDER = ROOT / "docs" / "images"
QUALITY, OF_WHOLE_PAGES = 60, 30
"""Of WebP, from 0 to 100."""
MOST = 3_000_000
"""Bytes of all pictures together."""

OPEN = "What are the cardiovascular effects of GLP-1 receptor agonists?"
WRITTEN = (
    "In people with type 2 diabetes, liraglutide lowered cardiovascular mortality in LEADER [1]. ",
    "Semaglutide prevents major cardiovascular events in people with obesity, even without diabetes [2]. ",
    "Meta-analysis of the class shows more strokes [1]. ",
)
ANSWER = (
    "Beta-blockers lower mortality in heart failure with reduced ejection fraction [1]. Treatment is started at a low "
    "dose [1]. Bisoprolol did not reduce deaths from any cause [2]. It also prevents migraine in most patients [2]. "
    "Carvedilol is better than metoprolol [3]. Most guidelines recommend them."
)
PASTED = """Strict glucose control does not save lives in intensive care \
([NICE-SUGAR](https://www.nejm.org/doi/full/10.1056/NEJMoa0810625)). It increased 90-day mortality.[^1]

[^1]: Intensive versus conventional glucose control in critically ill patients: the NICE-SUGAR trial."""
SOURCES = [
    {
        "id": "review",
        "title": "Beta-blockers in heart failure: a review of randomised trials",
        "text": "Beta-blockers reduce mortality in patients with heart failure and a reduced ejection fraction. "
        "Treatment is started at a low dose, and the dose is doubled every two weeks. Bradycardia and fatigue are "
        "the most common adverse effects.",
    },
    {
        "id": "trial",
        "title": "Bisoprolol in chronic heart failure: a randomised trial",
        "text": "We randomised 2,647 adults with chronic heart failure to bisoprolol or placebo. Bisoprolol reduced "
        "deaths from any cause by a third. Fewer patients on bisoprolol were admitted to hospital.",
    },
]
EXPLAIN = {"check": {"explain": True}}
TIME = "2026-11-02 09:30 UTC"
READY = "document.getElementById('acts') && !document.getElementById('acts').hidden"


@dataclass(frozen=True)
class View:
    """A way to look at a state."""

    name: str
    width: int
    height: int
    dark: bool = False
    media: str = "screen"


VIEWS = (
    View("light", 1280, 860),
    View("dark", 1280, 860, dark=True),
    View("phone", 390, 844),
    View("print", 794, 1123, media="print"),
)


class Studio:
    """A browser, a service with runs, and files of reports. ``show`` goes to a page in the view that is set."""

    def __init__(self, browser: Browser, address: str, model: ScriptedServer, folder: Path) -> None:
        self.browser = browser
        self.address = address
        self.model = model
        self.folder = folder
        self.runs: dict[str, str] = {}

    def run(self, name: str, path: str, body: Any = None, **given: Any) -> str:
        """The id of a run; the request is sent when the run is first needed."""
        if name not in self.runs:
            asked = {"json": body, "headers": {"accept": "text/event-stream"}, "timeout": 300, **given}
            kept = re.search(r'"run":\s*"(\w{32})"', (told := httpx2.post(f"{self.address}{path}", **asked).text))
            assert kept, f"expected the id of a run from {path}; found {told[-500:]}"
            self.runs[name] = kept[1]
        return self.runs[name]

    def show(self, path: str, wait: str = READY) -> None:
        """Open a page of the service."""
        self.browser.go(f"{self.address}{path}")
        self.browser.wait(wait)

    def fresh(self, path: str, wait: str = "!!document.querySelector('main')") -> None:
        """Open a page without what was typed before."""
        self.browser.go(f"{self.address}{path}")
        self.browser.run("sessionStorage.clear()")
        self.browser.go(f"{self.address}{path}?")
        self.browser.wait(wait)

    def put(self, selector: str, text: str) -> None:
        """Type into a field."""
        self.browser.run(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)}); field.value = {json.dumps(text)};"
            "for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, {bubbles: true})); })()"
        )

    def click(self, selector: str) -> None:
        """Click what a selector finds first."""
        self.browser.run(f"document.querySelector({json.dumps(selector)}).click()")

    def asked(self) -> str:
        """A yes-or-no question, answered without a model."""
        return self.run("asked", "/v1/ask", {"question": YES_OR_NO, "corpus": "demo"})

    def written(self) -> str:
        """An answer by a model, checked."""
        self.model.default = stream(WRITTEN)
        return self.run("written", "/v1/ask", {"question": OPEN, "corpus": "demo", "model": "example"})

    def checked(self) -> str:
        """A pasted answer, checked."""
        return self.run("checked", "/v1/check", {"answer": ANSWER, "documents": SOURCES, "plan": EXPLAIN})

    def refused(self) -> str:
        """A question that the corpus does not answer."""
        return self.run("refused", "/v1/ask", {"question": NOWHERE, "corpus": "demo"})

    def repaired(self) -> str:
        """The checked answer, repaired."""
        return self.run("repaired", f"/v1/runs/{self.checked()}/repair")

    def manuscript(self) -> str:
        """A manuscript in Word, checked."""
        examples = ROOT / "examples/manuscript"
        files = {
            "file": ("draft.docx", (examples / "draft.docx").read_bytes()),
            "documents": ("sources.jsonl", (examples / "sources.jsonl").read_bytes()),
        }
        return self.run("manuscript", "/v1/manuscripts", files=files, data={"plan": json.dumps(EXPLAIN)})

    def report(self, *systems: str) -> None:
        """A report of the example runs, made by the command."""
        made = self.folder / f"report-{len(systems)}.html"
        if not made.exists():
            vericite("report", *(str(ROOT / "examples/score" / name) for name in systems), "--gold",
                     str(ROOT / "examples/score/gold.jsonl"), "--out", str(made))  # fmt: skip
        self.browser.go(made.as_uri())
        self.browser.wait("!!document.querySelector('#reader .answer')")


def vericite(*arguments: str) -> None:
    """Run a command."""
    command = [sys.executable, "-m", "vericite", "--quiet", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def ask_form(studio: Studio) -> None:
    """The page as it is opened."""
    studio.fresh("/", "!!document.querySelector('.example')")


def streaming(studio: Studio) -> None:
    """An answer while a model writes it."""
    studio.model.default = stream([*WRITTEN, "And "], pause=2.0)
    studio.fresh("/")
    studio.put("#question", OPEN)
    studio.put("#model", "example")
    studio.click("#go")
    studio.browser.wait("(document.getElementById('draft') || {textContent: ''}).textContent.includes('Semaglutide')")


def answer(studio: Studio) -> None:
    """An answer by a model."""
    studio.show(f"/?run={studio.written()}")


def bar(studio: Studio) -> None:
    """A yes-or-no question."""
    studio.show(f"/?run={studio.asked()}")


def card(studio: Studio) -> None:
    """The card of a source at its chip."""
    studio.show(f"/?run={studio.written()}")
    studio.browser.run("document.querySelectorAll('#reader .chip')[1].focus()")
    studio.browser.run("document.querySelectorAll('#reader .chip')[1].dispatchEvent(new MouseEvent('mouseenter'))")
    studio.browser.wait("!!document.querySelector('.hovering')")


def refusal(studio: Studio) -> None:
    """A question that the sources do not answer."""
    studio.show(f"/?run={studio.refused()}")


def check_form(studio: Studio) -> None:
    """The form of an answer to check."""
    studio.fresh("/check")


def checked(studio: Studio) -> None:
    """An answer, checked."""
    studio.show(f"/check?run={studio.checked()}")


def reasons(studio: Studio) -> None:
    """A sentence of it, opened."""
    checked(studio)
    studio.browser.keys("n", "n", "n")


def manuscript(studio: Studio) -> None:
    """A manuscript, checked."""
    studio.show(f"/check?run={studio.manuscript()}")


def repair(studio: Studio) -> None:
    """What repair changed."""
    studio.show(f"/check?run={studio.repaired()}")


def runs(studio: Studio) -> None:
    """The list of runs."""
    for make in (studio.asked, studio.written, studio.refused, studio.checked, studio.repaired, studio.manuscript):
        make()
    studio.show("/runs", "!!document.querySelector('.runs li')")
    studio.browser.run(f"for (const time of document.querySelectorAll('time')) time.textContent = {json.dumps(TIME)}")


def report(studio: Studio) -> None:
    """A report of one system."""
    studio.report("first")


def systems(studio: Studio) -> None:
    """A report of two systems."""
    studio.report("first", "second")


def annotation(studio: Studio) -> None:
    """The page of an annotator."""
    made = studio.folder / "annotate.html"
    documents = [Document.from_text(source["id"], source["text"], source["title"]) for source in SOURCES]
    item = parse_answer("beta-blockers", ANSWER, documents, "Do beta-blockers help in heart failure?")
    system = with_verdicts(System("example", (Item(item.id, item),)), "vericite", "lexical")
    write_page(Page(make_annotation_page(units_of([system]), load_scheme("vericite"), "ann")), made)
    studio.browser.go(made.as_uri())
    studio.browser.wait("!!document.querySelector('.item')")


def components(studio: Studio) -> None:
    """All components (docs/components.py)."""
    made = studio.folder / "components.html"
    if not made.exists():
        made.write_text(component_page(), encoding="utf-8")
    studio.browser.go(made.as_uri())
    studio.browser.wait("document.querySelectorAll('.component').length > 15")


def library(studio: Studio) -> None:
    """The shelves, with one of own files."""
    studio.show("/library", "!!document.querySelector('.shelf')")
    if len(studio.browser.run("[...document.querySelectorAll('.shelf')].map((shelf) => shelf.id)")) < 2:
        studio.put("#name", "Handouts of the clinic")
        studio.browser.choose("#files", *(ROOT / "examples/corpus" / name for name in ("handout.md", "library.nbib")))
        studio.click("#make")
        studio.browser.wait("document.querySelectorAll('.shelf').length > 1")
        studio.browser.wait("document.querySelector('#status').textContent.includes('can be asked')")
        studio.show("/library", "document.querySelectorAll('.shelf').length > 1")


def paste(studio: Studio) -> None:
    """An answer of a chat assistant, pasted."""
    studio.fresh("/check")
    studio.browser.run(
        "(() => { const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', "
        f"{json.dumps(PASTED)}); document.querySelector('#answer').dispatchEvent("
        "new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })); })()"
    )
    studio.browser.wait("!document.querySelector('#pasted').hidden")


STATES: dict[str, Callable[[Studio], None]] = {
    "ask": ask_form,
    "streaming": streaming,
    "answer": answer,
    "card": card,
    "bar": bar,
    "refusal": refusal,
    "check": check_form,
    "paste": paste,
    "checked": checked,
    "reasons": reasons,
    "manuscript": manuscript,
    "repair": repair,
    "runs": runs,
    "library": library,
    "report": report,
    "systems": systems,
    "annotation": annotation,
    "components": components,
}


WHOLE = {"components"}
"""States that are taken from top to bottom."""
LEFT_OUT = {("ask", "print"), ("check", "print"), ("paste", "print"), ("components", "phone")}
"""Forms are not printed, and the components are on every other picture of a phone."""


def take(studio: Studio, state: str, view: View, folder: Path, form: str) -> int:
    """Take a state in a view; gives its size."""
    browser = studio.browser
    scheme = [
        {"name": "prefers-color-scheme", "value": "dark" if view.dark else "light"},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    size = {"width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": view.width < 600}
    browser.ask("Emulation.setScrollbarsHidden", hidden=True)
    browser.ask("Emulation.setDeviceMetricsOverride", **size)
    browser.ask("Emulation.setEmulatedMedia", media="", features=scheme)
    STATES[state](studio)
    browser.ask("Emulation.setEmulatedMedia", media=view.media, features=scheme)
    if state in WHOLE:
        size["height"] = browser.run("document.documentElement.scrollHeight")
        browser.ask("Emulation.setDeviceMetricsOverride", **size)
    quality = {} if form == "png" else {"quality": OF_WHOLE_PAGES if state in WHOLE else QUALITY}
    taken = base64.b64decode(browser.ask("Page.captureScreenshot", format=form, **quality)["data"])
    (folder / f"{state}-{view.name}.{form}").write_bytes(taken)
    return len(taken)


@contextmanager
def service(folder: Path, model: str) -> Iterator[str]:
    """The address of a service with the demonstration corpus and a model."""
    command = [sys.executable, "-m", "vericite", "serve", "--port", "0", "--llm", f"example={model}"]
    process = subprocess.Popen(
        [*command, "--set", f"service.state={folder / 'state'}"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONUNBUFFERED": "1", "VERICITE_CACHE": str(folder / "cache")},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+?:\d+", process.stdout.readline())
        assert found, "expected the service to print its address; it ended. Run: vericite serve"
        while httpx2.get(f"{found[0]}/readyz", timeout=60).status_code != 200:
            time.sleep(0.1)
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def main() -> None:
    """Take pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", nargs="*", metavar="STATE", help="states to take; default: all")
    parser.add_argument("--view", action="append", choices=[view.name for view in VIEWS], help="take this view only")
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--format", choices=("webp", "png"), default="webp")
    parser.add_argument("--list", action="store_true", help="name the states, and end")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{name:12} {(make.__doc__ or '').strip()}" for name, make in STATES.items()))
        return
    unknown = set(given.states) - set(STATES)
    if unknown:
        parser.error(f"expected states of --list; found {', '.join(sorted(unknown))}")
    given.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(ScriptedServer())
        address = stack.enter_context(service(folder, model.spec))
        studio = Studio(stack.enter_context(Browser(folder)), address, model, folder)
        for state in given.states or STATES:
            sizes = {
                view.name: take(studio, state, view, given.out, given.format)
                for view in VIEWS
                if (not given.view or view.name in given.view) and (state, view.name) not in LEFT_OUT
            }
            print(f"{state:12} {', '.join(f'{name} {size / 1000:.0f} kB' for name, size in sizes.items())}", flush=True)
    total = sum(path.stat().st_size for path in given.out.glob(f"*.{given.format}"))
    print(f"{total / 1e6:.2f} MB in {given.out}")
    if given.out == FOLDER and total > MOST:
        sys.exit(f"expected at most {MOST / 1e6:.0f} MB; found {total / 1e6:.2f} MB. Lower QUALITY")


if __name__ == "__main__":
    main()
