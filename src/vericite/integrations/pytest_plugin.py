"""The pytest plug-in: a fixture with one loaded judge for ``vericite.assert_supported``.

pytest loads this module at the start of every run in an environment with VeriCite, so it imports nothing else of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from vericite.models.contracts import Judge

_JUDGE = "vericite_judge"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting ``vericite_judge``."""
    parser.addini(
        _JUDGE, "Name of the judge of the fixture vericite_judge; `vericite judges` lists them.", default="bundled"
    )


@pytest.fixture(scope="session")
def vericite_judge(request: pytest.FixtureRequest) -> Judge:
    """The judge that the setting ``vericite_judge`` names, loaded once, for ``assert_supported(..., judge=...)``."""
    from vericite.verify.judges.registry import load_judge

    return load_judge(str(request.config.getini(_JUDGE)))
