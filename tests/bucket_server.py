"""The S3 server on loopback of ``benchmarks/bucket.py``, which counts requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest

from benchmark_modules import benchmark

BUCKET = "made-bucket"


def counting_server() -> Any:
    """One that does not run yet."""
    return benchmark("bucket").CountingServer()


@contextmanager
def empty_bucket(server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket that the usual variables lead to, as boto3 has it."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    made = boto3.resource("s3", endpoint_url=server.endpoint).create_bucket(Bucket=BUCKET)
    yield made
    made.objects.all().delete()
