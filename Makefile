# The two commands: `make demo` and `make test`. Each makes its own .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data

.PHONY: demo test lint docs bench clean

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("howsteps needs Python 3.11 to 3.13") if not (3, 11) <= sys.version_info[:2] < (3, 14) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.'
	touch $@

.venv/ready-dev: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,asr]'
	touch $@

.venv/ready-docs: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

demo: .venv/ready
	$(BIN)/howsteps demo

test: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

lint: .venv/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

docs: .venv/ready-docs
	$(BIN)/mkdocs build --strict

bench: .venv/ready-dev
	$(BIN)/python -m benchmarks.narration $(DATA)/captions

clean:
	rm -rf .venv site dist .pytest_cache .mypy_cache .ruff_cache .coverage
