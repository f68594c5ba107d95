"""Users without a home folder, such as a number without a name in a container."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vericite.disk.files import cache_file, default_cache_folder, expanded
from vericite.errors import InputError
from vericite.llm import Settings
from vericite.verify import load_judge
from vericite.verify.judges.registry import default_threshold, judge_names
from vericite.verify.judges.wrapped import home, is_stored, stored_names, stored_path

EXAMPLES = Path(__file__).parents[2] / "examples"
NOBODY = "~nobody-has-this-name/x.json"


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless(_: int) -> None:
        raise KeyError("no such user")

    for name in ("HOME", "VERICITE_CACHE", "VERICITE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nameless)
    with pytest.raises(RuntimeError):
        Path.home()


def test_there_is_no_folder(homeless):
    assert (expanded("~/x"), expanded(NOBODY), expanded("x")) == (None, None, Path("x"))
    assert (default_cache_folder(), home()) == (None, None)


@pytest.mark.parametrize("cache", ["default", Path("~/own"), Path("~/own.sqlite")])
def test_the_cache_is_off_with_a_warning(homeless, caplog: pytest.LogCaptureFixture, cache):
    assert cache_file(cache, "judgements.sqlite") is None
    (told,) = caplog.messages
    assert told.startswith("expected a folder for the cache judgements.sqlite; found none")
    assert "Set VERICITE_CACHE to a folder" in told
    assert Settings(cache=cache).cache_file is None


def test_a_named_folder_is_used(homeless, caplog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path))
    assert cache_file("default", "llm.sqlite") == tmp_path / "llm.sqlite"
    monkeypatch.setenv("VERICITE_CACHE", "~nobody-has-this-name/cache")
    assert cache_file("default", "llm.sqlite") is None
    assert len(caplog.messages) == 1


def test_judgements_are_not_cached(homeless):
    assert stored_names() == ()
    assert not is_stored("mine")
    assert "bundled" in judge_names()
    assert default_threshold("bundled") == 0
    with pytest.raises(InputError, match=r"expected a folder for calibrated judges; found none.*Set VERICITE_HOME"):
        stored_path("mine")


@pytest.mark.parametrize("use", [load_judge, default_threshold])
def test_a_file_in_a_missing_home_is_refused(use):
    with pytest.raises(InputError, match=r"expected a calibrated judge's file; found ~nobody"):
        use(f"calibrated:{NOBODY}")


def test_commands_work_without_a_home(homeless, run_cli):
    checked = run_cli("check", str(EXAMPLES / "answers.jsonl"), "--judge", "lexical")
    assert (checked.code, "supported" in checked.out) == (0, True)
    assert run_cli("judge", "It is cheap.", "It is cheap.", "--judge", "lexical").code == 0
    listed = run_cli("judges", "--json")
    assert (listed.code, "bundled" in [item["name"] for item in json.loads(listed.out)]) == (0, True)
    refused = run_cli("calibrate", str(EXAMPLES / "labels.jsonl"), "--judge", "lexical", "--out", "mine")
    assert (refused.code, "Set VERICITE_HOME" in refused.err) == (2, True)
    refused = run_cli("check", str(EXAMPLES / "answers.jsonl"), "--judge", f"calibrated:{NOBODY}")
    assert (refused.code, "expected a calibrated judge's file" in refused.err) == (2, True)


def test_an_unreadable_home_has_no_judges(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """For example, HOME is still root's, and the user is another."""
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "mine.json").write_text("{}")
    monkeypatch.setenv("VERICITE_HOME", str(tmp_path))

    plain = os.stat

    def forbidden(path: object, *more: object, **others: object) -> object:
        if str(path).startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied")
        return plain(path, *more, **others)

    assert is_stored("mine")
    monkeypatch.setattr(os, "stat", forbidden)
    assert not is_stored("mine")
    assert stored_names() == ()
