"""Text after a list of references is part of the answer, and is checked."""

from __future__ import annotations

import time

import pytest

import vericite
from vericite.text.passages import entry_in
from vericite.text.printed import split_answer

ANSWER = """Aspirin lowers pain [1]. Statins lower LDL cholesterol [2].

## References

1. Smith J. Aspirin and pain. BMJ. 2001;1:1-2.
2. Jones K. Statins. Lancet. 2002;3:4-9.
3. Low A. Ulcers. Gut. 2003;5:6-9.
"""


@pytest.mark.parametrize("head", ["", "**Conclusion**\n\n", "## Conclusion\n\n"])
def test_what_follows_a_list_is_judged(head: str, tmp_path):
    text = f"{ANSWER}\n{head}Aspirin also causes ulcers in most people [3].\n"
    begin, end, entries = split_answer(text)
    assert text[begin:].startswith("## References")
    assert text[end:].lstrip() == f"{head}Aspirin also causes ulcers in most people [3].\n"
    assert [number for number, _ in entries] == ["1", "2", "3"]
    file = tmp_path / "answer.md"
    file.write_text(text)
    (answer,) = vericite.read_answers(file)
    assert answer.claims[-1].text.endswith("Aspirin also causes ulcers in most people.")


def test_long_addresses_take_linear_time():
    started = time.process_time()
    for text in ("10.1234/" * 5000, "https://" * 5000):
        entry_in(text)
    assert time.process_time() - started < 2
