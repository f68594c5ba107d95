"""A run as a value: its file, its errors, and the same run from the command line and from the file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus import demo_documents, demo_questions
from vericite.errors import InputError, UnknownNameError
from vericite.generate.demonstrations import build_pool
from vericite.generate.language_model import AskingGenerator
from vericite.pipeline.build import build, open_search, protocol_of, settings_of
from vericite.pipeline.plan import SECTIONS, STARTING_POINTS, AnswerPlan, CheckPlan, ModelPlan, Plan, SearchPlan
from vericite.pipeline.setting import fields_of, write_value
from vericite.records import Document, Evidence, Question
from vericite.retrieve.rewrite import Trigger
from vericite.serve.bodies import CHANGEABLE, PlanBody

ROOT = Path(__file__).parents[2]
hit = Evidence(document=Document.from_text("d", "It does."), rank=1, score=1.0, retriever="fixed")
QUESTION = "Which drugs are used for smoking cessation?"
COMMANDS = {
    "search": (["search", QUESTION], ["search.k=2", "search.rerank=none", "search.by=bm25"]),
    "ask": (
        ["ask", "Does vitamin C add to iron?", "--corpus", str(ROOT / "examples/formats/documents.jsonl")],
        ["search.k=2", "search.by=bm25", "check.protocol=vericite", "check.abstain_below=0.5"],
    ),
    "check": (["check", str(ROOT / "examples/answers.jsonl"), "--rows", "3"], ["check.abstain_below=0.8"]),
    "attribute": (
        ["attribute", str(ROOT / "examples/answers.jsonl"), "--json"],
        ["check.judge=lexical"],
    ),
    "repair": (
        ["repair", str(ROOT / "examples/answers.jsonl")],
        ["check.protocol=vericite", "repair.drop_uncited=true", "llm.cache=false"],
    ),
}


@given(
    st.builds(
        Plan,
        search=st.builds(
            SearchPlan,
            k=st.integers(1, 99),
            by=st.sampled_from([None, "bm25", "hybrid", "late"]),
            journals=st.lists(st.text(max_size=9), max_size=3).map(tuple),
            coverage=st.floats(0, 1),
        ),
        answer=st.builds(AnswerPlan, llm=st.none() | st.text(max_size=9), seed=st.none() | st.integers(0, 9)),
        check=st.builds(CheckPlan, abstain_below=st.none() | st.floats(0, 1)),
        llm=st.builds(ModelPlan, timeout=st.floats(1, 999), cache=st.booleans()),
    )
)
def test_a_plan_comes_back_from_its_values(plan: Plan):
    assert Plan().changed(json.loads(json.dumps(plan.as_json()))) == plan


def test_a_file_says_what_differs_and_the_rest_stays(tmp_path: Path):
    (tmp_path / "plan.toml").write_text('[search]\nk = 3\nlanguages = ["eng"]\n[check]\nprotocol = "alce"\n')
    plan = Plan.load(tmp_path / "plan.toml", Plan(search=SearchPlan(rerank="none")))
    assert plan == Plan(search=SearchPlan(rerank="none", k=3, languages=("eng",)), check=CheckPlan(protocol="alce"))
    plan.dump(tmp_path / "whole.json")
    assert Plan.load(tmp_path / "whole.json") == plan


def test_yaml_is_read_where_its_package_is(tmp_path: Path):
    pytest.importorskip("yaml", reason="PyYAML is no dependency")
    (tmp_path / "plan.yaml").write_text("search: {k: 3}\n")
    assert Plan.load(tmp_path / "plan.yaml").search.k == 3
    (tmp_path / "plan.yml").write_text("search: !!python/object:os.system {}\n")
    with pytest.raises(InputError, match="expected settings"):
        Plan.load(tmp_path / "plan.yml")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"search": {"kk": 3}}', "search.kk"),
        ('{"search": {"k": "three"}}', "search.k"),
        ('{"search": {"k": 0}}', "search.k"),
        ('{"search": 3}', "search"),
        ('{"serach": {}}', "serach"),
        ('{"llm": {"key": "sk-123"}}', "llm.key"),
        ("[1]", r"\[1\]"),
        ("{", "plan.json"),
    ],
)
def test_what_is_no_plan_is_named(tmp_path: Path, text: str, found: str):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(InputError, match=f"expected (a plan|settings).*{found}"):
        Plan.load(tmp_path / "plan.json")


def test_an_unknown_way_is_refused_with_those_there_are():
    with pytest.raises(UnknownNameError, match="bm25"):
        SearchPlan(by="magic")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (AnswerPlan(seed=1), "answer.llm with answer.seed"),
        (AnswerPlan(llm="ollama:x", rationale=True, prompt="biogen"), "without answer.prompt"),
        (AnswerPlan(llm="ollama:x", shots=2), "answer.pool with answer.shots"),
        (AnswerPlan(llm="ollama:x", diversity=0.5), "answer.pool with answer.diversity"),
        (AnswerPlan(llm="ollama:x", contexts=(1, 2)), "answer.rationale with answer.contexts"),
        (AnswerPlan(llm="ollama:x", together=True), "answer.rationale with answer.together"),
        (AnswerPlan(max_similarity=0.5), "answer.llm with answer.max_similarity"),
    ],
)
def test_settings_that_change_nothing_are_refused(answer: AnswerPlan, expected: str):
    with pytest.raises(InputError, match=expected):
        build(Plan(answer=answer))


def test_a_plan_is_built_into_the_parts_that_it_names():
    plan = Plan(search=SearchPlan(by="bm25", rerank="none", k=2), check=CheckPlan(protocol="vericite", judge="lexical"))
    pipeline = build(plan)
    run = pipeline.run(Question(id="q", text=QUESTION), plan.search.k)
    assert len(run.evidence) == 2 and run.evidence[0].retriever == "bm25"
    assert pipeline.verifier.protocol.name == "vericite" and "lexical" in run.provenance.parts["judge"]
    assert open_search(plan.search).parts == pipeline.search.parts
    assert protocol_of(CheckPlan(abstain_below=0.4)).abstain_below == 0.4
    assert settings_of(ModelPlan(price="0.15,0.60")).price is not None
    with pytest.raises(InputError, match="two amounts"):
        settings_of(ModelPlan(price="cheap"))


def test_reason_and_verifys_search_is_the_papers():
    search = Plan().changed({"search": {**STARTING_POINTS["reason-verify"], "rewrite": "ollama:x"}}).search
    assert (search.k, search.candidates, search.by, search.rerank) == (5, 20, "bm25", "bge")
    assert (search.relevance_top, search.coverage, search.relevance) == (5, 0.3, 0.5)
    assert (search.keep, search.rerank_by) == ("new", "rewriting")
    opened = open_search(search.model_copy(update={"rerank": "bundled"}))
    assert opened.rewrite is not None and opened.rewrite.trigger == Trigger()
    assert opened.parts["rewriter"].endswith("best=5), keep=new, rerank_by=rewriting")
    # Algorithm 1 rewrites the question without the evidence.
    assert "documents=0" in opened.parts["rewriter"]


def test_the_choice_of_demonstrations_is_as_the_plan_says(tmp_path: Path):
    pool = tmp_path / "pool.jsonl"
    documents = {document.id: document for document in demo_documents()}
    build_pool(demo_questions(), lambda asked: [documents[id] for id in asked.gold_documents], pool)
    answer = AnswerPlan(
        llm="ollama:x",
        pool=str(pool),
        shots=3,
        select="similar+diverse",
        min_shots=1,
        max_similarity=0.8,
        diversity=0.6,
    )
    generator = build(Plan(answer=answer, search=SearchPlan(by="bm25", rerank="none"))).generator
    assert "similar+diverse, shots=3, seed=0, fewest=1, diversity=0.6, near=0.8" in generator.signature


def test_a_closed_book_needs_a_model_and_a_prompt_that_allows_it():
    closed = SearchPlan(corpus="none")
    assert open_search(closed).find(Question(id="q", text="x"), 5).evidence == ()
    with pytest.raises(InputError, match=r"answer\.llm with search\.corpus none"):
        build(Plan(search=closed))
    with pytest.raises(InputError, match="closed-book-bioasq"):
        build(Plan(search=closed, answer=AnswerPlan(llm="ollama:x")))
    made = build(Plan(search=closed, answer=AnswerPlan(llm="ollama:x", prompt="closed-book-pubmedqa")))
    assert isinstance(made.generator, AskingGenerator)
    request = made.generator.request(Question(id="q", text="Does it?", type="yesno"), ())
    assert request is not None
    assert "C. maybe" in request.messages[-1].text and "document" not in request.messages[-1].text


def test_a_prompt_is_sent_at_the_plans_temperature_and_signed_with_it():
    made = {
        temperature: build(
            Plan(answer=AnswerPlan(llm="ollama:x", prompt="vericite", temperature=temperature))
        ).generator
        for temperature in (None, 0.4, 1.0)
    }
    asked = {
        temperature: generator.request(Question(id="q", text="Does it?"), [hit])
        for temperature, generator in made.items()
        if isinstance(generator, AskingGenerator)
    }
    assert [request and request.temperature for request in asked.values()] == [0.4, 0.4, 1.0]
    assert made[None].signature == made[0.4].signature != made[1.0].signature


def test_a_rationale_may_come_to_maybe_where_that_is_asked_for():
    for prompt, maybe in (("default", False), ("steps", False), ("steps-maybe", True)):
        generator = build(Plan(answer=AnswerPlan(llm="ollama:x", rationale=True, prompt=prompt))).generator
        assert isinstance(generator, AskingGenerator)
        assert ("maybe" in generator.prompt.options.values()) == maybe


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_from_its_plan_is_the_same_run(run_cli, tmp_path: Path, command: str):
    words, settings = COMMANDS[command]
    options = [word for setting in settings for word in ("--set", setting)]
    plan = str(tmp_path / "plan.json")
    assert run_cli("settings", command, *options, "--out", plan).code == 0
    first = run_cli(*words, *options)
    assert first.code == 0
    assert run_cli(*words, "--plan", plan) == first
    assert run_cli(*words) != first


def test_options_override_the_plan(run_cli, tmp_path: Path):
    (tmp_path / "plan.json").write_text('{"search": {"k": 1, "rerank": "none"}}')
    printed = run_cli("search", QUESTION, "--plan", str(tmp_path / "plan.json"), "--k", "2", "--json")
    assert len(json.loads(printed.out)["evidence"]) == 2


def test_settings_hold_only_what_the_command_reads(run_cli):
    printed = run_cli("settings", "check", "--set", "check.abstain_below=0.5", "--json")
    plan = json.loads(printed.out)
    assert printed.code == 0 and plan["check"]["abstain_below"] == 0.5 and set(plan) == {"check", "llm", "workers"}


def test_every_setting_is_listed_with_what_it_means(run_cli):
    printed = run_cli("settings", "ask").out
    for field in fields_of(Plan, SECTIONS["ask"]):
        assert field.path in printed and field.help
    assert "--k of ask, search" in printed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("search.candidates", "as in search.corpus=demo"),
        ("candidate=5", "Did you mean 'search.candidates'"),
        ("search.candidate=5", "Did you mean 'search.candidates'"),
        ("search.candidates=many", "search.candidates can have"),
        ("search.candidates=0", "search.candidates can have"),
        ("search.by=magic", "bm25"),
        ("repair.rounds=2", "a setting that this command reads, one of search, llm"),
        ("search.k=none", "For no value write search.k="),
        ("search.mesh=Diabetes Mellitus, Type 2", '"Diabetes Mellitus, Type 2"'),
        ('search.journals="Lancet', "quote"),
        ("search.journals=,", "no empty value"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(run_cli, given: str, expected: str):
    printed = run_cli("search", QUESTION, "--set", given)
    assert printed.code == 2 and expected in " ".join(printed.err.split())


def test_a_section_may_be_left_out_where_only_one_has_the_name():
    plan = Plan().assigned(["candidates=50", "protocol=alce"])
    assert plan == Plan().assigned(["search.candidates=50", "check.protocol=alce"])
    with pytest.raises(InputError, match=r"Write answer\.llm or repair\.llm"):
        Plan().assigned(["llm=ollama:x"])


@given(st.data())
def test_a_setting_is_read_as_it_is_written(data: st.DataObject):
    chosen = data.draw(
        st.fixed_dictionaries(
            {
                "search.journals": st.lists(
                    st.sampled_from(["Lancet", "Drug, Healthcare and Safety", '"Q", 1', "1-5"]), max_size=3
                ).map(tuple)
            }
            | {"search.k": st.none() | st.integers(1, 99), "search.coverage": st.floats(0, 1)}
            | {"answer.contexts": st.lists(st.integers(1, 9), unique=True, max_size=4).map(tuple)}
            | {
                "search.retracted": st.none() | st.booleans(),
                "search.corpus": st.sampled_from(["demo", "5", "true", "a=b"]),
            }
        )
    )

    plan = Plan().assigned([f"{name}={write_value(value)}" for name, value in chosen.items()])
    for name, value in chosen.items():
        section, _, field = name.partition(".")
        assert getattr(getattr(plan, section), field) == value


def test_a_list_that_is_set_twice_holds_all_values_and_no_value_empties_it():
    given = ['search.mesh="Diabetes Mellitus, Type 2"', "search.mesh=Asthma"]
    assert Plan().assigned(given).search.mesh == ("Diabetes Mellitus, Type 2", "Asthma")
    assert Plan().assigned([*given, "search.mesh="]).search.mesh == ()
    assert Plan().assigned(["search.k=2", "search.k=3"]).search.k == 3


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("plan.toml", "[search]\nrernk = 'none'\n", "perhaps for 'rerank'"),
        ("plan.toml", "[search]\nyear_from = 2020-01-01\n", "search.year_from"),
        ("plan.json", "[" * 100_000, "plan.json"),
        ("plan.yaml", "a: &a [*a]\n", "values that are not settings"),
    ],
)
def test_a_file_with_a_wrong_setting_is_refused_with_the_next_step(tmp_path: Path, name: str, text: str, found: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=re.escape(found)):
        Plan.load(tmp_path / name)


def test_settings_are_written_as_toml_where_the_file_is_named_so(run_cli, tmp_path: Path):
    file = tmp_path / "vericite.toml"
    heading = 'search.mesh="Diabetes Mellitus, Type 2"'
    assert run_cli("settings", "ask", "--set", heading, "--set", "search.retracted=false", "--out", str(file)).code == 0
    plan = Plan.load(file)
    assert plan.search.mesh == ("Diabetes Mellitus, Type 2",) and plan.search.retracted is False
    assert plan == Plan().changed({"search": {"mesh": plan.search.mesh, "retracted": False}})


def test_a_new_field_of_a_plan_is_an_option_a_setting_and_a_request_field_at_once():
    for field in fields_of(Plan):
        assert not field.setting.commands or field.setting.option
        assert set(field.setting.commands) <= set(SECTIONS)
        assert all(field.section in SECTIONS[command] for command in field.setting.commands)
        assert (field.name in CHANGEABLE.get(field.section, {})) == field.setting.by_request
        written = PlanBody.model_json_schema()["properties"].get(field.section, {"properties": {}})["properties"]
        assert (field.name in written) == field.setting.by_request


def test_a_run_folder_keeps_its_plan(run_cli, tmp_path: Path):
    assert run_cli(*COMMANDS["ask"][0], "--k", "2", "--save", str(tmp_path / "run")).code == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert Plan().changed(manifest["plan"]).search.k == 2


def test_a_plan_that_cannot_be_used_ends_with_2(run_cli, tmp_path: Path):
    for plan in ("nowhere", str(tmp_path / "nowhere.json")):
        printed = run_cli("search", QUESTION, "--plan", plan)
        assert printed.code == 2 and "expected" in printed.err


def test_late_over_documents_of_ones_own_is_refused():
    with pytest.raises(InputError, match="expected a store to rank by late"):
        open_search(SearchPlan(by="late"), documents=demo_documents()[:3])


def test_a_setting_that_nobody_gave_stays_not_given():
    """An adapter has its own learning rate unless one is given; every `--set` made it look as if one had been."""
    from vericite.lab.train.configs import LabelConfig

    changed = LabelConfig().assigned(["epochs=3"])
    assert changed.model_fields_set == {"epochs"} and changed.part(LabelConfig).model_fields_set == {"epochs"}
    assert "learning_rate" in LabelConfig().assigned(["learning_rate=1e-5"]).model_fields_set


@pytest.mark.parametrize("text", ["[old].jsonl", "{x}"])
def test_a_text_may_begin_with_a_bracket(text: str):
    assert Plan().assigned([f"search.corpus={text}"]).search.corpus == text
