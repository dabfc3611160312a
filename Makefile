# `make run` and `make test` do everything on a fresh machine with Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test install dev lint types tests browser clean

run: $(VENV)/.installed
	@$(BIN)/python -m nebel.demo

test: lint types tests

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests

types: $(VENV)/.dev
	$(BIN)/mypy

tests: $(VENV)/.dev browser
	$(BIN)/pytest -n 2 --dist loadscope --no-loadscope-reorder --durations=30

# The page is tested in Chromium: installed where that is possible, else those tests are skipped and say so.
browser:
	@which chromium chromium-browser google-chrome 2>/dev/null | grep -q . || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get install -y -q chromium >/dev/null 2>&1 || { apt-get update -q >/dev/null 2>&1 && apt-get install -y -q chromium >/dev/null 2>&1; }; }; } \
	  || echo "no Chromium: the tests of the page in a browser are skipped (apt-get install chromium)"

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
