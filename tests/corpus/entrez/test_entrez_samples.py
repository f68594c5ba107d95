"""Replies that NCBI really gave, where they are at hand, and NCBI itself, where a tester says so."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from entrez_server import EntrezServer, body

from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.corpus.entrez.service import error_message

SAMPLES = Path(__file__).resolve().parents[4] / "shared/data/entrez_samples/Tests/Entrez"
Client = Callable[..., Entrez]

needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="expected Biopython's samples of replies in ../shared/data; found none"
)


@needs_samples
@pytest.mark.parametrize("name", [f"pubmed{number}.xml" for number in (1, 2, 4, 5, 6, 7)])
def test_real_records_are_read(server: EntrezServer, client: Client, name: str):
    content = (SAMPLES / name).read_text("utf-8")
    asked = re.findall(r"<(?:MedlineCitation|BookDocument)\b[^>]*>\s*<PMID[^>]*>(\d+)<", content)
    assert asked
    server.script([body(content, "text/xml")])
    fetched = client().fetch(asked)
    assert [record.pmid for record in fetched.records] == list(dict.fromkeys(asked))
    assert all(document.title for document in fetched.documents)
    assert error_message(content.encode()) is None


@needs_samples
@pytest.mark.parametrize(
    ("name", "said"),
    [("esummary8.xml", "Neither query_key nor id specified"), ("epost2.xml", "Invalid db name specified: nothing")],
)
def test_real_error_messages_are_recognized(name: str, said: str):
    assert error_message((SAMPLES / name).read_bytes()) == said


@needs_samples
def test_a_real_web_page_is_not_a_reply():
    assert (error_message((SAMPLES / "pubmed3.html").read_bytes()) or "").startswith("an HTML page")


@pytest.mark.enable_socket
@pytest.mark.skipif(not os.environ.get("VERICITE_TEST_NCBI"), reason="VERICITE_TEST_NCBI is not set: NCBI is not asked")
def test_ncbi_answers_as_the_local_server_does():
    with Entrez(EntrezSettings(cache=None)) as entrez:
        found = entrez.search("aspirin[tiab] AND stroke[tiab] AND hasabstract", most=5)
        assert len(found.ids) == 5
        assert found.count > 1_000
        fetched = entrez.fetch([*found.ids, "999999999"])
        assert [record.pmid for record in fetched.records] == list(found.ids)
        assert fetched.missing == ("999999999",)
        assert not fetched.problems
        assert [summary.pmid for summary in entrez.summaries(found.ids).found] == list(found.ids)
        assert len(entrez.search("cancer", most=9_999).ids) == 9_999
        nothing = entrez.search("zyxwvutsrqp[tiab] AND hasabstract")
        assert (nothing.ids, bool(nothing.not_found)) == ((), True)
