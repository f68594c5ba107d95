"""With ``--offline`` no command reaches another machine, whatever the address: also not in native code."""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import no_internet_sockets
from vericite.network.offline import BlockedConnectionError, hold_offline

EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWERS, MARKDOWN = str(EXAMPLES / "answers.jsonl"), str(EXAMPLES / "formats" / "markdown.md")
QUESTION = "Does levodopa improve the symptoms of Parkinson's disease?"
BUCKETS = ["s3://some-bucket/x.jsonl", "S3://some-bucket/x.jsonl"]
PLACES = [
    *BUCKETS,
    "gs://some-bucket/x.jsonl",
    "az://container/x.jsonl",
    "abfss://container@account/x.jsonl",
    "db://some-database",
    "hf://datasets/some/set",
    "http://example.org/x.jsonl",
    "https://example.org/x.jsonl",
    "ftp://example.org/x.jsonl",
    "pubmed",
]
MODELS = ["openai:gpt", "openrouter:some/model", "https://example.org/v1#model", "http://10.0.0.1/v1#model"]


def commands() -> Iterator[list[str]]:
    for place in PLACES:
        yield ["search", QUESTION, "--corpus", place]
        yield ["corpus", "info", place]
        yield ["check", place]
        yield ["check", MARKDOWN, "--documents", f"{place}.none"]
        yield ["score", place]
        yield ["corpus", "build", place, "--to", "built"]
    for place in BUCKETS:
        yield ["corpus", "build", str(EXAMPLES / "corpus"), "--to", place]
        yield ["corpus", "get", place, "1"]
        yield ["corpus", "export", place]
        yield ["corpus", "verify", place]
        yield ["corpus", "retractions", place]
        yield ["check", ANSWERS, "--out", place]
        yield ["check", ANSWERS, "--set", "workers.ray=local", "--out", place]
    for model in MODELS:
        yield ["ask", QUESTION, "--llm", model]
        yield ["judge", "Aspirin works.", "Aspirin works.", "--judge", f"llm:{model}"]
    yield ["judge", "Aspirin works.", "Aspirin works.", "--judge", "hf:some/model"]
    yield ["search", QUESTION, "--set", "search.rerank=hf:some/model"]
    yield ["check", ANSWERS, "--set", "workers.ray=10.0.0.1:6379", "--out", "out.jsonl"]
    yield ["corpus", "build", "pmids:101", "--to", "built"]


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name in ("NCBI_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def under_the_filter(*given: list[str], folder: Path, offline: bool) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, no_internet_sockets.__file__, *map(json.dumps, given)]
    environment = {**os.environ, "VERICITE_OFFLINE": "1" if offline else "", "HF_HUB_DISABLE_TELEMETRY": "1"}
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


needs_seccomp = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in no_internet_sockets.SOCKET, reason="needs seccomp of Linux"
)


@needs_seccomp
def test_no_internet_socket_is_opened_offline_by_any_command_for_any_address(plain_environment: None, tmp_path: Path):
    given = list(commands())
    done = under_the_filter(*given, folder=tmp_path, offline=True)
    printed = done.stdout.splitlines()
    assert done.returncode == 0, (printed[-1:], done.stderr[-2000:])
    assert len(printed) == 1 + len(given)
    for line in printed[1:]:
        command, rest = json.JSONDecoder().raw_decode(line)
        code, said = json.loads(line[rest:])
        assert code in (2, 3), (command, said)
        assert "Traceback" not in said, (command, said)


@needs_seccomp
def test_the_filter_ends_a_command_that_opens_one(plain_environment: None, tmp_path: Path):
    """In native code, where no patch of Python's sockets would see it."""
    done = under_the_filter(["search", QUESTION, "--corpus", "s3://some-bucket/x"], folder=tmp_path, offline=False)
    assert "ready" in done.stdout
    assert done.returncode < 0


@pytest.mark.parametrize(
    "given",
    [
        ["search", QUESTION, "--corpus", "s3://some-bucket/x"],
        ["corpus", "info", "s3://some-bucket/x"],
        ["check", "s3://some-bucket/x.jsonl"],
        ["check", ANSWERS, "--set", "workers.ray=local", "--out", "s3://some-bucket/x.jsonl"],
    ],
)
def test_a_bucket_elsewhere_is_refused_with_the_next_step(run_cli, plain_environment: None, given: list[str]):
    printed = run_cli("--offline", *given)
    assert printed.code == 2
    assert "because offline is set; found s3://some-bucket" in printed.err
    assert "omit --offline" in printed.err


def test_a_bucket_on_this_machine_is_read_offline(run_cli, bucket: Any, monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_EC2_METADATA_DISABLED", "NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    # Were it heeded, the connection would fail.
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    place = f"s3://{bucket.name}/store"
    assert run_cli("--offline", "corpus", "build", str(EXAMPLES / "corpus"), "--to", place).code == 0
    printed = run_cli("--offline", "corpus", "info", place)
    assert (printed.code, "documents" in printed.out) == (0, True), printed


def test_offline_no_metadata_service_is_asked_for_keys(run_cli, bucket: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    printed = run_cli("--offline", "corpus", "info", f"s3://{bucket.name}/store")
    assert printed.code == 2
    assert "AWS_SECRET_ACCESS_KEY" in printed.err


def test_a_folder_named_like_an_address_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from vericite.corpus.store import tables
    from vericite.corpus.store.place import Place

    monkeypatch.chdir(tmp_path)
    tables.connect(Place("gs:/bucket", Path("gs:/bucket"))).create_table("one", [{"title": "One"}])
    assert (tmp_path / "gs:" / "bucket" / "one.lance").is_dir()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    hold_offline()
    monkeypatch.setenv("VERICITE_OFFLINE", "1")


def test_no_name_is_looked_up_offline(held: None):
    for lookup in (socket.gethostbyname, lambda host: socket.getaddrinfo(host, 80)):
        with pytest.raises(BlockedConnectionError, match=r"example\.org is not contacted"):
            lookup("example.org")


@pytest.mark.parametrize("host", ["attacker.example.localhost", "localhost.example.org"])
def test_a_name_like_this_machine_s_is_not_looked_up_offline(held: None, host: str):
    """A resolver may ask a name server for anything but "localhost" itself."""
    with pytest.raises(BlockedConnectionError, match="is not contacted"):
        socket.getaddrinfo(host, 80)


def test_the_name_of_an_address_is_not_asked_for_offline(held: None):
    with pytest.raises(BlockedConnectionError, match=r"192\.0\.2\.1 is not contacted"):
        socket.getnameinfo(("192.0.2.1", 53), 0)


def test_this_machine_is_reached_offline(held: None):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sent:
        sent.sendall(b"x")
        with server.accept()[0] as accepted:
            assert accepted.recv(1) == b"x"
    assert socket.getaddrinfo("localhost", 80)
    assert socket.getaddrinfo("192.0.2.1", 80)


@pytest.mark.enable_socket
def test_no_address_is_connected_to_offline(held: None):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        for call in (datagrams.connect, datagrams.connect_ex, lambda address: datagrams.sendto(b"x", address)):
            with pytest.raises(BlockedConnectionError, match=r"192\.0\.2\.1 is not contacted"):
                call(("192.0.2.1", 9))


def test_without_offline_the_same_socket_connects(held: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERICITE_OFFLINE", "0")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
