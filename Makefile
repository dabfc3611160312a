# `make run` and `make test` do everything on a fresh machine with Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test install dev lint types tests clean

run: $(VENV)/.installed
	@$(BIN)/python -m nebel.demo

test: lint types tests

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests

types: $(VENV)/.dev
	$(BIN)/mypy

tests: $(VENV)/.dev
	$(BIN)/pytest -n 2

install: $(VENV)/.installed

dev: $(VENV)/.dev

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bridge,learn,ray,dev]'
	@touch $@

clean:
	rm -rf $(VENV)
	find src tests -name __pycache__ -prune -exec rm -rf {} +
