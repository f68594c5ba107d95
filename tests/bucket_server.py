"""The S3 server on loopback of ``benchmarks/bucket.py``, which counts requests."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

BUCKET = "made-bucket"
_FILE = Path(__file__).parents[1] / "benchmarks" / "bucket.py"


def counting_server() -> Any:
    """One that does not run yet."""
    spec = importlib.util.spec_from_file_location("benchmark_bucket", _FILE)
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CountingServer()


@contextmanager
def empty_bucket(server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket that the usual variables lead to, as boto3 has it."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    made = boto3.resource("s3", endpoint_url=server.endpoint).create_bucket(Bucket=BUCKET)
    yield made
    made.objects.all().delete()
