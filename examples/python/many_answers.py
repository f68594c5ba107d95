"""Check a file of answers as a stream, and keep the verdicts."""

from pathlib import Path

import vericite as vc

with Path("verdicts.jsonl").open("w") as out:
    for checked in vc.check_many(vc.read_answers("examples/answers.jsonl")):
        print(checked.model_dump_json(), file=out)
