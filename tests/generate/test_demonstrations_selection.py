"""Which demonstrations a question is shown with, and which it never is."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worked import WordEmbedder, exemplar

from vericite.errors import InputError, Problems, UnknownNameError
from vericite.generate.demonstrations import (
    Exemplar,
    Pool,
    PoolSelector,
    Selection,
    Vectors,
    Way,
    build_pool,
    decontaminate,
)
from vericite.generate.prompt import Selector, load_prompt
from vericite.records import Document, Question, to_json

WAYS = get_args(Way)
WORDS = ("zinc", "copper", "aspirin", "statins", "colds", "gout", "stroke", "asthma")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
POOLS = st.lists(
    st.builds(
        exemplar,
        id=st.integers(1, 40).map("e{}".format),
        question=TEXTS,
        pmid=st.integers(1, 30).map(str),
        label=st.sampled_from(["yes", "no", "maybe", None]),
        articles=st.lists(st.integers(1, 30).map("pmid:{}".format), max_size=2).map(tuple),
    ),
    max_size=15,
    unique_by=lambda item: item.id,
)
ASKED = st.lists(
    st.builds(
        Question,
        id=st.integers(30, 60).map("e{}".format),
        text=TEXTS,
        gold_documents=st.lists(
            st.integers(25, 60).map("http://www.ncbi.nlm.nih.gov/pubmed/{}".format), max_size=2
        ).map(tuple),
    ),
    max_size=4,
)
SELECTIONS = st.builds(
    Selection,
    way=st.sampled_from(WAYS),
    shots=st.integers(0, 4),
    fewest=st.just(0),
    seed=st.integers(0, 3),
    near=st.just(1.0),
)


def vectors() -> Vectors:
    return Vectors(WordEmbedder())


def chosen(pool: Pool, selection: Selection, question: Question, pmids: tuple[str, ...] = ()) -> list[str | None]:
    return [item.id for item in PoolSelector(pool, selection, vectors=vectors()).choose(question, pmids)]


@given(POOLS, ASKED)
def test_nothing_survives_that_shares_an_id_an_article_or_the_words_with_a_question(items, asked):
    pool = Pool.of(items)
    left = decontaminate(pool, asked, vectors())
    ids = {question.id for question in asked}
    pmids = {f"pmid:{name.rsplit('/', 1)[1]}" for question in asked for name in question.gold_documents}
    # A word said twice counts twice where words are compared.
    texts = {frozenset(words) for question in asked if len(words := question.text.split()) == len(set(words))}
    for item in left.exemplars:
        assert item.id not in ids
        assert not pmids & {*item.articles, *(f"pmid:{document.pmid}" for document in item.documents)}
        assert item.question.split() not in [question.text.split() for question in asked]
        assert frozenset(item.question.split()) not in texts or len(item.question.split()) > len(
            set(item.question.split())
        )
    assert len(left) + left.removed[-1].total == len(pool)
    assert decontaminate(left, asked, vectors()).removed[-1].total == 0


@given(POOLS, SELECTIONS, ASKED, st.randoms(use_true_random=False), st.data())
def test_the_same_seed_chooses_the_same_whatever_the_order_of_the_pool(items, selection, asked, random, data):
    shuffled = list(items)
    random.shuffle(shuffled)
    for question in asked:
        pmids = tuple(data.draw(st.lists(st.integers(1, 30).map(str), max_size=2)))
        once = chosen(Pool.of(items), selection, question, pmids)
        assert once == chosen(Pool.of(shuffled), selection, question, pmids)
        assert len(once) <= selection.shots


@given(POOLS, SELECTIONS, ASKED, st.lists(st.integers(1, 30).map(str), max_size=3))
def test_no_question_is_shown_itself_or_its_own_evidence_even_from_a_pool_that_was_not_cleaned(
    items, selection, asked, pmids
):
    selector = PoolSelector(Pool.of(items), selection, vectors=vectors())
    for question in asked:
        found = selector.choose(question, pmids)
        gold = {name.rsplit("/", 1)[1] for name in question.gold_documents}
        assert all(item.id != question.id and item.question != question.text for item in found)
        assert not any(set(item.pmids) & {*pmids, *gold} for item in found)
        assert len({item.question for item in found}) == len(found)


@given(
    POOLS.filter(lambda items: len({item.question for item in items}) >= 4), st.integers(0, 4), st.sampled_from(WAYS)
)
def test_what_similarity_or_labels_leave_open_is_filled_up(items, shots, way):
    selection = Selection(way, shots, least=1.0, near=1.0)
    asked = Question(id="other", text="something else entirely")
    assert len(chosen(Pool.of(items), selection, asked)) == shots


def pool_of(*questions: str, **fields: object) -> Pool:
    return Pool.of(exemplar(f"e{place}", question, **fields) for place, question in enumerate(questions))


def test_static_shows_the_same_to_every_question_and_others_by_another_seed():
    pool = pool_of(*(f"question about {word}" for word in WORDS))
    asked = [Question(id=word, text=f"does {word} matter") for word in WORDS]
    by_seed = {
        seed: {tuple(chosen(pool, Selection("static", 3, seed=seed), question)) for question in asked}
        for seed in range(6)
    }
    assert all(len(found) == 1 for found in by_seed.values())
    assert len(set.union(*by_seed.values())) > 1


def test_the_most_similar_comes_last():
    pool = pool_of("zinc colds adults", "zinc gout adults", "copper gout", "statins stroke")
    question = Question(id="q", text="zinc colds adults dose how often")
    assert chosen(pool, Selection("similar", 2), question) == ["e1", "e0"]
    assert chosen(pool, Selection("similar", 1), question) == ["e0"]


def test_similar_leaves_out_what_would_give_the_question_away():
    pool = pool_of("zinc colds adults children", "copper gout")
    question = Question(id="q", text="children adults colds zinc")
    assert chosen(pool, Selection("similar", 1), question) == ["e1"]


def test_diverse_ones_do_not_repeat_each_other():
    pool = pool_of("zinc colds adults trial", "zinc colds adults study", "zinc gout", "asthma")
    question = Question(id="q", text="zinc colds adults here now")
    assert set(chosen(pool, Selection("similar", 2), question)) == {"e0", "e1"}
    assert set(chosen(pool, Selection("similar+diverse", 2, diversity=0.7), question)) != {"e0", "e1"}
    assert chosen(pool, Selection("similar+diverse", 1, diversity=0.7), question) == chosen(
        pool, Selection("similar", 1), question
    )


def test_labels_come_in_equal_numbers_as_far_as_they_go():
    labels = ["yes"] * 8 + ["no"] * 2 + ["maybe"]
    pool = Pool.of(
        exemplar(f"e{place}", f"{WORDS[place % 8]} {place}", label=label) for place, label in enumerate(labels)
    )
    by_id = {item.id: item.label for item in pool.exemplars}
    question = Question(id="q", text="else")
    for seed in range(5):
        found = [by_id[id] for id in chosen(pool, Selection("label-balanced", 3, seed=seed), question) if id]
        assert sorted(map(str, found)) == ["maybe", "no", "yes"]
        four = [by_id[id] for id in chosen(pool, Selection("label-balanced", 4, seed=seed), question) if id]
        assert len(four) == 4 and set(four) == {"yes", "no", "maybe"}


def test_of_each_label_the_nearest_is_shown_and_the_nearest_of_all_last():
    pool = Pool.of(
        [
            exemplar("far-yes", "asthma", label="yes"),
            exemplar("near-yes", "zinc colds adults", label="yes"),
            exemplar("far-no", "gout stroke", label="no"),
            exemplar("near-no", "zinc colds", label="no"),
            exemplar("unlabelled", "zinc colds adults dose often"),
        ]
    )
    question = Question(id="q", text="zinc colds adults dose how often")
    assert chosen(pool, Selection("label-balanced", 2), question) == ["near-no", "near-yes"]
    assert chosen(pool, Selection("label-balanced", 1), question) == ["near-yes"]
    assert chosen(pool, Selection("label-balanced", 3), question)[0] in ("far-yes", "far-no")


@given(POOLS, ASKED, st.integers(1, 4))
def test_no_label_has_two_more_than_another_that_had_some_left(items, asked, shots):
    pool = Pool.of(items)
    labels = {item.id: item.label for item in items}
    for question in asked:
        selection = Selection("label-balanced", shots, fewest=0, near=1.0, least=-1.0)
        shown = [labels[id] for id in chosen(pool, selection, question) if id is not None]
        counts = {label: shown.count(label) for label in ("yes", "no", "maybe")}
        assert None not in shown
        for label, count in counts.items():
            usable = {
                item.question
                for item in items
                if item.label == label and item.question != question.text and item.id != question.id
            }
            if len(usable) > count + 4:
                assert max(counts.values()) <= count + 1


def test_what_is_random_does_not_change_for_the_others_when_one_is_added():
    items = [exemplar(f"e{place}", f"{WORDS[place % 8]} {place}") for place in range(12)]
    question = Question(id="q", text="else")
    before = chosen(Pool.of(items[:-1]), Selection("static", 4), question)
    after = chosen(Pool.of(items), Selection("static", 4), question)
    assert [id for id in after if id != "e11"] == before[: len([id for id in after if id != "e11"])]


@pytest.mark.parametrize(
    "wrong",
    [
        {"shots": 5},
        {"shots": -1},
        {"shots": 2, "fewest": 3},
        {"least": 1.5},
        {"diversity": -0.1},
        {"near": float("nan")},
    ],
)
def test_an_invalid_selection_is_an_error(wrong):
    with pytest.raises(InputError, match="expected"):
        Selection(**wrong)


def test_a_way_there_is_not_is_an_error_that_names_those_there_are():
    with pytest.raises(UnknownNameError, match=r"similar\+diverse"):
        Selection("nearest")  # pyright: ignore[reportArgumentType]


def test_too_few_demonstrations_are_an_error_before_and_while_questions_are_asked():
    with pytest.raises(InputError, match="at least 3 different"):
        PoolSelector(pool_of("zinc", "copper", "zinc"), Selection(shots=3))
    selector = PoolSelector(pool_of("zinc", "copper"), Selection(shots=2))
    with pytest.raises(InputError, match="found 1"):
        selector.choose(Question(id="q", text="Zinc?"))
    assert len(PoolSelector(pool_of("zinc"), Selection(shots=3, fewest=1)).choose(Question(id="q", text="x"))) == 1


def test_no_shots_need_no_pool_and_no_vectors():
    selector = PoolSelector(Pool.of([]), Selection("similar", 0), load_prompt("vericite"))
    assert selector.choose(Question(id="q", text="x")) == ()
    assert selector.signature == "demonstrations.v1(none)"


def test_a_prompt_is_shown_what_it_asks_for():
    both = exemplar("a", "zinc", rationale="It did, so yes [1].", final="yes", label="yes", type="yesno")
    reasoned = exemplar("b", "copper", rationale="It is CFTR [1].", final="CFTR", answer=None, type="factoid")
    plain = exemplar("c", "gout")
    shown = {
        name: {
            item.id: item
            for item in map(lambda given: given.shown_in(load_prompt(name)), (both, reasoned, plain))
            if item
        }
        for name in ("vericite", "reason-verify", "reason-verify-pubmedqa")
    }
    assert {id: item.answer for id, item in shown["vericite"].items()} == {"a": "It did [1].", "c": "It did [1]."}
    assert {item.rationale for item in shown["vericite"].values()} == {None}
    assert {id: item.answer for id, item in shown["reason-verify"].items()} == {"a": "yes", "b": "CFTR"}
    assert {id: item.answer for id, item in shown["reason-verify-pubmedqa"].items()} == {"a": "A. yes"}
    assert shown["reason-verify-pubmedqa"]["a"].rationale == "It did, so yes [1]."
    with pytest.raises(InputError, match="rationales"):
        PoolSelector(Pool.of([plain]), Selection(shots=1), load_prompt("reason-verify"))


def test_different_selections_have_different_signatures():
    items = [exemplar(f"e{place}", WORDS[place]) for place in range(5)]
    cleaned = decontaminate(Pool.of(items), [Question(id="e0", text="x")], vectors())
    selections = [Selection(shots=2), Selection(shots=3), Selection(seed=1), Selection("similar"), Selection(fewest=1)]
    found = [PoolSelector(Pool.of(items), each, vectors=vectors()).signature for each in selections]
    found.append(PoolSelector(cleaned, Selection(), vectors=vectors()).signature)
    assert len(set(found)) == len(found)
    assert "-1 for 1 questions: 1 id, 0 article, 0 text, 0 near(words.v1>=0.9)" in found[-1]
    selector: Selector = PoolSelector(Pool.of(items), Selection())
    assert selector.signature == found[0]


def test_near_is_a_cosine():
    for near in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="near"):
            decontaminate(Pool.of([]), [], vectors(), near)


def test_a_question_in_other_words_is_removed_by_the_bundled_embedder():
    from vericite.models import Embedder

    pool = pool_of("Which receptor is inhibited by velinorbide?", "Does aspirin prevent strokes?")
    asked = [Question(id="q", text="Which receptors does velinorbide block?")]
    left = decontaminate(pool, asked, Vectors(Embedder.shared()))
    assert [item.id for item in left.exemplars] == ["e1"]
    assert (left.removed[0].text, left.removed[0].near) == (0, 1)


def test_vectors_are_computed_once_and_stored_next_to_the_pool(tmp_path):
    path = tmp_path / "pool.jsonl"
    pool = Pool.of([exemplar(f"e{place}", WORDS[place]) for place in range(4)], path)
    question = Question(id="q", text="zinc or not")
    first, second = WordEmbedder(), WordEmbedder()
    PoolSelector(pool, Selection("similar"), vectors=Vectors.next_to(path, first)).choose(question)
    assert first.seen == ["zinc", "copper", "aspirin", "statins", "zinc or not"]
    again = Vectors.next_to(path, second)
    decontaminate(pool, [question], again)
    PoolSelector(pool, Selection("similar"), vectors=again).choose(question)
    assert second.seen == ["zinc or not"]
    with np.load(path.with_name("pool.jsonl.vectors.npz"), allow_pickle=False) as kept:
        assert kept["vectors"].shape == (4, 512)


def test_vectors_of_another_embedder_or_in_a_damaged_file_are_computed_again(tmp_path, caplog):
    path = tmp_path / "pool.jsonl"
    Vectors.next_to(path, WordEmbedder()).of(["zinc"], keep=True)
    other = WordEmbedder()
    other.signature = "words.v2"
    Vectors.next_to(path, other).of(["zinc"], keep=True)
    assert other.seen == ["zinc"]
    file = path.with_name("pool.jsonl.vectors.npz")
    for content in (b"", b"no archive", file.read_bytes()[:-30]):
        file.write_bytes(content)
        again = WordEmbedder()
        Vectors.next_to(path, again).of(["zinc"], keep=True)
        assert again.seen == ["zinc"]
    assert "damaged" in caplog.text
    assert not list(tmp_path.glob("*.partial"))


def test_a_folder_that_cannot_be_written_costs_a_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder")
    rows = Vectors(WordEmbedder(), tmp_path / "file" / "v.npz").of(["zinc"], keep=True)
    assert rows.shape == (1, 512)
    assert "computes them again" in caplog.text


def test_a_pool_comes_back_from_its_file_without_loss_and_a_bad_line_costs_itself(tmp_path):
    path = tmp_path / "pool.jsonl"
    items = [exemplar("b", "zinc"), exemplar("a", "copper", label="yes", made_by={"answer": "x"})]
    path.write_text("\n".join([*map(to_json, items), "{}", to_json(items[0])]))
    problems = Problems()
    pool = Pool.read(path, problems)
    assert [item.id for item in pool.exemplars] == ["a", "b"]
    assert set(pool.exemplars) == set(items)
    assert [problem.line for problem in problems] == [3, 4]
    path.write_text("{}\n")
    with pytest.raises(InputError, match="found none"):
        Pool.read(path, Problems())


@pytest.mark.parametrize(
    "wrong",
    [{"answer": "It did [2]."}, {"answer": None}, {"answer": None, "rationale": "So [1]."}, {"schema_version": 2}],
)
def test_an_exemplar_that_cites_or_says_nothing_right_is_refused(wrong):
    with pytest.raises(ValueError, match=r"expected|newer VeriCite"):
        exemplar("a", **wrong)


def test_what_was_built_can_be_shown(tmp_path: Path):
    zinc = Document.from_text("5", "Zinc shortened colds by 2 days in adults.")
    question = Question(id="a", text="Zinc?", gold_documents=("5",), gold_ideal=("Zinc shortened colds in adults.",))
    build_pool([question], lambda _: [zinc], tmp_path / "pool.jsonl")
    pool = Pool.read(tmp_path / "pool.jsonl", Problems())
    (shown,) = PoolSelector(pool, Selection(shots=1), load_prompt("default")).choose(Question(id="q", text="Gout?"))
    assert (shown.answer, shown.pmids) == ("Zinc shortened colds in adults [1].", ("5",))
    assert isinstance(pool.exemplars[0], Exemplar)
