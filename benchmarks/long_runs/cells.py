"""An experiment of 24 cells over the demonstration corpus, killed at random moments and resumed.

The tables must be byte for byte those of an experiment that was not killed. A language model on loopback counts its
calls: one whose reply was stored is not repeated.
"""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kills import VERICITE, run

from vericite.corpus import demo_questions
from vericite.lab.experiment.grid import CELLS
from vericite.pipeline.runs import RUNS
from vericite.records import to_json

DEPTHS = (2, 3, 5)
PROTOCOLS = ("vericite", "default", "early", "fast")
CONCURRENCY = 2


class Model(ThreadingHTTPServer):
    """A language model that says the same of each question and counts its calls."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Reply)
        self.calls: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def spec(self) -> str:
        """The name by which a plan asks it."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1#made"


class _Reply(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        """Answer after a moment."""
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        question = sent["messages"][-1]["content"]
        self.server.calls.append(question)
        time.sleep(0.1)
        cases = sum(map(ord, question)) % 97
        said = f"The sources speak of {cases} cases [1]. They speak of others as well [2]."
        body = json.dumps(
            {
                "id": "made",
                "model": "made",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            }
        ).encode()
        with suppress(OSError):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _experiment(work: Path, spec: str, questions: int) -> Path:
    asked = work / "questions.jsonl"
    asked.write_text("".join(to_json(question) + "\n" for question in demo_questions()), encoding="utf-8")
    plan = {"search": {"corpus": "demo", "by": "bm25", "rerank": "none"}, "llm": {"concurrency": CONCURRENCY}}
    axes = {
        "model": {"extractive": {}, "made": {"answer": {"llm": spec}}},
        "k": {str(k): {"search": {"k": k}} for k in DEPTHS},
        "judge": {name: {"check": {"protocol": name, "judge": "lexical"}} for name in PROTOCOLS},
    }
    content = {
        "name": "killed",
        "questions": {"from": str(asked), "sample": questions},
        "layout": "vericite-2",
        "plan": plan,
        "axes": axes,
    }
    file = work / "experiment.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def _stored(folder: Path) -> int:
    """Number of runs that are stored."""
    return sum(file.read_bytes().count(b"\n") for file in (folder / CELLS).glob(f"*/{RUNS}"))


def _tables(folder: Path) -> list[bytes]:
    return [
        subprocess.run([*VERICITE, "table", str(folder), "--as", form], check=True, capture_output=True).stdout
        for form in ("csv", "markdown")
    ]


def cells_run(work: Path, questions: int, kills: int, seed: int = 0) -> int:
    """Run the experiments and print the figures; the exit code is 1 if tables differ or a call was repeated."""
    work.mkdir(parents=True)
    model, chance = Model(), random.Random(seed)
    file = _experiment(work, model.spec, questions)
    count = 2 * len(DEPTHS) * len(PROTOCOLS)

    def command(folder: Path) -> list[str]:
        return [*VERICITE, "run", str(file), "--to", str(folder)]

    whole = run(command(work / "whole"), work / "a", lambda: _stored(work / "whole"))
    calls, model.calls = Counter(model.calls), []
    print(f"{count} cells, {questions} questions each: {whole.seconds:.0f} s, {sum(calls.values())} calls", flush=True)
    done, folder = 0, work / "killed"
    # At a number that is stored already, it is killed while it starts.
    for until in sorted(chance.randrange(count * questions) for _ in range(kills)):
        ran = run(command(folder), work / "b", lambda: _stored(folder), until, every=0.1)
        done += ran.killed
        print(f"killed after {ran.seconds:.0f} s, {_stored(folder)} of {count * questions} runs stored", flush=True)
    last = run(command(folder), work / "b", lambda: _stored(folder))
    again = Counter(model.calls)
    repeated = sum(again.values()) - sum(calls.values())
    # A call that was in flight at a kill had no reply that could be stored.
    allowed = done * CONCURRENCY
    same = _tables(work / "whole") == _tables(folder)
    print(f"killed {done} times; the last run took {last.seconds:.0f} s")
    print(f"calls repeated: {repeated} (at most {allowed} were in flight at a kill); others than before: "
          f"{len(again.keys() ^ calls.keys())}")  # fmt: skip
    print(f"tables, byte for byte: {'the same' if same else 'MISSED'}")
    model.shutdown()
    return 0 if same and done and 0 <= repeated <= allowed and again.keys() == calls.keys() else 1
