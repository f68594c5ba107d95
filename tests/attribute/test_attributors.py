"""Attributors: cited sources, scores, and streams that judge each pair once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from vericite.attribution import (
    Attribution,
    Attributor,
    RandomAttributor,
    VerifierAttributor,
    load_attributor,
)
from vericite.errors import InputError, UnknownNameError
from vericite.models import Pair
from vericite.models.contracts import ENTAILS, NEUTRAL
from vericite.records import Answer, Document
from vericite.text.citations import parse_answer
from vericite.verify import Judgement, get_protocol

TEXT = "Statins lower LDL. Zinc shortens colds. Garlic cures gout."
SOURCES = (
    Document.from_text("a", "We measured lipids. Statins lower LDL."),
    Document.from_text("b", "Colds were followed. Zinc shortens colds."),
    Document.from_text("c", "Statins lower LDL."),
)


class Script:
    """A judge that finds a claim entailed by a premise with the same words, or by two with them together."""

    signature = "script"

    def __init__(self) -> None:
        self.asked: Counter[Pair] = Counter()

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked[pair] += 1
            if "break" in pair.premise:
                yield Judgement.failed("broken")
                continue
            has = {word.strip(".,").lower() for word in pair.claim.split()} <= {
                word.strip(".,").lower() for word in pair.premise.split()
            }
            yield Judgement(np.eye(3, dtype=np.float32)[ENTAILS if has else NEUTRAL] * 0.9 + np.float32(0.1 / 3))


def scripted(*, quotes: bool = False) -> tuple[VerifierAttributor, Script]:
    judge = Script()
    return VerifierAttributor(replace(get_protocol("default"), judge=judge, quotes=quotes)), judge


def cited(answer: Answer) -> list[tuple[str | None, ...]]:
    return [tuple(citation.document for citation in claim.citations) for claim in answer.claims]


def test_each_source_that_supports_a_sentence_is_cited_and_the_rest_is_listed():
    attributor, _ = scripted()
    found = attributor.attribution(TEXT, SOURCES)
    assert found.answer.text == "Statins lower LDL [1][3]. Zinc shortens colds [2]. Garlic cures gout."
    assert cited(found.answer) == [("a", "c"), ("b",), ()]
    assert [sentence.text for sentence in found.uncited] == ["Garlic cures gout."]
    assert found.sentences[0].scores[0] > 0.8 > 0.2 > found.sentences[0].scores[1]
    assert "verifier.v1" in found.by


def test_an_attribution_survives_json():
    found = scripted()[0].attribution(TEXT, SOURCES)
    assert Attribution.model_validate_json(found.model_dump_json()) == found


def test_existing_citations_are_removed_or_kept_as_asked():
    text = "Statins lower LDL [2]. Zinc shortens colds."
    attributor, _ = scripted()
    assert cited(attributor.attribute(text, SOURCES)) == [("a", "c"), ("b",)]
    kept = attributor.attribution(text, SOURCES, keep=True)
    assert cited(kept.answer) == [("b",), ("b",)]
    assert [sentence.how for sentence in kept.sentences] == ["kept", "alone"]


def test_a_retracted_source_is_never_cited():
    sources = (SOURCES[0].model_copy(update={"retracted": True}), *SOURCES[1:])
    found = scripted()[0].attribution(TEXT, sources)
    assert cited(found.answer) == [("c",), ("b",), ()]
    assert found.sentences[0].scores[0] is None
    assert any("[1] is retracted" in reason for reason in found.sentences[0].reasons)
    assert cited(found.above(0).answer)[0] == ("b", "c")


def test_an_unjudged_sentence_is_failed_and_not_unsupported():
    sources = (Document.from_text("a", "They break."), SOURCES[1])
    found = scripted()[0].attribution("Statins lower LDL. Zinc shortens colds.", sources)
    assert [sentence.how for sentence in found.sentences] == ["failed", "alone"]
    assert found.sentences[0].scores[0] is None
    assert [sentence.text for sentence in found.failed] == ["Statins lower LDL."]
    assert not found.uncited


def test_another_threshold_only_changes_what_is_cited():
    found = scripted()[0].attribution(TEXT, SOURCES)
    assert cited(found.above(0.99).answer) == [(), (), ()]
    everything = found.above(0)
    assert cited(everything.answer) == [("a", "b", "c")] * 3
    assert [sentence.scores for sentence in everything.sentences] == [sentence.scores for sentence in found.sentences]
    assert everything.above(0.5) == found


def test_a_sentence_quoted_from_a_source_is_cited_at_any_threshold():
    found = scripted(quotes=True)[0].attribution(TEXT, SOURCES)
    assert found.sentences[0].scores[2] is None
    assert cited(found.above(1).answer)[0] == ("a", "c")


def test_each_distinct_pair_of_a_stream_is_judged_once():
    attributor, judge = scripted()
    stream = [parse_answer(str(number), TEXT, SOURCES) for number in range(5)]
    found = list(attributor.attributions(iter(stream)))
    assert [attribution.answer.id for attribution in found] == ["0", "1", "2", "3", "4"]
    assert len({attribution.answer.text for attribution in found}) == 1
    assert set(judge.asked.values()) == {1}


def test_an_answer_is_cited_the_same_in_any_batch():
    attributor, _ = scripted()
    mixed = [
        parse_answer("a", TEXT, SOURCES),
        parse_answer("b", "Garlic cures gout.", SOURCES[:1]),
        parse_answer("c", "", SOURCES),
        parse_answer("d", TEXT, ()),
        parse_answer("e", TEXT, SOURCES[::-1]),
    ]
    together = [attribution.answer for attribution in attributor.attributions(mixed)]
    assert together == [attributor.attribute(answer) for answer in mixed]
    assert together[2].text == "" and together[3].text == TEXT


def test_answers_are_yielded_before_the_whole_stream_is_read():
    attributor = RandomAttributor()
    attributor.answers_at_once = 2
    read: list[int] = []

    def stream() -> Iterator[Answer]:
        for number in range(100):
            read.append(number)
            yield parse_answer(str(number), TEXT, SOURCES)

    next(attributor.attributions(stream()))
    assert len(read) == 2


def test_a_protocol_that_reads_everything_retrieved_is_refused():
    with pytest.raises(InputError, match="judges cited documents; found context"):
        VerifierAttributor(get_protocol("context(5)"))


@pytest.mark.parametrize("name", ["vericite", "alce", "statements"])
def test_other_protocols_work(name: str):
    judge = Script()
    attributor = VerifierAttributor(replace(get_protocol(name), judge=judge))
    assert cited(attributor.attribute(TEXT, SOURCES)) == [("a", "c"), ("b",), ()]


def test_random_citations_depend_on_the_seed_only():
    text = " ".join(f"Sentence number {number} says something." for number in range(40))

    def drawn(attributor: Attributor) -> list[tuple[str | None, ...]]:
        return cited(attributor.attribute(text, SOURCES))

    first = drawn(RandomAttributor(0.2))
    assert first == drawn(RandomAttributor(0.2))
    assert first != drawn(RandomAttributor(0.2, seed=1))
    assert 10 <= sum(map(len, first)) <= 40
    assert not any(drawn(RandomAttributor(0)))
    assert all(len(chosen) == 3 for chosen in drawn(RandomAttributor(1)))


def test_a_parsed_answer_has_its_own_documents():
    with pytest.raises(InputError, match="no documents with a parsed answer"):
        RandomAttributor().attribute(parse_answer("x", TEXT, SOURCES), SOURCES)


@pytest.mark.parametrize("name", ["verifier", "random"])
def test_attributors_are_found_by_name(name: str):
    assert load_attributor(name).signature.startswith(name)


@pytest.mark.parametrize("name", ["verifier:x", "head", "head:", "llm", "random:"])
def test_a_name_without_its_argument_is_refused(name: str):
    with pytest.raises(InputError, match="expected"):
        load_attributor(name)


def test_an_unknown_name_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'verifier'"):
        load_attributor("verifer")
