"""Clients generated from ``/openapi.json``, in Python and TypeScript, at a real service: ``make test-clients``."""

from __future__ import annotations

import asyncio
import importlib
import io
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from described import events_in

from vericite import check

HERE = Path(__file__).parent / "clients"
PACKAGES = Path(__file__).parents[2] / ".venv-clients/node_modules"
SOURCE = {"id": "d1", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common.", "title": "Zelotrine"}
ANSWER = "Zelotrine reduced pain in 40 of 80 adults [1]. It rains."
BODY: dict[str, Any] = {"answer": ANSWER, "documents": [SOURCE]}
WRONG = {**BODY, "answer": "Zelotrine increased pain in 40 of 80 men [1]."}
ASK = {"question": "Does zelotrine reduce pain?", "documents": [SOURCE]}

pytest.importorskip("openapi_python_client", reason="make test-clients installs openapi-python-client")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the generator's own packages


class PythonClient:
    """The generated package: its operations and types by name."""

    def __init__(self, address: str, **settings: Any) -> None:
        package = importlib.import_module("vericite_client")
        made = package.AuthenticatedClient if settings else package.Client
        self.client = made(base_url=address, timeout=60, **settings)
        self.models = importlib.import_module("vericite_client.models")
        self.types = importlib.import_module("vericite_client.types")

    def operation(self, name: str) -> Any:
        tag, _, function = name.partition(".")
        return importlib.import_module(f"vericite_client.api.{tag}.{function}")

    def call(self, operation: str, *path: str, body: tuple[str, dict[str, Any]] | None = None, **given: Any) -> Any:
        """Call an operation and return its reply, which loses nothing of what was sent."""
        if body is not None:
            given["body"] = getattr(self.models, body[0]).from_dict(body[1])
        reply = self.operation(operation).sync_detailed(*path, client=self.client, **given)
        if hasattr(reply.parsed, "to_dict"):
            assert reply.parsed.to_dict() == json.loads(reply.content)
        return reply


@pytest.fixture(scope="module")
def python(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PythonClient]:
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(server.description.document))
    command = [
        *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"),
        *("--path", str(folder / "openapi.json"), "--output-path", str(folder / "vericite_client")),
        *("--config", str(HERE / "openapi-python-client.yml")),
    ]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    made_client = PythonClient(server.address)
    with made_client.client:
        yield made_client
    sys.path.remove(str(folder))


def test_an_answer_is_checked_as_the_library_checks_it(python: PythonClient):
    reply = python.call("answers.check", body=("AnswerBody", BODY))
    expected = [(verdict.claim, verdict.label) for verdict in check(ANSWER, [SOURCE]).verdicts]
    assert [(verdict.claim, verdict.label) for verdict in reply.parsed.checked.verdicts] == expected
    stored = python.call("runs.get_run", reply.parsed.run).parsed
    assert type(stored).__name__ == "Checked" and stored == reply.parsed
    assert python.call("runs.get_report", stored.run).parsed.startswith("<!")
    assert stored.run in {entry.id for entry in python.call("runs.list_runs").parsed.runs}
    assert python.call("runs.delete_run", stored.run).status_code == 204
    assert python.call("runs.get_run", stored.run).parsed.error.status == 404


def test_a_question_is_asked_and_its_run_repaired(python: PythonClient):
    run = python.call("answers.ask", body=("AskBody", ASK)).parsed
    assert run.evidence and run.checked.summary.citations
    repaired = python.call("answers.repair", body=("AnswerBody", WRONG)).parsed
    assert repaired.changes
    stored = python.call("runs.get_run", repaired.run).parsed
    assert type(stored).__name__ == "RepairedBody"
    assert type(python.call("runs.repair_run", repaired.run).parsed).__name__ == "RepairedBody"


def test_settings_of_the_plan_are_sent(python: PythonClient):
    body = {**BODY, "plan": {"check": {"protocol": "fast", "explain": True}}}
    assert python.call("answers.check", body=("AnswerBody", body)).parsed.checked.provenance.protocol.startswith("fast")


def test_other_calculations(python: PythonClient):
    assert python.call("answers.attribute", body=("AnswerBody", BODY)).status_code == 200
    assert len(python.call("answers.search", body=("SearchBody", {"query": "aspirin", "k": 2})).parsed.evidence) == 2
    evidence = python.call("answers.find_evidence", body=("EvidenceBody", {"answer": "Zinc helps."})).parsed
    assert evidence.sentences


def test_files_are_uploaded(python: PythonClient):
    file = python.types.File(payload=io.BytesIO(b"Zelotrine\n\nIt reduced pain."), file_name="a.txt")
    (document,) = python.operation("answers.read_file").sync(client=python.client, name="a.txt", body=file).documents
    assert document.title == "Zelotrine"
    file = python.types.File(payload=io.BytesIO(b"# A\n\nA rat ran [@rat]."), file_name="draft.md")
    body = python.models.ManuscriptBody(file=file)
    reply = python.operation("answers.check_manuscript").sync_detailed(client=python.client, body=body)
    assert reply.status_code == 200 and reply.parsed.to_dict() == json.loads(reply.content)
    copy = python.call("runs.get_copy", reply.parsed.run)
    assert b"A rat ran" in copy.parsed.payload.read()


def test_jobs_of_many_answers(python: PythonClient):
    job = python.call("jobs.add_job", body=("CheckJobBody", {"items": [BODY, {**BODY, "documents": [SOURCE] * 2}]}))
    id = job.parsed.id
    while not python.call("jobs.get_job", id).parsed.finished:
        time.sleep(0.05)
    lines = python.call("jobs.get_job_results", id).parsed.splitlines()
    results = [python.models.JobResult.from_dict(json.loads(line)) for line in lines]
    assert [type(result.value).__name__ for result in results] == ["CheckedAnswer", "NoneType"] and results[1].problem
    assert python.call("jobs.cancel_job", id).parsed.cancelled is False


def test_events_are_read(python: PythonClient):
    prefer = python.models.CheckPrefer.RESPOND_ASYNC
    begun = python.call("answers.check", body=("AnswerBody", BODY), prefer=prefer)
    assert begun.status_code == 202
    events = events_in(python.call("streams.read_stream", begun.parsed.stream).parsed)
    kinds = {"sentence": "SentenceEvent", "verdict": "VerdictEvent", "answer": "AnswerEvent", "done": "Checked"}
    read = [getattr(python.models, kinds[event["event"]]).from_dict(json.loads(event["data"])) for event in events]
    assert [type(event).__name__ for event in read][-2:] == ["VerdictEvent", "Checked"]
    assert read[-2].result == read[-1].checked.verdicts[0]
    assert python.call("streams.cancel_stream", begun.parsed.stream).parsed.finished is True


def test_errors_are_typed(python: PythonClient, guarded: Any):
    refused = python.call("answers.check", body=("AnswerBody", {**BODY, "answer": " "}))
    assert refused.status_code == 422 and "found no text" in refused.parsed.error.message
    assert python.call("jobs.get_job", "none").parsed.error.status == 404
    with PythonClient(guarded.address).client as client:
        assert python.operation("runs.list_runs").sync_detailed(client=client).status_code == 401
    with PythonClient(guarded.address, token=guarded.token).client as client:
        assert python.operation("runs.list_runs").sync(client=client).runs == []


def test_the_service_is_watched(python: PythonClient):
    assert python.call("service.get_health").parsed.status == "ok"
    assert python.call("service.get_readiness").parsed.ready is True
    assert "vericite_pairs_judged_total" in python.call("service.get_metrics").parsed


def test_async_calls(python: PythonClient):
    body = python.models.AnswerBody.from_dict(BODY)

    async def both() -> list[Any]:
        call = python.operation("answers.check").asyncio
        async with python.client as client:
            return await asyncio.gather(*(call(client=client, body=body) for _ in range(2)))

    assert [made.checked.summary.supported for made in asyncio.run(both())] == [1, 1]


def test_a_typescript_client_compiles_and_runs(server: Any, tmp_path: Path):
    if (node := shutil.which("node")) is None:
        pytest.skip("needs Node.js")
    if not PACKAGES.exists():
        pytest.skip("make test-clients installs openapi-typescript, openapi-fetch and typescript, if it finds npm")
    for name in ("client.ts", "tsconfig.json", "package.json"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    (tmp_path / "openapi.json").write_text(json.dumps(server.description.document))

    def run(program: str, *arguments: str) -> str:
        command = [node, str(PACKAGES / program), *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    generated = ("openapi.json", "--default-non-nullable=false", "-o", "schema.d.ts")
    run("openapi-typescript/bin/cli.js", *generated)
    run("typescript/bin/tsc", "--noEmit", "--project", ".")
    run("typescript/bin/tsc", "--project", ".")
    done = subprocess.run([node, "client.js", server.address], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "supported\n"), done.stderr
    (tmp_path / "client.ts").write_text((HERE / "client.ts").read_text().replace("verdict.label", "verdict.lable"))
    failed = subprocess.run(
        [node, str(PACKAGES / "typescript/bin/tsc"), "--noEmit", "--project", "."], cwd=tmp_path, capture_output=True
    )
    assert failed.returncode != 0 and b"lable" in failed.stdout
