"""A head over sets of sources: what it learns, killed runs, and refused inputs."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from vericite.attribution import load_attributor
from vericite.attribution.features import FEATURES
from vericite.attribution.learned import HEAD, Head, logits_of
from vericite.errors import InputError, ModelCardError
from vericite.lab.train.configs import HeadConfig
from vericite.lab.train.examples import AttributionExample, ExampleSource, as_line
from vericite.lab.train.set_head import (
    Batch,
    Example,
    HeadRun,
    best_threshold,
    figures,
    fit_head,
    initial_weights,
    loss_and_gradients,
    shared,
    train_head,
)
from vericite.records import Document

CONFIG = HeadConfig(members=2, width=4, epochs=15)


def sets(count: int, seed: int) -> list[Example]:
    """Make sets in which the source with the largest first feature is the right one."""
    generator = np.random.default_rng(seed)
    found: list[Example] = []
    for number in range(count):
        inputs = generator.normal(size=(int(generator.integers(2, 6)), len(FEATURES)))
        wanted = (inputs[:, 0] == inputs[:, 0].max()).astype(float)
        places = tuple(range(len(inputs)))
        found.append(Example(inputs, wanted, np.ones(len(inputs)), f"g{number // 2}", places, 0))
    return found


def test_the_gradients_are_those_of_the_loss():
    generator = np.random.default_rng(0)
    weights = initial_weights(3, 2, generator)
    weights = {name: value + generator.normal(0, 0.3, np.shape(value)) for name, value in weights.items()}
    examples = [
        Example(
            generator.normal(size=(k, 3)),
            generator.integers(0, 2, k).astype(float),
            np.ones(k),
            str(k),
            tuple(range(k)),
            0,
        )
        for k in (1, 2, 4)
    ]
    batch = Batch.of(examples, np.zeros(3), np.ones(3))
    _, gradients = loss_and_gradients(weights, batch)
    for name, value in weights.items():
        for index in np.ndindex(np.shape(value)):
            moved = {key: np.array(value, dtype=float) for key, value in weights.items()}
            moved[name][index] += 1e-5
            more = loss_and_gradients(moved, batch)[0]
            moved[name][index] -= 2e-5
            less = loss_and_gradients(moved, batch)[0]
            assert np.asarray(gradients[name])[index] == pytest.approx((more - less) / 2e-5, abs=1e-6)


def test_training_and_use_compute_the_same():
    """In training many sets are padded to one batch; in use each set is computed alone."""
    generator = np.random.default_rng(1)
    weights = initial_weights(3, 2, generator)
    first = Example(generator.normal(size=(2, 3)), np.array([1.0, 0.0]), np.ones(2), "a", (0, 1), 0)
    other = Example(generator.normal(size=(5, 3)), np.zeros(5), np.ones(5), "b", tuple(range(5)), 0)
    together = loss_and_gradients(weights, Batch.of([first, other], np.zeros(3), np.ones(3)))[0]
    logits = np.concatenate([logits_of(weights, example.inputs) for example in (first, other)])
    wanted = np.concatenate([first.wanted, other.wanted])
    assert together == pytest.approx(float(np.mean(np.logaddexp(0, logits) - wanted * logits)), abs=1e-9)


def test_a_head_learns_what_only_the_whole_set_shows():
    members, mean, scale, threshold, reached = fit_head(sets(300, 0), [], sets(60, 1), HeadConfig(members=2, epochs=40))
    assert reached.f1 > 0.8
    assert 0 < threshold < 1
    again = fit_head(sets(300, 0), [], sets(60, 1), HeadConfig(members=2, epochs=40))
    assert again[0] == members
    assert np.array_equal(again[1], mean) and np.array_equal(again[2], scale)


def test_a_larger_share_contains_the_smaller_one_and_groups_stay_whole():
    every = sets(200, 2)
    some, more = shared(every, 0.2, 0), shared(every, 0.6, 0)
    assert 0 < len(some) < len(more) < len(every)
    assert {id(example) for example in some} <= {id(example) for example in more}
    chosen = {id(example) for example in some}
    assert {example.group for example in some}.isdisjoint(
        {example.group for example in every if id(example) not in chosen}
    )


def test_rightly_citing_nothing_scores_1():
    got = figures([frozenset(), frozenset({0}), frozenset({0, 1})], [frozenset(), frozenset({1}), frozenset({1})])
    assert got.f1 == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert got.exact == pytest.approx(1 / 3)


def test_the_middle_one_of_equal_thresholds_is_chosen():
    bar = best_threshold([np.array([0.9, 0.1])], [frozenset({0})])
    assert 0.4 < bar < 0.6


TOPICS = ("zinc", "copper", "iron", "selenium", "iodine", "calcium", "magnesium", "sodium")


def examples(count: int, seed: int, prefix: str) -> list[AttributionExample]:
    draw = random.Random(seed)
    found: list[AttributionExample] = []
    for number in range(1000 * seed, 1000 * seed + count):
        metal, *others = draw.sample(TOPICS, 3)
        sources = [ExampleSource(id=metal, text=f"In trial {number}, {metal} shortened colds by {number + 2} days.")]
        sources += [
            ExampleSource(id=other, text=f"The absorption of {other} was measured in {number + 9} adults.")
            for other in others
        ]
        draw.shuffle(sources)
        place = next(place for place, source in enumerate(sources, start=1) if source.id == metal)
        found.append(
            AttributionExample(
                id=f"{prefix}{number}",
                sentence=f"{metal.capitalize()} shortened colds by {number + 2} days.",
                sources=tuple(sources),
                supports=(place,),
                made_from="invented",
                group=f"{prefix}{number}",
            )
        )
    return found


def written(path: Path, found: list[AttributionExample]) -> Path:
    path.write_text("".join(f"{as_line(example)}\n" for example in found), encoding="utf-8")
    return path


def test_trained_head_finds_sources(tmp_path: Path, run_cli: Callable[..., object]):
    data = written(tmp_path / "data.jsonl", examples(24, 0, "t"))
    dev = written(tmp_path / "dev.jsonl", examples(8, 1, "d"))
    config = tmp_path / "config.json"
    config.write_text(CONFIG.model_dump_json(), encoding="utf-8")
    out = tmp_path / "head"
    asked = ("train", "attribution", "--data", data, "--dev", dev, "--out", out, "--config", config)
    printed = run_cli(*map(str, asked))
    assert printed.code == 0, printed.err
    assert "dev citation F1: 1" in printed.out
    head = Head.read(out / HEAD)
    assert json.loads((out / "manifest.json").read_text("utf-8"))["finished"] is True
    again = run_cli(*map(str, asked))
    assert again.code == 0
    assert Head.read(out / HEAD) == head
    documents = [
        Document.from_text("a", "Iodine was absorbed in 40 adults."),
        Document.from_text("b", "In a trial, zinc shortened colds by 4 days."),
    ]
    found = load_attributor(f"head:{out}").attribution("Zinc shortened colds by 4 days.", documents)
    assert found.answer.text == "Zinc shortened colds by 4 days [2]."
    assert found.by.startswith("learned.v1(set-head@")


@pytest.mark.slow
def test_a_killed_run_resumes(run_cli, tmp_path: Path):
    """The features computed before the kill are kept, and the head is the same."""
    data = written(tmp_path / "data.jsonl", examples(56, 0, "t"))
    dev = written(tmp_path / "dev.jsonl", examples(8, 1, "d"))
    config = tmp_path / "config.json"
    config.write_text(CONFIG.model_dump_json(), encoding="utf-8")

    def words(out: str) -> list[str]:
        given = ["train", "attribution", "--data", data, "--dev", dev, "--out", tmp_path / out, "--config", config]
        return [str(word) for word in given]

    command = [sys.executable, "-m", "vericite", *words("killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    numbers = tmp_path / "killed" / "numbers.jsonl"
    end = time.monotonic() + 60
    while not (numbers.exists() and numbers.stat().st_size) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    kept = numbers.read_bytes()
    assert kept and not (tmp_path / "killed" / HEAD).exists()
    for out in ("killed", "whole"):
        assert run_cli(*words(out)).code == 0
    assert numbers.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert (tmp_path / "killed" / HEAD).read_bytes() == (tmp_path / "whole" / HEAD).read_bytes()


def test_dev_examples_that_are_trained_on_are_refused(tmp_path: Path):
    found = examples(4, 0, "t")
    data, dev = written(tmp_path / "data.jsonl", found), written(tmp_path / "dev.jsonl", found[:1])
    with pytest.raises(InputError, match="development examples that are not trained on; found t0"):
        train_head(HeadRun((data,), dev, tmp_path / "out"), CONFIG)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "a", "sentence": "x", "sources": []}', "sources"),
        (
            '{"id": "a", "sentence": "x", "sources": [{"id": "s", "text": "t"}], "supports": [2]}',
            "from 1 to 1; found 2",
        ),
        ("nonsense", "Correct or remove that line"),
        ("", "found none"),
    ],
)
def test_bad_examples_are_named(tmp_path: Path, line: str, problem: str):
    data = tmp_path / "data.jsonl"
    data.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        train_head(HeadRun((data,), data, tmp_path / "out"), CONFIG)


def test_a_head_of_other_features_is_refused(tmp_path: Path):
    members, mean, scale, threshold, _ = fit_head(sets(40, 0), [], sets(20, 1), CONFIG)
    head = Head(
        name="x",
        version="1",
        made_by="set-features.v0(a, b)",
        features=FEATURES,
        mean=tuple(mean.tolist()),
        scale=tuple(scale.tolist()),
        members=tuple(members),
        threshold=threshold,
    )
    (tmp_path / HEAD).write_text(head.model_dump_json(), encoding="utf-8")
    with pytest.raises(ModelCardError, match=r"set-features\.v0"):
        load_attributor(f"head:{tmp_path}")
    (tmp_path / HEAD).write_text(head.model_dump_json().replace("v0(a", "v1(a"), encoding="utf-8")
    with pytest.raises(InputError, match="--by verifier"):
        load_attributor(f"head:{tmp_path}")
    (tmp_path / HEAD).write_text("{}", encoding="utf-8")
    with pytest.raises(ModelCardError, match="expected a head"):
        load_attributor(f"head:{tmp_path}")
