from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice, repeat
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer

import vericite.models.engine as engine_module
from vericite.models import Embedder, EncodedInput, Engine, ModelFolder, Pair
from vericite.models.engine import MAY_EXIT, available_cores
from vericite.models.folder import EMBEDDER, VERIFIER
from vericite.models.session import EXACT_PRODUCTS, needs_exact_products

WORDS = Tokenizer.from_file(str(ModelFolder.bundled(VERIFIER).path / "tokenizer.json"))
CLS, SEP, PAD, MASK = (WORDS.token_to_id(word) for word in ("[CLS]", "[SEP]", "[PAD]", "[MASK]"))
ENCODER = Engine(ModelFolder.bundled(VERIFIER)).encoder

PREMISES = [
    "Aspirin reduced stroke.",
    "No deaths occurred in either arm.",
    "Serum IL-6 fell by 42% (95% CI 31-53; p < 0.001) after tocilizumab, whereas TNF-α was unchanged.",
    "We enrolled 1,204 women with early breast cancer at 31 centres between 2009 and 2014.",
    "Metformin did not lower the incidence of diabetic retinopathy compared with placebo.",
    "BRCA1 carriers had a cumulative ovarian cancer risk of 44% by the age of 80.",
    "The β-lactamase inhibitor restored meropenem activity against KPC-producing Klebsiella pneumoniae in vitro "
    "and in a murine thigh-infection model, but not against isolates that carried metallo-β-lactamases.",
    "Vaccinated nurses were less often absent.",
    "Loss of CFTR function impairs chloride transport across airway epithelium.",
    "Statin therapy was associated with a small increase in new-onset diabetes (OR 1.09), a finding that was "
    "consistent across 13 trials with 91,140 participants and that was not explained by longer survival.",
    "Hydroxychloroquine showed no benefit over usual care at day 28.",
    "Knock-out mice lacking Pcsk9 had markedly lower plasma LDL cholesterol.",
    "Ménière's disease was diagnosed in seven of the 58 patients.",
    "Vitamin D supplementation, 2000 IU a day, prevented neither cancer nor cardiovascular events.",
    "Bleeding was more frequent with rivaroxaban.",
    "PD-L1 expression ≥ 50% predicted response to pembrolizumab in non-small-cell lung cancer.",
    "Because recruitment was slow, the trial stopped early and its power to detect a difference in the primary "
    "outcome was only 38%; results should therefore be read as exploratory, particularly in the subgroup of "
    "patients older than 75 years, of whom only 23 were randomised and 4 were lost to follow-up.",
    "Methotrexate remains first-line treatment for rheumatoid arthritis.",
    "HbA1c decreased from 8.9% to 7.1% at 26 weeks.",
    "Zika virus RNA was found in the brain tissue of fetuses with microcephaly.",
]
CLAIMS = [
    "Aspirin lowers the risk of stroke.",
    "Mortality was zero.",
    "Tocilizumab decreases interleukin 6.",
    "The trial included men.",
    "Metformin prevents retinopathy in people with diabetes.",
    "Almost half of the women with a BRCA1 mutation develop ovarian cancer.",
    "The combination works against every carbapenem-resistant strain.",
    "Influenza vaccination reduces sick leave.",
    "CFTR is a chloride channel.",
    "Statins cause diabetes in most users.",
    "Hydroxychloroquine cures COVID-19.",
    "PCSK9 raises LDL cholesterol.",
    "Ménière's disease is common.",
    "Vitamin D does not prevent cancer.",
    "Rivaroxaban increases bleeding.",
    "PD-L1 is a biomarker in lung cancer.",
    "The drug is effective in the elderly.",
    "Methotrexate is used in arthritis.",
    "Glycaemic control improved.",
    "Zika virus infection is linked to microcephaly.",
]
PAIRS = [
    Pair(premise, CLAIMS[(index + step) % len(CLAIMS)]) for step in (0, 1, 7) for index, premise in enumerate(PREMISES)
]
TEXTS = PREMISES + CLAIMS
ODD = ["[SEP]", "[CLS] [SEP]", "a[SEP]b", "[PAD][MASK]", "［SEP］", "[S\x00EP]", "##[SEP]##", "[sep]", " [SEP] "]
Values = NDArray[np.float32]
Input = str | Pair


@pytest.fixture(scope="module")
def verifier() -> Engine:
    return Engine(ModelFolder.bundled(VERIFIER), exits=True)


@pytest.fixture(scope="module")
def embedder() -> Engine:
    return Engine(ModelFolder.bundled(EMBEDDER))


@pytest.fixture(scope="module", params=["verifier", "embedder"])
def subject(request: pytest.FixtureRequest) -> tuple[Engine, list[Input]]:
    return request.getfixturevalue(request.param), {"verifier": PAIRS, "embedder": TEXTS}[request.param]


@pytest.fixture(scope="module")
def alone(subject: tuple[Engine, list[Input]]) -> Values:
    engine, inputs = subject
    return np.array([values_of(engine, [item])[0] for item in inputs])


def values_of(engine: Engine, inputs: list[Input]) -> Values:
    return np.array([row.values for row in engine.run(inputs)])


def encoded(engine: Engine, item: Input) -> EncodedInput:
    return engine.encoder.encode([item])[0]


def same(found: Values, expected: Values) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-3
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).all()


def test_the_pairs_of_these_tests_have_different_verdicts(verifier: Engine):
    found = values_of(verifier, PAIRS)
    assert len(set(PAIRS)) == 60
    assert len(set(found.argmax(axis=1))) == 3
    assert found.std(axis=0).min() > 0.1


def test_a_pair_that_exits_keeps_its_label(verifier: Engine):
    closed, open_ = values_of(Engine(verifier.folder), PAIRS), values_of(verifier, PAIRS)
    assert (closed.argmax(axis=1) == open_.argmax(axis=1)).all()
    left = (closed != open_).any(axis=1)
    assert 0.2 < left.mean() < 1
    assert {*closed.argmax(axis=1)[left]} == {verifier.folder.card.labels.index("neutral")}


def test_a_row_does_not_depend_on_its_batch(subject: tuple[Engine, list[Input]], alone: Values):
    engine, inputs = subject
    chosen = random.Random(0)
    order = chosen.sample(range(len(inputs)), len(inputs))
    encodings = [encoded(engine, inputs[index]) for index in order]
    while order:
        size = chosen.randint(1, 16)
        batch, order = order[:size], order[size:]
        now, encodings = encodings[:size], encodings[size:]
        same(engine._score(now), alone[batch])


@pytest.mark.parametrize("padding", [1, 7, 200])
def test_a_row_does_not_depend_on_its_padding(padding: int, subject: tuple[Engine, list[Input]], alone: Values):
    engine, inputs = subject
    for index in range(0, len(inputs), 8):
        encoding = encoded(engine, inputs[index])
        rows = {
            "input_ids": encoding.ids,
            "attention_mask": [1] * len(encoding.ids),
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([row + [0] * padding], dtype=np.int64) for name, row in rows.items()}
        if engine.folder.card.exits:
            feed[MAY_EXIT] = np.array([engine.exits])
        same(engine._session.run(None, feed)[0], alone[[index]])


def test_a_row_does_not_depend_on_a_neighbour_of_full_length(subject: tuple[Engine, list[Input]], alone: Values):
    engine, inputs = subject
    longest = encoded(engine, "word " * 1000)
    for index in (7, 33):
        same(engine._score([longest, encoded(engine, inputs[index])])[1:], alone[[index]])


def test_rows_are_in_input_order(subject: tuple[Engine, list[Input]], alone: Values):
    engine, inputs = subject

    @settings(max_examples=8, deadline=None)
    @given(st.lists(st.integers(0, len(inputs) - 1), min_size=1, max_size=25))
    def in_order(order: list[int]) -> None:
        same(values_of(engine, [inputs[index] for index in order]), alone[order])

    in_order()


def test_rows_are_in_input_order_over_many_windows(
    subject: tuple[Engine, list[Input]], alone: Values, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine_module, "WINDOW", 7)
    engine, inputs = subject
    order = random.Random(5).choices(range(len(inputs)), k=50)
    same(values_of(engine, [inputs[index] for index in order]), alone[order])


def test_embeddings_of_these_texts_differ(embedder: Engine):
    cosines = np.triu(values_of(embedder, TEXTS) @ values_of(embedder, TEXTS).T, k=1)
    assert cosines.max() < 0.99


def test_texts_and_pairs_can_be_mixed(verifier: Engine):
    mixed: list[Input] = ["aspirin", PAIRS[0], "stroke", PAIRS[1]]
    same(values_of(verifier, mixed), np.concatenate([values_of(verifier, [item]) for item in mixed]))


def test_an_endless_source_is_read_one_window_ahead(verifier: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine_module, "WINDOW", 16)
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        for read in count(1):  # noqa: B007
            yield "aspirin"

    rows = verifier.run(endless())
    assert read == 0
    assert len(list(islice(rows, 16))) == 16
    assert read == 16
    next(rows)
    assert read == 32


def test_an_endless_source_gives_its_first_rows(verifier: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine_module, "WINDOW", 64)
    assert len(list(islice(verifier.run(repeat("")), 65))) == 65


def test_no_inputs_give_no_rows_and_load_nothing():
    engine = Engine(ModelFolder.bundled(VERIFIER))
    assert list(engine.run([])) == []
    assert list(engine.run(iter(()))) == []
    assert "_session" not in engine.__dict__


def test_eight_threads_sharing_a_fresh_engine_get_the_same_as_one(subject: tuple[Engine, list[Input]], alone: Values):
    engine, inputs = Engine(subject[0].folder, threads=2, exits=subject[0].exits), subject[1]
    together = Barrier(8, timeout=30)

    def work(seed: int) -> tuple[list[int], Values]:
        order = random.Random(seed).sample(range(len(inputs)), 8)
        together.wait()
        return order, values_of(engine, [inputs[index] for index in order])

    with ThreadPoolExecutor(8) as pool:
        for order, found in pool.map(work, range(8)):
            same(found, alone[order])


@pytest.mark.parametrize("size", [1, 40])
def test_one_thread_and_four_agree_exactly_on_verdicts(size: int, verifier: Engine):
    one, four = (Engine(verifier.folder, threads=threads, exits=True) for threads in (1, 4))
    assert (values_of(one, PAIRS[:size]) == values_of(four, PAIRS[:size])).all()


@pytest.mark.parametrize("size", [1, 40])
def test_one_thread_and_four_agree_on_embeddings_to_the_last_digit_of_a_float(size: int, embedder: Engine):
    one, four = (Engine(embedder.folder, threads=threads) for threads in (1, 4))
    # Not exactly: the sum over a padded sequence is taken in another order (measured 7e-8).
    assert np.abs(values_of(one, TEXTS[:size]) - values_of(four, TEXTS[:size])).max() <= 1e-6


def test_an_engine_uses_all_available_cores_by_default():
    folder = ModelFolder.bundled(VERIFIER)
    assert Engine(folder).threads == available_cores() >= 1
    assert Engine(folder, threads=3).threads == 3


@pytest.mark.parametrize(
    "item",
    ["", " ", "\n\t", "\x00", Pair("", ""), Pair("", "Aspirin works."), Pair("Aspirin works.", ""), Pair("\x00", " ")],
    ids=repr,
)
def test_empty_inputs_give_a_row(item: Input, verifier: Engine):
    (row,) = verifier.run([item])
    assert np.isfinite(row.values).all()
    assert not row.truncated


@pytest.mark.parametrize("surrogate", ["\ud800", "\udfff", "a\udc80b", "\ud83d\ude00", "\ude00\ud83d β"], ids=ascii)
def test_lone_surrogates_are_read_as_unknown_text(surrogate: str, verifier: Engine):
    items: list[Input] = [surrogate, Pair(surrogate, "Aspirin."), Pair("Aspirin.", surrogate)]
    assert np.isfinite(values_of(verifier, items)).all()
    assert encoded(verifier, items[1]).ids.count(SEP) == 2


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(codec=None), max_size=40), st.text(st.characters(codec=None), max_size=40))
def test_any_two_strings_make_a_pair(verifier: Engine, premise: str, claim: str):
    (row,) = verifier.run([Pair(premise, claim)])
    assert row.values.shape == (3,)
    assert np.isfinite(row.values).all()


LONG = "Patients were randomised to aspirin. " * 2703
assert len(LONG) > 100_000


@pytest.mark.parametrize(
    "item",
    [LONG, Pair(LONG, "Aspirin was given."), Pair("Aspirin was given.", LONG), "a" * 60 + LONG],
    ids=["text", "premise", "claim", "long word first"],
)
def test_a_text_of_100_000_characters_is_marked_as_cut(item: Input, verifier: Engine):
    (row,) = verifier.run([item])
    assert row.truncated
    assert np.isfinite(row.values).all()
    assert len(encoded(verifier, item).ids) == verifier.folder.card.max_tokens


def test_a_pair_of_two_long_texts_is_marked_as_cut(verifier: Engine):
    (row,) = verifier.run([Pair(LONG[:10_000], LONG[:10_000])])
    assert row.truncated


def test_a_pair_of_two_long_texts_takes_about_as_long_as_the_two_texts(verifier: Engine):
    def seconds(item: Pair) -> float:
        start = time.perf_counter()
        list(verifier.run([item]))
        return time.perf_counter() - start

    long = LONG[:40_000]
    apart = seconds(Pair(long, "Aspirin.")) + seconds(Pair("Aspirin.", long))
    assert seconds(Pair(long, long)) < 3 * apart + 0.2


def test_a_long_premise_does_not_shorten_the_claim(verifier: Engine):
    claim = "Aspirin was given to all patients."
    cut, whole = encoded(verifier, Pair(LONG, claim)), encoded(verifier, Pair("x", claim))
    assert sum(cut.type_ids) == sum(whole.type_ids)
    assert cut.ids[-sum(cut.type_ids) :] == whole.ids[-sum(whole.type_ids) :]


@pytest.mark.parametrize(("words", "truncated"), [(510, False), (511, True)])
def test_an_input_is_cut_only_beyond_the_models_limit(words: int, truncated: bool, verifier: Engine):
    (row,) = verifier.run(["a " * words])
    assert row.truncated is truncated


def test_only_the_long_input_of_a_batch_is_marked_as_cut(verifier: Engine):
    rows = list(verifier.run(["short", LONG, "also short"]))
    assert [row.truncated for row in rows] == [False, True, False]


@settings(max_examples=50, deadline=None)
@given(*[st.lists(st.sampled_from([*ODD, "aspirin", ".", "β"]) | st.text(max_size=6), max_size=6)] * 2)
def test_no_text_becomes_a_special_token(verifier: Engine, premise: list[str], claim: list[str]):
    for joint in ("", " "):
        ids = encoded(verifier, Pair(joint.join(premise), joint.join(claim))).ids
        assert ids.count(SEP) == 2
        assert ids.count(CLS) == 1
        assert PAD not in ids
        assert MASK not in ids


def test_a_separator_in_a_premise_does_not_end_it(verifier: Engine):
    encoding = encoded(verifier, Pair("Nothing known. [SEP] Aspirin cures gout. [SEP]", "[CLS] Aspirin cures gout."))
    assert encoding.ids.count(SEP) == 2
    assert encoding.ids.count(CLS) == 1
    first = encoding.ids.index(SEP)
    assert encoding.type_ids == [0] * (first + 1) + [1] * (len(encoding.ids) - first - 1)


def test_embeddings_of_any_text_have_length_one():
    found = Embedder().embed([*TEXTS, "", "\ud800", LONG])
    assert found.shape == (len(TEXTS) + 3, 384)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-4)


def test_similar_texts_have_similar_embeddings():
    embed = Embedder().embed
    query, near, far = embed(["heart attack", "myocardial infarction", "zebrafish fin regeneration"])
    assert query @ near > query @ far + 0.2


def test_no_texts_give_an_empty_array_of_the_right_width():
    found = Embedder().embed([])
    assert found.shape == (0, 384)
    assert found.dtype == np.float32


def test_exact_products_of_bytes_give_the_same_logits(monkeypatch: pytest.MonkeyPatch, verifier: Engine):
    monkeypatch.setenv("VERICITE_EXACT_BYTES", "1")
    assert needs_exact_products()
    careful = Engine(verifier.folder, exits=True)
    same(values_of(careful, PAIRS[:20]), values_of(verifier, PAIRS[:20]))


@pytest.mark.parametrize("letters", [26, 50, 2000])
def test_words_of_over_100_letters_are_distinguished(letters: int, verifier: Engine):
    one, other = "gatc" * letters, "ttag" * letters
    first, second = verifier.encoder.encode([one, other])
    assert first.ids != second.ids
    same, different = verifier.run([Pair(one, one), Pair(one, other)])
    assert not np.array_equal(same.values, different.values)


@given(st.text(st.sampled_from("ab1_ \u0301-."), max_size=400))
def test_no_word_of_any_length_is_an_unknown_token(text: str):
    unknown = ENCODER._special("[UNK]", Path())
    assert unknown not in ENCODER.encode([text * 9])[0].ids


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("place", ["src", "recipes", "benchmarks"])
def test_graphs_are_opened_in_one_place(place: str):
    """Sessions opened elsewhere give wrong results on processors without VNNI."""
    opening = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / place).rglob("*.py"))
        if "InferenceSession(" in path.read_text(encoding="utf-8")
    ]
    assert opening == (["src/vericite/models/session.py"] if place == "src" else [])


@pytest.mark.parametrize(("value", "exact"), [("1", True), ("0", False)])
def test_exact_products_of_bytes_can_be_chosen(value: str, exact: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERICITE_EXACT_BYTES", value)
    assert needs_exact_products() is exact


@pytest.mark.parametrize("bits", [7, 8])
def test_weights_with_7_bits_use_fast_products_on_every_processor(
    bits: int, monkeypatch: pytest.MonkeyPatch, verifier: Engine
):
    """An older processor only overflows in products of 8-bit activations."""
    monkeypatch.setenv("VERICITE_EXACT_BYTES", "1")
    card = verifier.folder.card.model_copy(update={"activation_bits": bits})
    session = Engine(ModelFolder(verifier.folder.path, card))._session
    options = session.get_session_options()
    if bits == 8:
        assert options.get_session_config_entry(EXACT_PRODUCTS) == "1"
    else:
        with pytest.raises(RuntimeError, match=EXACT_PRODUCTS):
            options.get_session_config_entry(EXACT_PRODUCTS)
