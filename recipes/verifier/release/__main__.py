"""Take a step towards a release.

python recipes/verifier/release STEP …, where STEP is one of:

  teach      have one model or several judge the pairs that another learns from
  average    average the weights of runs that began at the same ones
  score      score a verifier on development files
  exits      let pairs that are surely neutral exit early
  gate       say whether packed weights may be released
  calibrate  fit their temperature, show risk against coverage
  precisions find from which probability on supported verdicts are right often enough
  decide     compare protocols on whole documents
  parts      measure what parts of the default protocol are worth
  evaluate   print the release table on the reported test sets
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a folder: python recipes/verifier/release

from release import decide, evaluate, exits, gate, parts, precisions, score, teach

STEPS = {
    "teach": teach.teach_main,
    "average": teach.average_main,
    "score": score.main,
    "exits": exits.main,
    "gate": gate.gate_main,
    "calibrate": gate.calibrate_main,
    "precisions": precisions.main,
    "decide": decide.main,
    "parts": parts.main,
    "evaluate": evaluate.main,
}


def main(arguments: list[str]) -> int:
    """Run the step that the first argument names."""
    if not arguments or arguments[0] not in STEPS:
        sys.stdout.write(f"{__doc__}\n")
        return 0 if arguments in (["-h"], ["--help"]) else 2
    return STEPS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
