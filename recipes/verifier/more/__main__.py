"""Make rows to train on beside the mix.

python recipes/verifier/more transfer --data DATA --mix MIX --out DIR     sets of other origins, a tenth held out
python recipes/verifier/more shortcuts --mix MIX --out ROWS.jsonl         rows that punish shortcuts
python recipes/verifier/more kinds --out ROWS.jsonl [--lines 3000]        made-up findings of kinds that fail
python recipes/verifier/more invented LINES.jsonl ... --out ROWS.jsonl    lines written after the mix was judged
python recipes/verifier/more passages --data DATA --mix MIX --out ROWS.jsonl [--most 100000]   for teachers to judge
python recipes/verifier/more second --rows ROWS.jsonl --out ROWS.jsonl    neutral rows for claims with one label
python recipes/verifier/more judged --mix MIX --held DIR/held --out FOLDER [--most 150]    files to judge runs by
python recipes/verifier/more believed --model FOLDER --rows ROWS.jsonl --out ROWS.jsonl --source NAME [--least 0.4]

``recipes/verifier/gpu arrays --more ROWS.jsonl`` puts them behind the mix.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a folder: python recipes/verifier/more

from mix.folder import DataFolder
from more.invented import invented
from more.judged import judged
from more.kinds import SEED, kinds
from more.passages import passages
from more.second import believed, second
from more.shortcuts import shortcuts
from more.transfer import transfer
from vericite.errors import VeriCiteError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python recipes/verifier/more", description="Make rows beside the mix.")
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("transfer")
    step.add_argument("--data", type=Path, required=True, help="the folder of data sets")
    step.add_argument("--mix", type=Path, required=True, help="what recipes/verifier/mix wrote")
    step.add_argument("--out", type=Path, required=True, help="a folder")
    step = steps.add_parser("shortcuts")
    step.add_argument("--mix", type=Path, required=True)
    step.add_argument("--out", type=Path, required=True)
    step = steps.add_parser("kinds")
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--lines", type=int, default=3000, help="findings of each kind")
    step.add_argument("--seed", type=int, default=SEED, help="another one for rows to score on")
    step = steps.add_parser("invented")
    step.add_argument("files", type=Path, nargs="+")
    step.add_argument("--out", type=Path, required=True)
    step = steps.add_parser("passages")
    step.add_argument("--data", type=Path, required=True)
    step.add_argument("--mix", type=Path, required=True)
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--most", type=int, default=100_000, help="rows")
    step = steps.add_parser("second")
    step.add_argument("--rows", type=Path, required=True)
    step.add_argument("--out", type=Path, required=True)
    step = steps.add_parser("judged")
    step.add_argument("--mix", type=Path, required=True)
    step.add_argument("--held", type=Path, required=True, help="the folder held of what transfer wrote")
    step.add_argument("--out", type=Path, required=True, help="a folder")
    step.add_argument("--most", type=int, default=150, help="rows of a file")
    step = steps.add_parser("believed")
    step.add_argument("--model", type=Path, required=True, help="a packed verifier or a checkpoint")
    step.add_argument("--rows", type=Path, required=True)
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--source", action="append", required=True, help="whose rows are checked; repeatable")
    step.add_argument("--least", type=float, default=0.4, help="probability of a row's own label that keeps it")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the step that the arguments name, and print what it found."""
    told = _parser().parse_args(arguments)
    try:
        if told.step == "transfer":
            report = transfer(DataFolder(told.data), told.mix, told.out)
        elif told.step == "shortcuts":
            report = shortcuts(told.mix, told.out)
        elif told.step == "kinds":
            report = kinds(told.out, told.lines, told.seed)
        elif told.step == "invented":
            report = invented(told.files, told.out)
        elif told.step == "passages":
            report = passages(DataFolder(told.data), told.mix, told.out, told.most)
        elif told.step == "second":
            report = second(told.rows, told.out)
        elif told.step == "judged":
            report = judged(told.mix, told.held, told.out, told.most)
        else:
            report = believed(told.model, told.rows, told.out, frozenset(told.source), told.least)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(report + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
