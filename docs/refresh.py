"""Run the commands and the programs shown in README.md and docs/, and put their real output in.

- A ``console`` block holds lines ``$ command``; what follows each is what it printed.
- A ``python`` block is run, offline and in a temporary folder that has ``examples/``. The blocks of a page share one
  namespace. If a ``text`` block follows, it is what the program printed. Signatures, which cannot be run, are ``py``
  blocks.
- The comment ``<!-- varies -->`` before a block: its output differs from machine to machine and is not compared.
- The comment ``<!-- while: vericite serve --port 8600 -->`` before a ``python`` block: this service runs meanwhile.

With --check nothing is written; the exit code says whether a shown output is stale or a program failed. The models'
scores differ a little with the kernels of a processor, so a decimal may differ by one in its last digit, or by 4 %.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
DECIMAL = re.compile(r"-?\d+\.\d+")
NEAR = 0.04
"""Relative difference between processors in the scores of 8-bit models."""
CONSOLE = re.compile(r"(?P<varies><!-- varies -->\n)?```console\n(?P<body>.*?)```", re.DOTALL)
PROGRAM = re.compile(
    r"(?:<!-- while: (?P<service>[^\n]*) -->\n)?(?P<program>```python\n(?P<body>.*?)```)"
    r"(?P<output>\n\n(?P<varies><!-- varies -->\n)?```text\n(?P<printed>.*?)```)?",
    re.DOTALL,
)
RUN_PROGRAMS = """
import contextlib, io, json, sys, traceback
outputs, namespace = [], {"__name__": "__main__"}
for program in json.load(sys.stdin):
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(program, "the program on the page", "exec"), namespace)
        except BaseException:
            error = traceback.format_exc()
    outputs.append({"printed": printed.getvalue(), "error": error})
json.dump(outputs, sys.stdout)
"""
SERVICE_STARTS_IN = 120
"""Seconds."""


def environment() -> dict[str, str]:
    """Variables for a command: an 80-column terminal without colour, this interpreter's commands first."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}"
    return {**inherited, "COLUMNS": "80", "NO_COLOR": "1", "PATH": path}


def run(command: str) -> str:
    """What a command prints, trailing spaces removed."""
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    return stripped(done.stdout + done.stderr)


def stripped(printed: str) -> str:
    """Output without trailing spaces and without empty lines at either end."""
    lines = "\n".join(line.rstrip() for line in printed.splitlines())
    return lines.strip("\n") + "\n" if lines.strip() else ""


def with_new_commands(text: str, keep_varying: bool) -> str:
    """The page with the output of every console block made anew."""

    def renew(block: re.Match[str]) -> str:
        if block["varies"] and keep_varying:
            return block[0]
        commands = [line for line in block["body"].splitlines() if line.startswith("$ ")]
        body = "\n".join(f"{command}\n{run(command[2:])}" for command in commands)
        return f"{block['varies'] or ''}```console\n{body}```"

    return CONSOLE.sub(renew, text)


def with_new_programs(text: str, keep_varying: bool) -> tuple[str, list[str]]:
    """The page with the output of every Python block made anew, and the errors of those that failed."""
    blocks = list(PROGRAM.finditer(text))
    if not blocks:
        return text, []
    outputs = run_programs(
        [block["body"] for block in blocks], next((b["service"] for b in blocks if b["service"]), None)
    )
    renewed = dict(zip([block.start() for block in blocks], outputs, strict=True))

    def renew(block: re.Match[str]) -> str:
        if not block["output"] or (block["varies"] and keep_varying):
            return block[0]
        before = block[0].removesuffix(block["output"])
        printed = stripped(renewed[block.start()]["printed"])
        return f"{before}\n\n{block['varies'] or ''}```text\n{printed}```"

    return PROGRAM.sub(renew, text), [output["error"] for output in outputs if output["error"]]


def run_programs(programs: list[str], service: str | None) -> list[dict[str, str]]:
    """What the programs of a page print, one after the other in one process, and how they failed."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        with running(service):
            done = subprocess.run(
                [sys.executable, "-c", RUN_PROGRAMS],
                input=json.dumps(programs),
                cwd=folder,
                env={**environment(), "VERICITE_OFFLINE": "1"},
                capture_output=True,
                text=True,
                check=False,
            )
    if done.returncode:
        return [{"printed": "", "error": done.stderr}] * len(programs)
    return json.loads(done.stdout)


@contextmanager
def running(service: str | None) -> Iterator[None]:
    """The service that a page's programs talk to, ready; None starts nothing."""
    if service is None:
        yield
        return
    port = re.search(r"--port (\d+)", service)
    assert port, f"expected --port NUMBER in the service of a page; found {service}"
    with tempfile.TemporaryDirectory() as state:
        command = f"exec {service} --set service.state={state}"
        process = subprocess.Popen(
            ["sh", "-c", command], cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until_ready(f"http://127.0.0.1:{port[1]}/readyz", process)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def wait_until_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    """Return when the service answers."""
    end = time.monotonic() + SERVICE_STARTS_IN
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError(f"expected the service to answer at {address} within {SERVICE_STARTS_IN} s; it did not")


def is_alike(before: str, after: str) -> bool:
    """Whether two texts are the same but for decimals that are as good as the same."""
    if DECIMAL.sub("", before) != DECIMAL.sub("", after):
        return False
    return all(map(_is_near, DECIMAL.findall(before), DECIMAL.findall(after)))


def _is_near(first: str, second: str) -> bool:
    last = 10 ** -min(len(number.partition(".")[2]) for number in (first, second))
    return abs(float(first) - float(second)) <= max(1.001 * last, NEAR * abs(float(first)))


def main() -> int:
    """Refresh the pages, or say which are stale."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="*", default=every, help="all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a shown output is stale")
    given = parser.parse_args()
    wrong = 0
    for page in given.pages:
        name = os.path.relpath(page, ROOT)
        before = page.read_text(encoding="utf-8")
        after, errors = with_new_programs(with_new_commands(before, given.check), given.check)
        for error in errors:
            wrong += 1
            print(f"{name}: a Python block failed\n{error}")
        if before != after and not (given.check and is_alike(before, after)):
            wrong += given.check
            print(f"{'stale' if given.check else 'refreshed'}: {name}")
            if not given.check:
                page.write_text(after, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
