"""Build the training mix.

python recipes/verifier/mix --data ../shared/data --out DIR [--config FILE] [--seed 0]
    [--licence permissive|all] [--without scifact]

or write the sets that a release is scored on, as they are:

python recipes/verifier/mix --data ../shared/data --released DIR [--cases FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a folder: python recipes/verifier/mix

from mix.build import Mix, build, released, write, write_released
from mix.folder import DataFolder
from mix.recipe import read_config
from vericite.errors import VeriCiteError


def _report(mix: Mix) -> str:
    lines = [
        f"{mix.manifest['train']} examples, labels {mix.manifest['labels']}, words {mix.manifest['premise_words']}"
    ]
    for source, kinds in mix.manifest["counts"].items():
        lines += [f"  {source:20} {kind:20} {labels}" for kind, labels in kinds.items()]
    lines += [f"  dev {name:25} {labels}" for name, labels in mix.manifest["dev"].items()]
    lines.append("left out, because a test set holds it:")
    lines += [
        f"  {row['from']:28} {row['reason']:12} {row['test']:18} {row['count']}" for row in mix.manifest["dropped"]
    ]
    lines.append(f"left out, because a dev set holds its claim or document: {mix.manifest['held_out_by_dev_document']}")
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python recipes/verifier/mix", description="Build the training mix.")
    parser.add_argument("--data", type=Path, required=True, help="the folder of datasets")
    made = parser.add_mutually_exclusive_group(required=True)
    made.add_argument("--out", type=Path, help="where the files of the mix go")
    made.add_argument("--released", type=Path, help="instead of a mix, write the sets that a release is scored on")
    parser.add_argument("--reworded", type=Path, help="pairs written by hand, to be a dev set of the mix")
    parser.add_argument(
        "--written", type=Path, action="append", default=[], help="claims written about texts of the data; repeatable"
    )
    parser.add_argument(
        "--paraphrased",
        type=Path,
        action="append",
        default=[],
        help="claims of the data said anew; repeatable, later lines go before",
    )
    parser.add_argument("--cases", type=Path, help="pairs written by hand, to be among the released sets")
    parser.add_argument("--config", type=Path, help="a recipe as JSON; what it leaves out keeps its default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--licence", choices=("all", "permissive"), default="all")
    parser.add_argument(
        "--without", action="append", default=[], metavar="SET", help="leave a set out; may be repeated"
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Arguments, build, print."""
    args = _parser().parse_args(arguments)
    try:
        config = read_config(args.config)
        data = DataFolder(args.data)
        if args.released:
            sets = released(data, config, args.seed, args.cases)
            write_released(sets, args.released)
            report = "\n".join(f"{len(examples):6} {name}" for name, examples in sets.items())
        else:
            permissive = args.licence == "permissive"
            chosen = {"permissive": permissive, "without": args.without, "reworded": args.reworded}
            chosen |= {"written": tuple(args.written), "paraphrased": tuple(args.paraphrased)}
            mix = build(data, config, args.seed, **chosen)
            write(mix, args.out)
            report = _report(mix)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(report + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
