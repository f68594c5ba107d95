# What a newcomer needs is Python 3.11 or later, make and a C library: `make demo`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Python compiles what is imported when it is; compiling all that is installed takes a minute and more.
INSTALL := install --no-compile
# A build for the processor alone where the registry has one; the newest brings gigabytes for graphics cards.
TORCH ?= torch==2.13.0
QUESTION ?= Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?

.PHONY: help setup demo test test-hf test-hf-slow test-llm test-peers test-slow check format docs docs-check bench wheel-check lock clean

help: ## List what make can do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

# Debian and Ubuntu ship Python without the part that fills a virtual environment.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "expected Python 3.11 or later; found $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  v=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  echo "expected Python's venv module; found none. Install it: sudo apt-get install $$v   (or python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) $(INSTALL) --require-hashes -r requirements.lock
	$(PIP) $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.core
	$(PIP) $(INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

setup: $(VENV)/.dev ## Create .venv with the package and what developing it needs

demo: $(VENV)/.core ## Ask the demonstration corpus a question and check the answer's citations
	@$(BIN)/vericite ask "$(QUESTION)"

# What Python compiles for the tests stays in .venv, also where the shell says PYTHONDONTWRITEBYTECODE. Without that each
# worker, and each command that a test starts, compiles the package and its libraries anew.
test test-hf test-hf-slow test-llm test-slow: export PYTHONDONTWRITEBYTECODE :=
test test-hf test-hf-slow test-llm test-slow: export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/compiled

test: $(VENV)/.dev ## Run the fast tests, on all cores
	$(BIN)/pytest --numprocesses auto --dist worksteal -m "not slow and not hf and not llm"

# Apart from the rest, so that types are checked and the fast tests run the same with and without torch. It reads what
# .venv has and holds only what that lacks, so nothing is installed twice.
$(VENV)-hf/.done: $(VENV)/.dev | $(VENV)/bin/python
	$(PYTHON) -m venv --clear $(VENV)-hf
	$(VENV)-hf/bin/python -c 'import sysconfig, sys; base = sys.argv[1]; \
	  open(sysconfig.get_path("purelib") + "/vericite_dev.pth", "w").write(f"import site; site.addsitedir({base!r})\n")' \
	  "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	$(VENV)-hf/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) $(TORCH) 'transformers>=5' 'peft>=0.18' 'gguf>=0.10' sentencepiece protobuf
	@touch $@

$(VENV)/.llm: tests/llm/requirements.txt $(VENV)/.dev
	$(PIP) $(INSTALL) --no-deps --require-hashes -r tests/llm/requirements.txt
	@touch $@

test-hf: $(VENV)-hf/.done ## Run the tests of checkpoints and of training decoders, on small models made by the tests (needs torch)
	$(VENV)-hf/bin/python -m pytest -m "hf and not slow" -rs

test-hf-slow: $(VENV)-hf/.done ## Run the slow ones of these: every experiment with checkpoints, and those that train
	$(VENV)-hf/bin/python -m pytest -m "hf and slow" -rs

test-llm: $(VENV)/.llm ## Run the tests on a small language model in llama.cpp, on this machine
	$(BIN)/pytest -m llm -rs

$(VENV)-peers/.done: tests/formats/requirements.txt pyproject.toml | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) --require-hashes -r tests/formats/requirements.txt
	$(VENV)-peers/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

test-peers: $(VENV)-peers/.done ## Run the tests on answers that other libraries write (ragas, LangChain, LlamaIndex and more)
	$(VENV)-peers/bin/pytest -rs tests/formats/test_peers.py

test-slow: $(VENV)/.dev ## Run the tests that take minutes or need data outside the repository
	$(BIN)/pytest -m slow -rs

check: $(VENV)/.dev ## Check format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.dev ## Format the code and mend what lint can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## Run the commands shown in README.md and docs/ and put their output in
	$(BIN)/python docs/refresh.py
	$(BIN)/python docs/api.py

docs-check: $(VENV)/.dev ## Check that README.md and docs/ show what the commands and programs print
	$(BIN)/python docs/figures.py --check
	$(BIN)/python docs/refresh.py --check

bench: $(VENV)/.dev ## Measure speed and quality (benchmarks/ says what each needs)
	$(BIN)/python benchmarks/verify.py
	$(BIN)/python benchmarks/sentences.py

wheel-check: $(VENV)/.dev ## Build the wheel, install it into an empty environment, ask the demo's question there
	rm -rf dist && $(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	sh .ci/wheel "$(QUESTION)"

lock: ## Renew the lock files (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group build -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group build --extra serve --extra mcp -c requirements.lock -c requirements-dev.lock \
	  -o deploy/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group build tests/formats/peers.in -c requirements.lock -o tests/formats/requirements.txt

clean: ## Remove what the build and the tests leave
	rm -rf $(VENV) $(VENV)-hf $(VENV)-peers dist .pytest_cache .ruff_cache .hypothesis
