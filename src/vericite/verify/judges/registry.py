"""Judges by name: our own, the user's calibrated ones, and those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast

from vericite.errors import InputError, UnknownNameError
from vericite.llm import Settings
from vericite.models.contracts import Judge
from vericite.models.folder import ModelFolder
from vericite.registry import Registry, expect_function
from vericite.verify.judges.bundled import BundledJudge, LexicalJudge, MeanJudge, alignscore, summac
from vericite.verify.judges.function import as_judge
from vericite.verify.judges.wrapped import (
    CalibratedJudge,
    is_stored,
    named_file,
    read_stored,
    stored_names,
    stored_path,
)

CALIBRATED = "calibrated"
"""The kind of judge that is read from a file; stored judges are named without it."""

MEAN = "mean"

Make = Callable[[str, Settings], Judge]


@dataclass(frozen=True)
class JudgeKind:
    """A kind of judge.

    ``takes`` names what follows its name and a colon; None if nothing does. ``extras`` are alternatives, one of which
    must be installed. ``keep``: the judge is cached for the next call, unless it depends on the environment, such as a
    key.
    """

    summary: str
    make: Make
    takes: str | None = None
    extras: tuple[str, ...] = ()
    keep: bool = True

    def usage(self, name: str) -> str:
        """How to name it."""
        return f"{name}:{self.takes}" if self.takes else name


def _packed(folder: str, _: Settings) -> Judge:
    if not folder:
        raise InputError("expected packed:FOLDER; found no folder. Name one that `vericite train pack` wrote.")
    return BundledJudge(ModelFolder.open(Path(folder).expanduser()))


def _nli(checkpoint: str, _: Settings) -> Judge:
    from vericite.verify.judges.hf import NliJudge

    name, _hash, labels = checkpoint.partition("#")
    return NliJudge(name, tuple(label.strip() for label in labels.split(",")) if labels else None)


def _seq2seq(style: str, causal: bool = False) -> Make:
    def make(rest: str, _: Settings) -> Judge:
        from vericite.verify.judges import hf

        checkpoint, named = hf.named_style(getattr(hf, style), rest)
        return (hf.CausalJudge if causal else hf.Seq2SeqJudge)(checkpoint, named)

    return make


def _alignscore(checkpoint: str, _: Settings) -> Judge:
    return alignscore(checkpoint)


def _summac(rest: str, _: Settings) -> Judge:
    return summac(rest)


def _llm(prompt: str, probabilities: bool = True) -> Make:
    def make(model: str, settings: Settings) -> Judge:
        from vericite.llm import LLM
        from vericite.verify.judges.llm import PROMPTS, LlmJudge, load_judge_prompt

        named, asked, file = model.rpartition("?prompt=")
        if not asked:
            return LlmJudge(LLM(model, settings), PROMPTS[prompt], probabilities)
        if not file:
            raise InputError("expected a prompt's file after ?prompt=, as in llm:MODEL?prompt=FILE.toml; found nothing")
        return LlmJudge(LLM(named, settings), load_judge_prompt(Path(file).expanduser()), probabilities)

    return make


def _mean(names: str, settings: Settings) -> Judge:
    parts = [name.strip() for name in names.split("+")]
    for name in parts:
        if not name or name.partition(":")[0] == MEAN:
            found = repr(name) if name else "nothing"
            raise InputError(
                f"expected {MEAN}:JUDGE+JUDGE, as in {MEAN}:bundled+packed:FOLDER; found {found} in {names!r}"
            )
        if calibrated_file(name) is not None:
            raise InputError(
                f"expected uncalibrated judges in {MEAN}:{names}; found {name!r}. "
                "Take the mean of the underlying judges, then calibrate it."
            )
    return MeanJudge([load_judge(name, settings) for name in parts])


def _calibrated(file: str, settings: Settings) -> Judge:
    return _from_file(named_file(file), settings)


_OWN: dict[str, JudgeKind] = {
    "bundled": JudgeKind("the verifier in this package; offline, without torch", lambda _, __: BundledJudge()),
    "packed": JudgeKind(
        "a verifier of your own or a larger one, packed by `vericite train pack`; offline, without torch",
        _packed,
        takes="FOLDER",
    ),
    "lexical": JudgeKind("counts shared words: a floor to compare against", lambda _, __: LexicalJudge()),
    "hf": JudgeKind(
        "any NLI checkpoint for sequence classification; labels its config does not name follow a #",
        _nli,
        "CHECKPOINT",
        ("hf",),
    ),
    "hf-seq2seq": JudgeKind(
        "a T5 trained as TRUE was: it writes 1 or 0; others, such as FLAN-T5, by a prompt: CHECKPOINT?prompt=FILE.toml",
        _seq2seq("TRUE"),
        "CHECKPOINT",
        ("hf",),
    ),
    "hf-attrscore": JudgeKind(
        "a T5 trained as AttrScore was: attributable, extrapolatory or contradictory",
        _seq2seq("ATTRSCORE"),
        "CHECKPOINT",
        ("hf",),
    ),
    "hf-attrscore-causal": JudgeKind(
        "a decoder trained as AttrScore's Alpaca was: it writes the same labels; others by CHECKPOINT?prompt=FILE.toml",
        _seq2seq("ATTRSCORE_CAUSAL", causal=True),
        "CHECKPOINT",
        ("hf",),
    ),
    "alignscore": JudgeKind(
        "AlignScore by its own package, whose checkpoints are pickles: name none that you do not trust; "
        "roberta-base@CHECKPOINT where its model is not roberta-large",
        _alignscore,
        "CHECKPOINT",
    ),
    "summac": JudgeKind("SummaC's zero-shot or trained model by its own package", _summac, "zs|conv"),
    "llm": JudgeKind(
        "a language model asked whether the source supports, contradicts or neither (BioACE, three labels); "
        "with ?prompt=FILE.toml behind the model, by a prompt of your own",
        _llm("ternary"),
        "MODEL",
        keep=False,
    ),
    "llm-binary": JudgeKind(
        "a language model asked whether the claim can be attributed to the source (BioACE, two labels)",
        _llm("binary"),
        "MODEL",
        keep=False,
    ),
    "llm-nuggets": JudgeKind(
        "a language model asked about the nuggets of claim and source (BioACE, four labels)",
        _llm("nuggets"),
        "MODEL",
        keep=False,
    ),
    "llm-eight": JudgeKind(
        "a language model asked for one of Reason and Verify's eight categories",
        _llm("eight"),
        "MODEL",
        keep=False,
    ),
    "llm-labels": JudgeKind(
        "as llm, but the model writes its label and gives no probabilities, as in the paper",
        _llm("ternary", probabilities=False),
        "MODEL",
        keep=False,
    ),
    MEAN: JudgeKind(
        "other judges together, by the mean of their probabilities: different ones correct each other",
        _mean,
        "JUDGE+JUDGE",
        keep=False,
    ),
    CALIBRATED: JudgeKind(
        "another judge, calibrated on labels of your own: the file that `vericite calibrate --out` wrote",
        _calibrated,
        "FILE",
        keep=False,
    ),
}


def _of_plugin(make: Callable[[str], Judge]) -> JudgeKind:
    """Wrap another package's callable, which takes the text after the colon of ``name:rest``."""
    found = expect_function(make)
    return JudgeKind("", lambda rest, _: found(rest), keep=False)


JUDGES = Registry("judge", _OWN, "vericite.judges", _of_plugin)
"""Judges by name; another package may add a callable that takes the text after the colon and returns a judge."""


def load_judge(name: str, settings: Settings | None = None) -> Judge:
    """Load a judge by name, such as ``bundled`` or ``hf:CHECKPOINT``; judges with weights are cached.

    Args:
        name: A name, for most kinds followed by a colon and an argument.
        settings: Settings of language models: limits, timeouts, cache.

    Raises:
        UnknownNameError: Unknown judge.
        InputError: The argument after the colon is missing, or not allowed.
        PluginError: Another package's judge cannot be loaded.
    """
    return (_kept if is_kept(name) else _loaded)(name, settings or Settings())


def expect_judge(name: str) -> None:
    """Check that a judge with this name exists, without loading it.

    Raises:
        UnknownNameError: Unknown judge.
        InputError: The argument after the colon is missing, or not allowed.
    """
    kind, _, rest = name.partition(":")
    if kind in JUDGES.own:
        _refuse_misuse(kind, rest)
    elif kind not in JUDGES and (rest or not is_stored(kind)):
        raise UnknownNameError("judge", kind, judge_names())


def is_kept(name: str) -> bool:
    """Whether the judge may be cached: not if it asks a service, because its key may change."""
    kind = name.partition(":")[0]
    return kind in JUDGES.own and JUDGES[kind].keep


def _loaded(name: str, settings: Settings) -> Judge:
    expect_judge(name)
    kind, _, rest = name.partition(":")
    if kind in JUDGES.own:
        return JUDGES[kind].make(rest, settings)
    return _from_plugin(kind, rest, settings) if kind in JUDGES else _from_file(stored_path(kind), settings)


_kept = lru_cache(maxsize=8)(_loaded)


def _refuse_misuse(kind: str, rest: str) -> None:
    takes = JUDGES[kind].takes
    if takes and not rest:
        raise InputError(f"expected {kind}:{takes}; found nothing after {kind!r}. `vericite judges` says more")
    if rest and not takes:
        raise InputError(f"expected {kind!r} alone; found {rest!r} after it")


def judge_names() -> tuple[str, ...]:
    """Return all names of judges."""
    return (*JUDGES, *own_names())


def own_names() -> tuple[str, ...]:
    """Return the names of the user's calibrated judges, except those that other judges have."""
    return tuple(name for name in stored_names() if name not in JUDGES)


def default_threshold(judge: Judge | str) -> float:
    """Return the default ``abstain_below`` of a judge; 0 for most.

    Raises:
        InputError: The file of a calibrated judge cannot be used.
    """
    if not isinstance(judge, str):
        return judge.abstain_below if isinstance(judge, CalibratedJudge) else 0.0
    path = calibrated_file(judge)
    return 0.0 if path is None else read_stored(path).abstain_below


def calibrated_file(name: str) -> Path | None:
    """Return the file of a calibrated judge; None for other names.

    Raises:
        InputError: The path starts with an unknown home folder.
    """
    kind, _, rest = name.partition(":")
    if kind == CALIBRATED and rest:
        return named_file(rest)
    return stored_path(name) if name in own_names() else None


def _from_file(path: Path, settings: Settings) -> Judge:
    stored = read_stored(path)
    if calibrated_file(stored.judge) is not None:
        raise InputError(f"expected a judge that is not calibrated itself in {path}; found {stored.judge!r}")
    return CalibratedJudge(load_judge(stored.judge, settings), stored, path.stem)


def _from_plugin(name: str, rest: str, settings: Settings) -> Judge:
    made = as_judge(JUDGES[name].make(rest, settings))
    return cast("Judge", JUDGES.expect(name, made, "judge"))
