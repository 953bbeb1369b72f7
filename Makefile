# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check bench clean

demo: $(STAMP)  ## show all that works, on made-up plants and customers
	$(BIN)/python examples/demo.py

test: $(STAMP)  ## run every test
	$(BIN)/python -m pytest

check: $(STAMP)  ## formatting, lints, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## measure us beside the peers, and draw docs/images/cost_curves.svg
	$(BIN)/python -m bench

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
