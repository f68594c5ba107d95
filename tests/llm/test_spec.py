from __future__ import annotations

import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vericite.llm
from vericite.disk.files import default_cache_folder
from vericite.errors import InputError, LLMAccessError, MissingExtraError, UnknownNameError
from vericite.llm import LLM, ChatRequest, FrozenSchema, Message, ModelSpec, Settings
from vericite.llm.spec import PROVIDERS, key_of, key_variable_of

MODELS = st.text(string.ascii_letters + string.digits + "-_./:@", min_size=1)
HOSTS = st.sampled_from(["localhost", "127.0.0.1", "[::1]", "models.example.org", "10.0.0.7"])
PORTS = st.one_of(st.just(""), st.integers(1, 65535).map(lambda port: f":{port}"))
PATHS = st.sampled_from(["", "/v1", "/v1/", "/serving/openai/v1"])


@given(provider=st.sampled_from(sorted(PROVIDERS)), model=MODELS)
def test_a_service_is_found_again_from_its_signature(provider: str, model: str):
    spec = ModelSpec.parse(f"{provider}:{model}")
    assert (spec.provider, spec.model) == (provider, model)
    assert ModelSpec.parse(spec.signature) == spec


@given(scheme=st.sampled_from(["http", "https", "HTTP"]), host=HOSTS, port=PORTS, path=PATHS, model=MODELS)
def test_an_address_is_found_again_from_its_signature(scheme: str, host: str, port: str, path: str, model: str):
    spec = ModelSpec.parse(f"{scheme}://{host}{port}{path}#{model}")
    assert spec.model == model
    assert spec.base_url == f"{scheme.lower()}://{host}{port}{path.rstrip('/')}"
    assert ModelSpec.parse(spec.signature) == spec


@given(st.text())
def test_any_text_is_a_spec_or_is_refused(text: str):
    try:
        spec = ModelSpec.parse(text)
    except InputError:
        return
    assert spec.model


@pytest.mark.parametrize(
    ("text", "base_url", "variable"),
    [
        ("openai:gpt-4o-mini", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("openrouter:vendor/model:free", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("anthropic:claude-x", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        ("deepinfra:a/b", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
        ("ollama:llama3.2", "http://localhost:11434/v1", None),
        ("vllm:a/b", "http://localhost:8000/v1", None),
        ("https://host.example/v1#m", "https://host.example/v1", "VERICITE_KEY_HOST_EXAMPLE"),
        ("https://LLM-2.host.example./v1#m", "https://llm-2.host.example./v1", "VERICITE_KEY_LLM__2_HOST_EXAMPLE"),
        ("http://localhost:8000/v1#m", "http://localhost:8000/v1", "VERICITE_KEY_LOCALHOST"),
        ("http://[2001:db8::7]/v1#m", "http://[2001:db8::7]/v1", "VERICITE_KEY_2001_DB8__7_"),
        ("https://api.openai.com/v1#m", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("http://api.openai.com/v1#m", "http://api.openai.com/v1", "VERICITE_KEY_API_OPENAI_COM"),
        (
            "https://api.openai.com.evil.example/v1#m",
            "https://api.openai.com.evil.example/v1",
            "VERICITE_KEY_API_OPENAI_COM_EVIL_EXAMPLE",
        ),
        ("http://h\u00f6st/v1#m", "http://h\u00f6st/v1", None),
    ],
)
def test_a_spec_says_where_the_model_is_and_which_key_it_takes(text: str, base_url: str, variable: str | None):
    spec = ModelSpec.parse(text)
    assert (spec.base_url, spec.key_variable, spec.path) == (base_url, variable, None)


LABELS = st.from_regex(r"[a-z0-9]([a-z0-9_-]{0,6}[a-z0-9])?", fullmatch=True)
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join)


@given(NAMES | st.ip_addresses().map(str), NAMES | st.ip_addresses().map(str))
def test_no_two_hosts_share_a_variable(one: str, other: str):
    variables = [key_variable_of("https", host, None) for host in (one, other)]
    assert one == other or None in variables or variables[0] != variables[1]


@pytest.mark.parametrize(
    ("one", "other"), [("a-b.c", "a.b.c"), ("a_b", "a.b"), ("a--b", "a-b"), ("::1", "1"), ("a_-b", "a-_b")]
)
def test_hosts_that_differ_in_a_sign_do_not_share_a_variable(one: str, other: str):
    variables = [key_variable_of("https", host, None) for host in (one, other)]
    assert None in variables or variables[0] != variables[1]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("http://me:hunter22@host/v1#m", "without user name and password"),
        ("http://host/v1?api_key=hunter22#m", "without a query"),
        ("http://host/v1", "'#' and the model's name"),
        ("http://host/v1#", "'#' and the model's name"),
        ("http:///v1#m", "expected an address"),
        ("http://host:notaport/v1#m", "expected an address"),
        ("http://[::1/v1#m", "expected an address"),
        ("openai:", "expected a model's name"),
        ("openai: \t", "expected a model's name"),
        ("openai:gpt 4", "expected a model's name"),
        ("gpt-4o", "Put its provider in front"),
        ("", "Put its provider in front"),
        ("gguf:", "Name the model's .gguf file"),
        ("gguf:/nowhere/model.gguf", "found none"),
    ],
)
def test_what_names_no_model_is_refused_without_repeating_a_secret(text: str, wanted: str):
    with pytest.raises(InputError, match=wanted.replace("?", r"\?")) as caught:
        ModelSpec.parse(text)
    assert "hunter22" not in str(caught.value)


def test_an_unknown_provider_is_answered_with_those_there_are():
    with pytest.raises(UnknownNameError, match=r"anthropic, .*vllm; found 'opnai'. Did you mean 'openai'"):
        ModelSpec.parse("opnai:gpt-4o")


def test_a_file_is_known_by_what_is_in_it_and_not_by_where_it_lies(tmp_path: Path):
    content = bytes(range(256)) * 40_000
    places = [tmp_path / "a" / "m.gguf", tmp_path / "b" / "m.gguf"]
    for place in places:
        place.parent.mkdir()
        place.write_bytes(content)
    one, other = (ModelSpec.parse(f"gguf:{place}").signature for place in places)
    assert one == other
    assert one.startswith("gguf:m.gguf@")
    places[0].write_bytes(content[:-1] + b"x")
    assert ModelSpec.parse(f"gguf:{places[0]}").signature != one


def test_a_file_may_have_an_adapter_behind_a_plus(tmp_path: Path):
    for name in ("m.gguf", "a.gguf", "c++.gguf"):
        (tmp_path / name).write_bytes(name.encode())
    plain, spec = (ModelSpec.parse(f"gguf:{tmp_path}/{rest}") for rest in ("m.gguf", f"m.gguf+{tmp_path}/a.gguf"))
    assert (spec.path, spec.adapter, spec.model) == (tmp_path / "m.gguf", tmp_path / "a.gguf", "m.gguf+a.gguf")
    assert spec.local and spec.signature.startswith(f"{plain.signature}+a.gguf@")
    assert ModelSpec.parse(f"gguf:{tmp_path}/c++.gguf").adapter is None
    for rest, what in (("m.gguf+none.gguf", "adapter"), ("none.gguf+m.gguf", "model"), ("m.gguf+", "adapter")):
        with pytest.raises(InputError, match=f"expected a GGUF {what} file"):
            ModelSpec.parse(f"gguf:{tmp_path}/{rest}")


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("http://localhost:1/v1#m", True),
        ("http://127.8.9.1:1/v1#m", True),
        ("http://[::1]:1/v1#m", True),
        ("ollama:m", True),
        ("http://localhost.example.org/v1#m", False),
        ("http://0.0.0.0/v1#m", False),
        ("https://models.example.org/v1#m", False),
        ("openai:m", False),
    ],
)
def test_a_spec_knows_whether_its_model_is_on_this_machine(text: str, local: bool):
    assert ModelSpec.parse(text).local is local


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"attempts": 0}, {"timeout": 0}, {"requests_per_minute": 0}, {"reply_tokens": 0}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, int]):
    with pytest.raises(InputError, match="expected"):
        Settings(**wrong)


@pytest.mark.parametrize(
    ("value", "offline"), [("1", True), ("yes", True), ("0", False), ("", False), ("False", False), ("off", False)]
)
def test_the_environment_says_whether_the_network_may_be_used(
    monkeypatch: pytest.MonkeyPatch, value: str, offline: bool
):
    monkeypatch.setenv("VERICITE_OFFLINE", value)
    assert Settings().offline is offline is vericite.llm.offline_by_environment()


def test_the_cache_lies_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Settings().cache_file == tmp_path / "vericite" / "llm.sqlite"
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "own"))
    assert Settings().cache_file == tmp_path / "own" / "llm.sqlite"
    monkeypatch.delenv("VERICITE_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_cache_folder() == Path.home() / ".cache" / "vericite"
    assert Settings(cache=None).cache_file is None


def test_equal_schemas_are_one_whatever_the_order_of_their_fields():
    one = FrozenSchema.of({"type": "object", "properties": {}})
    other = FrozenSchema.of({"properties": {}, "type": "object"})
    assert one == other and hash(one) == hash(other)
    assert one.value == {"type": "object", "properties": {}}


def test_the_values_alone_load_nothing_heavy():
    heavy = ("asyncio", "openai", "xllamacpp", "httpx2", "sqlite3")
    code = f"import sys, vericite.llm; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_without_its_package_a_file_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(MissingExtraError, match=r"vericite\[local\]"):
        LLM(f"gguf:{tmp_path / 'm.gguf'}")


def test_every_public_name_is_there():
    assert all(getattr(vericite.llm, name) is not None for name in vericite.llm.__all__)
    with pytest.raises(AttributeError):
        vericite.llm.nothing  # noqa: B018


def test_a_request_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one message"):
        ChatRequest(())
    with pytest.raises(InputError, match="max_tokens"):
        ChatRequest((Message("user", "hi"),), max_tokens=0)


def test_a_key_for_all_hosts_is_sent_to_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERICITE_LLM_KEY", "some-long-key")
    with pytest.raises(LLMAccessError, match=r"VERICITE_KEY_MODELS_EXAMPLE; found VERICITE_LLM_KEY, which is not sent"):
        key_of(ModelSpec.parse("https://models.example/v1#m"))
    assert not key_of(ModelSpec.parse("http://localhost:8000/v1#m"))
    monkeypatch.setenv("VERICITE_KEY_MODELS_EXAMPLE", "its-own-key")
    assert key_of(ModelSpec.parse("https://models.example/v1#m")).bearer() == "Bearer its-own-key"
    monkeypatch.delenv("VERICITE_LLM_KEY")
    assert not key_of(ModelSpec.parse("https://other.example/v1#m"))
