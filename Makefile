# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Servers and clients that the tests run for real: the command to look for, and Debian's package with it.
SERVICES := redis-server:redis-server mosquitto:mosquitto mosquitto_pub:mosquitto-clients

.PHONY: demo test test-slow check bench services clean

demo: $(STAMP)  ## show all that works, on made-up plants and customers
	$(BIN)/python examples/demo.py

test: $(STAMP) services  ## run the tests, but for the slow ones
	$(BIN)/python -m pytest --numprocesses auto -m 'not slow'

test-slow: $(STAMP) services  ## run the tests that start clusters and Sparks of their own
	$(BIN)/python -m pytest -m slow

check: $(STAMP)  ## formatting, lints, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## measure us beside the peers, and draw docs/images/cost_curves.svg
	$(BIN)/python -m bench

services:  ## install what the tests run beside Python, where it is missing and this is root on Debian
	@missing=; for each in $(SERVICES); do \
		PATH="$$PATH:/usr/sbin" command -v "$${each%%:*}" >/dev/null || missing="$$missing $${each##*:}"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	else \
		echo "the tests need these Debian packages:$$missing" >&2; exit 1; \
	fi

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
