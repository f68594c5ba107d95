"""Shelves over HTTP: made of files, asked at once, kept over restarts and kills, and removed."""

from __future__ import annotations

import json
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from pdf_files import Page, pdf
from vericite.corpus.store import open_store
from vericite.errors import InputError
from vericite.records import Document
from vericite.serve.offer import Limits
from vericite.serve.shelves import ShelfBusy, ShelfList, Shelves

pytest.importorskip("lancedb", reason="needs the extra [store]")

PAIN = b"Zelotrine for pain\n\nZelotrine reduced pain in 40 of 80 adults. Nausea was common."
ROWS = [{"id": f"d{number}", "title": f"Trial {number}", "text": f"Drug {number} helped."} for number in range(3)]
ASK = {"question": "Does zelotrine reduce pain?"}


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def send(served, shelf: str, name: str, content: bytes) -> httpx2.Response:
    return served.request("POST", f"/v1/shelves/{shelf}/files?name={name}", content=content)


def versions(folder: Path) -> set[str]:
    return {version.name for version in folder.glob("store/documents.lance/_versions/*.manifest")}


def named(served, name: str) -> dict[str, Any]:
    (found,) = (shelf for shelf in served.get("/v1/shelves").json()["shelves"] if shelf["name"] == name)
    return found


def test_a_shelf_is_made_of_files_asked_and_removed(server):
    given = server.post("/v1/shelves", {"name": "  Schmerz  2024", "files": ["a.pdf", "rows.jsonl", "odd.xyz"]})
    assert given.status_code == 201 and given.json()["name"] == "Schmerz 2024"
    id = given.json()["id"]
    page = Page()
    page.at(72, 700, "Zelotrine reduced pain in 40 of 80 adults.")
    paper = pdf([page])
    assert send(server, id, "a.pdf", paper).json()["file"]["documents"] == 1
    assert server.post("/v1/ask", {**ASK, "corpus": "Schmerz 2024"}).status_code == 422, "it waits for files"
    rows = send(server, id, "rows.jsonl", lines([*ROWS, {"id": "", "text": "x"}])).json()
    assert rows["file"]["documents"] == 3 and len(rows["file"]["problems"]) == 1
    assert rows["shelf"]["waiting"] == ["odd.xyz"] and "/" not in rows["file"]["problems"][0]
    odd = send(server, id, "odd.xyz", bytes(range(256)) * 9).json()
    assert "odd.xyz" in odd["file"]["failed"] and "/tmp" not in odd["file"]["failed"]
    assert (odd["shelf"]["waiting"], odd["shelf"]["documents"]) == ([], 4)
    answered = server.post("/v1/ask", {**ASK, "corpus": "Schmerz 2024"}).json()
    assert "Zelotrine reduced pain" in answered["answer"]["text"]
    form = {"file": ("draft.md", b"# A\n\nPain fell [1].\n\n# References\n\n1. Zelotrine for pain. 2024.")}
    checked = server.request("POST", "/v1/manuscripts", files=form, data={"sources": "Schmerz 2024"})
    assert checked.status_code == 200
    found = server.get(f"/v1/shelves/{id}/documents").json()
    assert found["total"] == 4 and {"d0", "d1", "d2"} < {document["id"] for document in found["documents"]}
    assert server.request("DELETE", f"/v1/shelves/{id}/documents?document=d1").status_code == 204
    assert server.request("DELETE", f"/v1/shelves/{id}/documents?document=d1").status_code == 404
    assert named(server, "Schmerz 2024")["documents"] == 3
    assert send(server, id, "rows.jsonl", lines(ROWS)).json()["shelf"]["documents"] == 4, "what was removed comes back"
    assert server.request("DELETE", f"/v1/shelves/{id}").status_code == 204
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/documents"), ("DELETE", "/documents?document=d1")):
        assert server.request(method, f"/v1/shelves/{id}{path}").status_code == 404
    assert server.post("/v1/ask", {**ASK, "corpus": "Schmerz 2024"}).status_code == 422


def test_files_of_the_same_name_do_not_replace_each_other(server):
    id = server.post("/v1/shelves", {"name": "twins"}).json()["id"]
    for content in (PAIN, b"Another\n\nNausea was common.", PAIN):
        shelf = send(server, id, "paper.txt", content).json()["shelf"]
    found = {
        document["id"]: document["title"] for document in server.get(f"/v1/shelves/{id}/documents").json()["documents"]
    }
    assert len(found) == 2 and "Another" in found.values(), found
    assert len(shelf["files"]) == 2
    server.request("DELETE", f"/v1/shelves/{id}")


def test_files_are_known_by_the_name_that_they_have_when_sent(server):
    names = ["Smith, 2020.txt", "O'Neil [v2].txt", "Schmerz–Studie.txt"]
    id = server.post("/v1/shelves", {"name": "names", "files": names}).json()["id"]
    for name in names:
        shelf = send(server, id, quote(name), f"{name}\n\nNausea was common.".encode()).json()["shelf"]
    assert (shelf["waiting"], shelf["documents"]) == ([], 3)
    server.request("DELETE", f"/v1/shelves/{id}")


def test_a_file_sent_again_takes_no_room_and_keeps_what_was_read(tmp_path: Path):
    shelves = Shelves(tmp_path / "shelves", Limits(shelf_documents=3), ("taken",))
    made = shelves.make("mine")
    assert made.id is not None
    three = [Document.from_text(f"d{number}", "Nausea was common.") for number in range(3)]

    def broken(stem: str) -> tuple[list[Document], list[str]]:
        raise InputError(f"expected a file; found {tmp_path}/shelves/{made.id}/store/x, which took too long")

    for read in (lambda stem: (three, []), lambda stem: (three, []), broken):
        added = shelves.add(made.id, "a.txt", b"a", read)
    assert (
        added.shelf.documents == 3 and added.shelf.is_usable and [file.failed for file in added.shelf.files] == [None]
    )
    assert added.file.failed == "expected a file; found the documents of a shelf, which took too long"
    over = shelves.add(made.id, "b.txt", b"b", lambda stem: ([Document.from_text("e", "It helped.")], []))
    assert "found 3 on it and 1 new ones" in (over.file.failed or "") and over.shelf.documents == 3
    # The service is started again with a corpus of that name.
    (now,) = Shelves(tmp_path / "shelves", Limits(), ("Mine",)).all()
    assert not now.is_usable and "another name" in (now.problem or "")


def test_a_store_that_a_kill_left_half_made_can_be_added_to_and_removed(tmp_path: Path):
    shelves = Shelves(tmp_path, Limits(), ())
    one = lambda stem: ([Document.from_text("d", "Nausea was common.")], [])  # noqa: E731
    for act in ("add", "remove"):
        id = shelves.make(act).id
        assert id is not None
        (tmp_path / id / "store" / "documents.lance").mkdir(parents=True)
        shelves._write(id, ShelfList(name=act, changed=1, adding=("d",), waiting=("a.txt",)))
        if act == "add":
            assert shelves.add(id, "a.txt", b"a", one).shelf.is_usable
        else:
            shelves.remove(id)
            assert not (tmp_path / id).exists()


def test_a_shelf_that_is_being_changed_makes_others_wait_for_a_while(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("vericite.serve.shelves._WAIT_SECONDS", 0.3)
    shelves = Shelves(tmp_path, Limits(), ())
    id = shelves.make("mine").id
    assert id is not None
    with shelves._changing(id), pytest.raises(ShelfBusy, match="Try again"), ThreadPoolExecutor() as pool:
        pool.submit(shelves.remove, id).result(20)


def test_the_corpora_of_the_service_are_shelves_that_cannot_be_changed(server):
    shelf = named(server, "demo")
    assert (shelf["id"], shelf["documents"], shelf["kind"]) == (None, 150, "demo") and shelf["years"]


@pytest.mark.parametrize("name", ["", " ", "../x", "a/b", ".a", "demo", "PubMed", "x" * 61, "a\nb\x00", "<b>", "none"])
def test_a_name_that_cannot_be_used_is_refused(server, name):
    assert server.post("/v1/shelves", {"name": name}).status_code == 422


def test_limits(served):
    address = served(shelves=2, shelf_documents=3, shelf_bytes=2_000_000)
    post = lambda path, **given: httpx2.post(f"{address}{path}", timeout=60, **given)  # noqa: E731
    id = post("/v1/shelves", json={"name": "one"}).json()["id"]
    assert post("/v1/shelves", json={"name": "ONE"}).status_code == 422
    assert post(f"/v1/shelves/{id}/files?name=a.jsonl", content=lines(ROWS)).json()["file"]["failed"] is None
    over = post(f"/v1/shelves/{id}/files?name=b.txt", content=PAIN).json()
    assert "at most 3 documents" in over["file"]["failed"] and over["shelf"]["documents"] == 3
    assert post(f"/v1/shelves/{id}/files?name=c.txt", content=PAIN * 25_000).status_code == 422
    assert post("/v1/shelves", json={"name": "two"}).status_code == 201
    assert "at most 2 shelves" in post("/v1/shelves", json={"name": "three"}).json()["error"]["message"]


def test_a_shelf_survives_a_kill_and_half_a_file_is_not_on_it(started):
    first = started()
    id = first.post("/v1/shelves", {"name": "mine", "files": ["a.txt", "rows.jsonl"]}).json()["id"]
    assert send(first, id, "a.txt", PAIN).status_code == 200
    rows = lines([{"id": f"r{number}", "text": f"Drug {number} helped. " * 20} for number in range(4_000)])

    def sending() -> None:
        with suppress(httpx2.HTTPError):
            httpx2.post(f"{first.address}/v1/shelves/{id}/files?name=rows.jsonl", content=rows, timeout=60)

    thread = threading.Thread(target=sending)
    thread.start()
    folder = first.state / "shelves" / id
    deadline = time.monotonic() + 60
    # Each commit to the store is a version; that of the rows is the next.
    before = versions(folder)
    while versions(folder) == before and time.monotonic() < deadline:
        time.sleep(0.001)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(20)
    thread.join()
    assert open_store(folder / "store").info().documents == 4_001, "the rows are in the store"
    assert '"r3999"' in (folder / "shelf.json").read_text(), "the list is not yet rewritten"
    again = started()
    shelf = named(again, "mine")
    assert shelf["waiting"] == ["rows.jsonl"]
    assert again.post("/v1/ask", {**ASK, "corpus": "mine"}).status_code == 422
    left = again.request("PUT", f"/v1/shelves/{id}/waiting", json={"files": []}).json()
    assert (left["waiting"], left["documents"]) == ([], 1)
    assert open_store(folder / "store").info().documents == 1
    assert "reduced pain" in again.post("/v1/ask", {**ASK, "corpus": "mine"}).json()["answer"]["text"]
    (again.state / "shelves" / id / "shelf.json").write_text("{}")
    assert "damaged" in named(again, f"damaged {id[:8]}")["problem"]
    assert again.request("DELETE", f"/v1/shelves/{id}").status_code == 204
