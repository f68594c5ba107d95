"""Train verifiers on a GPU, from the mix to a checkpoint.

python recipes/verifier/gpu pool MIX POOL.jsonl                  pairs that nobody labelled
python recipes/verifier/gpu arrays MIX POOL.jsonl DATA.npz [--language tokenizer.json] [--more ROWS.jsonl ...]
                                                                 [--judged ROWS.jsonl ...]
python recipes/verifier/gpu base FOLDER DATA.npz BASE.npz [--layers N]   weights to travel: a base or a verifier
python recipes/verifier/gpu fit DATA.npz BASE --name N --out OUT [--config C] [--taught T.npy] [--label train,pool]
python recipes/verifier/gpu weights BASE STATE OUT               weights of a run that has not ended yet
python recipes/verifier/gpu shares DATA.npz BASE WEIGHTS 0.25 ...   dev of the base mixed with a run from it
python recipes/verifier/gpu mixed BASE WEIGHTS OUT --share 0.75   the weights of such a mix
python recipes/verifier/gpu mean DATA.npz OUT T.npy N:WEIGHT ... what teachers said together
python recipes/verifier/gpu kept DATA.npz SAID.npz T.npy language:0.6 encoder:0.4   what version 5 learnt from
python recipes/verifier/gpu checkpoint FOLDER DATA.npz OUT/N.safetensors CHECKPOINT

``pool``, ``arrays``, ``base`` and ``checkpoint`` run where VeriCite is installed with the extra [train]; ``fit`` and
``mean`` need torch, numpy and safetensors alone, and ``gguf`` where BASE is a language model's GGUF file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a folder: python recipes/verifier/gpu


def _pool(told: argparse.Namespace) -> None:
    from gpu.arrays import pool

    found = pool(told.mix / "train.jsonl")
    told.pool.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")


def _arrays(told: argparse.Namespace) -> None:
    from gpu.arrays import write
    from vericite.lab.train.data import TOKENIZER

    write(told.mix, told.pool, told.tokenizer or TOKENIZER, told.language, told.data, told.more, told.judged)


def _base(told: argparse.Namespace) -> None:
    import numpy as np

    from gpu.networks import pack_base

    pack_base(told.folder, np.load(told.data.with_name("words.npy")), told.base, told.layers, told.whole)


def _fit(told: argparse.Namespace) -> None:
    from gpu.fit import carry_out

    carry_out(told.data, told.base, told.config, told.name, told.out, told.taught, told.label, told.start)


def _weights(told: argparse.Namespace) -> None:
    from gpu.fit import weights_of_state

    weights_of_state(told.base, told.state, told.to)


def _shares(told: argparse.Namespace) -> None:
    from gpu.fit import report_shares

    report_shares(told.data, told.base, told.weights, told.shares)


def _mixed(told: argparse.Namespace) -> None:
    from gpu.fit import write_mix

    write_mix(told.base, told.weights, told.share, told.to)


def _mean(told: argparse.Namespace) -> None:
    from gpu.fit import mean_of

    mean_of(told.data, told.out, told.teachers, told.to)


def _kept(told: argparse.Namespace) -> None:
    from gpu.fit import kept

    kept(told.data, told.said, told.teachers, told.to)


def _checkpoint(told: argparse.Namespace) -> None:
    from dataclasses import replace

    import numpy as np
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    from gpu.networks import layers_of, to_checkpoint
    from vericite.lab.train.data import TOKENIZER
    from vericite.lab.train.network import CrossEncoder, load_network

    base = load_network(told.folder)
    weights = load_file(told.weights)
    words = np.load(told.data.with_name("words.npy"))
    network = CrossEncoder(replace(base.shape, num_hidden_layers=layers_of(weights)))
    # Of a base that was cut, the later layers go.
    held = {name: value for name, value in base.state_dict().items() if name in network.state_dict()}
    network.load_state_dict(to_checkpoint(weights, held, words))
    network.save(told.to)
    # A verifier that is trained further knows fewer words than BERT, and its own tokenizer counts them.
    own = base.shape.vocab_size != Tokenizer.from_file(str(TOKENIZER)).get_vocab_size()
    shutil.copyfile(told.folder / "tokenizer.json" if own else TOKENIZER, told.to / "tokenizer.json")


def main(arguments: list[str] | None = None) -> int:
    """Arguments, and the step that they name."""
    parser = argparse.ArgumentParser(prog="python recipes/verifier/gpu", description="Train verifiers on a GPU.")
    steps = parser.add_subparsers(dest="step", required=True)
    places = {
        "pool": (_pool, ("mix", "pool")),
        "arrays": (_arrays, ("mix", "pool", "data")),
        "base": (_base, ("folder", "data", "base")),
        "fit": (_fit, ("data", "base")),
        "weights": (_weights, ("base", "state", "to")),
        "shares": (_shares, ("data", "base", "weights")),
        "mixed": (_mixed, ("base", "weights", "to")),
        "mean": (_mean, ("data", "out", "to")),
        "kept": (_kept, ("data", "said", "to")),
        "checkpoint": (_checkpoint, ("folder", "data", "weights", "to")),
    }
    for name, (carry_out, paths) in places.items():
        step = steps.add_parser(name)
        step.set_defaults(carry_out=carry_out)
        for path in paths:
            step.add_argument(path, type=Path)
        if name == "arrays":
            step.add_argument(
                "--language", type=Path, help="tokenizer.json of a language model that is to be a teacher"
            )
            step.add_argument("--tokenizer", type=Path, help="of the base, where it is not BERT's whole one")
            step.add_argument("--more", type=Path, action="append", default=[], help="further rows; repeatable")
            step.add_argument("--judged", type=Path, action="append", default=[], help="as a dev file; repeatable")
        if name == "base":
            step.add_argument("--layers", type=int, help="the first so many alone")
            step.add_argument("--whole", action="store_true", help="in 32 bits, to continue from a trained model")
        if name == "shares":
            step.add_argument("shares", type=float, nargs="+", help="of the run: 0 is the base")
        if name == "mixed":
            step.add_argument("--share", type=float, required=True, help="of the run: 0 is the base")
        if name in ("mean", "kept"):
            step.add_argument("teachers", nargs="+", metavar="NAME:WEIGHT")
        if name == "fit":
            step.add_argument("--name", required=True)
            step.add_argument("--out", type=Path, required=True)
            step.add_argument("--config", type=Path)
            step.add_argument("--taught", type=Path)
            step.add_argument("--start", type=Path, help="begin at the weights of another base")
            step.add_argument("--label", default="", help="judge these parts afterwards, as train,pool")
    told = parser.parse_args(arguments)
    told.carry_out(told)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
