# What a newcomer needs is Python 3.11 or later, make and a C library: `make demo`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Python compiles what is imported when it is; compiling all that is installed takes a minute and more.
INSTALL := install --no-compile
UV = $(VENV)-tools/bin/uv pip
# A build for the processor alone where the registry has one; the newest brings gigabytes for graphics cards.
TORCH ?= torch==2.13.0
FAST := --numprocesses auto --dist worksteal -m "not slow and not hf and not llm"
QUESTION ?= Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?

.PHONY: help setup demo test test-hf test-hf-slow test-llm test-peers test-clients test-slow check format docs docs-check bench test-lowest test-newest wheel-check resolve dist sbom site lock clean

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
test test-hf test-hf-slow test-llm test-clients test-slow test-lowest test-newest: export PYTHONDONTWRITEBYTECODE :=
test test-hf test-hf-slow test-llm test-clients test-slow test-lowest test-newest: export PYTHONPYCACHEPREFIX := $(abspath $(VENV))/compiled

test: $(VENV)/.dev ## Run the fast tests, on all cores
	$(BIN)/pytest $(FAST)

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

test-peers: $(VENV)-peers/.done $(VENV)/.core ## Run the tests with other libraries: answers that they write, our metrics in their oldest and newest versions
	$(VENV)-peers/bin/pytest -rs tests/formats/test_peers.py tests/formats/test_streams_of_peers.py
	$(BIN)/python tests/integrations/hosts.py test

# It reads what .venv has, as .venv-hf does; the generator wants an older typer than the package's own lock.
$(VENV)-clients/.done: $(VENV)/.dev $(wildcard tests/serve/clients/*)
	$(PYTHON) -m venv --clear $(VENV)-clients
	$(VENV)-clients/bin/python -c 'import sysconfig, sys; base = sys.argv[1]; \
	  open(sysconfig.get_path("purelib") + "/vericite_dev.pth", "w").write(f"import site; site.addsitedir({base!r})\n")' \
	  "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	$(VENV)-clients/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) --require-hashes -r tests/serve/clients/requirements.txt
	cp tests/serve/clients/package.json tests/serve/clients/package-lock.json $(VENV)-clients/
	@if command -v npm >/dev/null; then npm ci --prefix $(VENV)-clients --no-audit --no-fund --loglevel error; \
	  else echo "npm was not found: the TypeScript client is not tested" >&2; fi
	@touch $@

test-clients: $(VENV)-clients/.done ## Generate clients in Python and TypeScript from the service's OpenAPI document, and test them at the service
	$(VENV)-clients/bin/python -m pytest -rs tests/serve/test_generated_clients.py

test-slow: $(VENV)/.dev ## Run the tests that take minutes or need data outside the repository
	$(BIN)/pytest -m slow -rs

# The oldest version of each dependency that pyproject.toml admits; what these depend on is the newest.
$(VENV)-lowest/.done: pyproject.toml $(VENV)-tools/.done
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(UV) compile --quiet --resolution lowest-direct --python $(VENV)-lowest/bin/python pyproject.toml --group dev -o $(VENV)-lowest/versions.txt
	$(UV) install --quiet --python $(VENV)-lowest/bin/python -r $(VENV)-lowest/versions.txt
	$(UV) install --quiet --python $(VENV)-lowest/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

test-lowest: $(VENV)-lowest/.done ## Run the fast tests with the oldest versions of all dependencies (PYTHON must be 3.11)
	$(VENV)-lowest/bin/python -m pytest $(FAST)

# An environment for each Python that is named, with the newest versions, whatever the locks say.
NEWEST = $(VENV)-newest-$(notdir $(PYTHON))
$(NEWEST)/.done: pyproject.toml $(VENV)-tools/.done
	$(PYTHON) -m venv --clear $(NEWEST)
	$(UV) install --quiet --python $(NEWEST)/bin/python -r pyproject.toml --group dev
	$(UV) install --quiet --python $(NEWEST)/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

test-newest: $(NEWEST)/.done ## Run the fast tests with the newest versions, on the Python that PYTHON names (PYTHON=python3.14)
	$(NEWEST)/bin/python -m pytest $(FAST)

check: $(VENV)/.dev ## Check format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/pyright --pythonplatform Windows
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
	PYTHON=$(PYTHON) sh .ci/wheel "$(QUESTION)"

# What the wheel installs, and nothing else.
$(VENV)-release/.done: requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-release
	$(VENV)-release/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) --require-hashes -r requirements.lock
	$(VENV)-release/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) --no-deps --no-build-isolation .
	@touch $@

$(VENV)-tools/.done: | $(VENV)/bin/python
	$(PYTHON) -m venv --clear $(VENV)-tools
	$(VENV)-tools/bin/python -m pip --disable-pip-version-check --quiet $(INSTALL) 'cyclonedx-bom>=7' 'mkdocs-material>=9.6' 'uv>=0.9'
	@touch $@

resolve: $(VENV)-tools/.done ## Print the systems and Pythons on which wheels of all dependencies exist; installs nothing
	$(VENV)-tools/bin/python .ci/resolve $(VENV)-tools/bin/uv

dist: $(VENV)/.dev ## Build the wheel and the source distribution; the same commit gives the same bytes
	rm -rf dist && $(BIN)/python -m hatchling build

sbom: $(VENV)-release/.done $(VENV)-tools/.done ## Write dist/vericite.cdx.json: what the package installs, with licences
	mkdir -p dist
	$(VENV)-tools/bin/cyclonedx-py environment $(VENV)-release/bin/python --pyproject pyproject.toml --output-reproducible \
	  --of JSON -o dist/vericite.cdx.json

site: $(VENV)-tools/.done $(VENV)/.dev ## Make the pages a site with search, in build/site/html
	rm -rf build/site && mkdir -p build/site/pages && cp -r docs *.md build/site/pages/
	$(BIN)/python docs/components.py --out build/site/pages/docs/components.html
	NO_MKDOCS_2_WARNING=1 $(VENV)-tools/bin/mkdocs build --quiet

lock: ## Renew the lock files (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group build -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --extra all -c requirements.lock -c requirements-dev.lock -o requirements-extras.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group build --extra serve --extra mcp -c requirements.lock -c requirements-dev.lock \
	  -o deploy/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header pyproject.toml --group build tests/formats/peers.in -c requirements.lock -o tests/formats/requirements.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --no-header tests/serve/clients/clients.in -o tests/serve/clients/requirements.txt
	$(BIN)/python tests/integrations/hosts.py lock

clean: ## Remove what the build and the tests leave
	rm -rf $(VENV) $(VENV)-hf $(VENV)-release $(VENV)-tools build/site $(VENV)-peers $(VENV)-clients $(VENV)-hosts $(VENV)-lowest $(VENV)-newest-* dist .pytest_cache .ruff_cache .hypothesis
