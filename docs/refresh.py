"""Runs the commands shown in README.md and docs/ and puts their real output in.

A block that begins with ```console holds lines ``$ command``; what follows each is what it printed.
With --check nothing is written; the exit code says whether a shown output is stale. The models' scores differ a
little with the kernels that a processor has, so a decimal may differ by one in its last digit, or by 2 %. A block after
the comment ``<!-- varies -->`` differs from machine to machine and is not compared.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DECIMAL = re.compile(r"-?\d+\.\d+")
NEAR = 0.04
"""Scores of 8-bit models differ by so much between processors."""
BLOCK = re.compile(r"(?P<varies><!-- varies -->\n)?```console\n(?P<body>.*?)```", re.DOTALL)


def shown(body: str) -> str:
    """The block's commands with what they print now."""
    parts: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            parts.append(f"{line}\n{run(line[2:])}")
    return "\n".join(parts)


def run(command: str) -> str:
    """What a command prints on an 80-column terminal, trailing spaces removed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = {**inherited, "COLUMNS": "80", "NO_COLOR": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    printed = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
    return printed.strip("\n") + "\n" if printed.strip() else ""


def refreshed(text: str, keep_varying: bool) -> str:
    """The text with every block's output made new."""

    def renew(block: re.Match[str]) -> str:
        if block["varies"] and keep_varying:
            return block[0]
        return f"{block['varies'] or ''}```console\n{shown(block['body'])}```"

    return BLOCK.sub(renew, text)


def is_alike(before: str, after: str) -> bool:
    """Whether two texts are the same but for decimals that are as good as the same."""
    if DECIMAL.sub("", before) != DECIMAL.sub("", after):
        return False
    return all(map(_is_near, DECIMAL.findall(before), DECIMAL.findall(after)))


def _is_near(one: str, other: str) -> bool:
    last = 10 ** -min(len(number.partition(".")[2]) for number in (one, other))
    return abs(float(one) - float(other)) <= max(1.001 * last, NEAR * abs(float(one)))


def main() -> int:
    """Refresh the pages, or say which are stale."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="*", default=every, help="all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a shown output is stale")
    given = parser.parse_args()
    stale = 0
    for page in given.pages:
        before = page.read_text(encoding="utf-8")
        after = refreshed(before, keep_varying=given.check)
        if before != after and not (given.check and is_alike(before, after)):
            stale += 1
            print(f"{'stale' if given.check else 'refreshed'}: {os.path.relpath(page, ROOT)}")
            if not given.check:
                page.write_text(after, encoding="utf-8")
    return 1 if given.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
