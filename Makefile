# `make demo` and `make test` are all a fresh machine needs; `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
# Put first, so that programs started by name (alembic, jupyter) are the environment's.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# The first Python on this machine that the course runs on; `make PYTHON=... test` names another.
PYTHON ?= $(firstword $(foreach name,python3 python3.11 python3.12 python3.13 python3.14 python,$(shell \
	$(name) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $(name))))
WORKERS ?= auto
# Workers share the cores, one thread each, and keep what they derive out of the home folder.
SINGLE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
TESTING := $(SINGLE) COURSE_CACHE=$(CURDIR)/.cache
# Whose torch `make gpu` takes: an environment of your own with a GPU build of it, and not this one's.
GPU_PYTHON ?= python3
INSTALLED := $(VENV)/.installed
SYSTEM := $(VENV)/.system

.PHONY: help demo test quick lint format soak binder seeds weights chat definitions play calculator gpu bench stills pictures lab assignments docs address clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

demo: $(INSTALLED) ## a made-up class graded end to end, with its score table and feedback
	$(BIN)/course demo

test: $(INSTALLED) $(SYSTEM) lint ## style, types and all tests but the slow ones
	$(TESTING) $(BIN)/pytest -n $(WORKERS) --dist loadscope $(ARGS)

quick: $(INSTALLED) ## style, and the tests of what changed since the last commit: a minute or so
	$(TESTING) $(BIN)/python -m tests.quick

lint: $(INSTALLED) ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED) ## put the code into the course's style
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

soak: $(INSTALLED) $(SYSTEM) ## the tests that take minutes each
	$(TESTING) $(BIN)/pytest -n $(WORKERS) -m slow $(ARGS)

binder: $(INSTALLED) ## Binder's environment, built from its own files, and an assignment in it: time and memory
	$(TESTING) $(BIN)/pytest -m slow tests/binder $(ARGS)

seeds: $(INSTALLED) ## every training task with ten seeds, and with the commonest bugs
	$(TESTING) $(BIN)/pytest -n $(WORKERS) -m slow tests/training $(ARGS)

weights: $(INSTALLED) ## topic 15's published GPT, trained anew in 50 minutes: make weights ARGS="--wordnet FOLDER"
	$(SINGLE) $(BIN)/python -m tests.training.pretrain_gpt $(ARGS)

chat: $(INSTALLED) ## topic 18's adapter, tuned anew in 25 minutes: make chat ARGS="--wordnet FOLDER"
	$(SINGLE) $(BIN)/python -m tests.training.tune_chat $(ARGS)

definitions: $(INSTALLED) ## topic 19's texts, written anew by topic 15's published GPT in ten seconds
	$(SINGLE) $(BIN)/python -m tests.training.draw_definitions

play: $(INSTALLED) ## topic 20's GPT of the play, trained anew in two minutes
	$(SINGLE) $(BIN)/python -m tests.training.pretrain_play $(ARGS)

calculator: $(INSTALLED) ## topic 21's supervised calculator, trained anew in minutes: make calculator ARGS="--seed 0"
	$(SINGLE) $(BIN)/python -m tests.training.pretrain_calculator $(ARGS)

gpu: ## on a machine with a GPU: what trains there, how fast, what breaks; with the torch of $(GPU_PYTHON)
	$(SINGLE) $(GPU_PYTHON) -m tests.training.on_gpu $(ARGS)

bench: $(INSTALLED) ## time and memory, as tables
	$(BIN)/python -m bench

stills: $(INSTALLED) $(SYSTEM) ## the widgets' pictures in released notebooks, taken anew
	$(BIN)/python -m tests.browser.stills
	$(BIN)/course release

pictures: $(INSTALLED) ## the pictures of docs/, drawn anew from the rules for imports and from bench/scale.csv
	$(BIN)/python -m website.architecture
	$(BIN)/python -m website.scale_curve

lab: $(INSTALLED) ## JupyterLab on the notebooks: on your copy in mine/, if there is one
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/$(if $(wildcard mine),mine,assignments)/index.ipynb

assignments: $(INSTALLED) ## rebuild the released notebooks from solutions/*.py
	$(BIN)/course release

docs: $(INSTALLED) ## the documentation site, into build/site; notebooks whose figures are missing are executed (minutes)
	$(TESTING) $(BIN)/python -m website.executed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

address: $(INSTALLED) ## the public address of your fork in notebooks, badges and pages: make address URL=https://github.com/you/course
	$(BIN)/python -m website.address $(URL)
	$(BIN)/course release

clean: ## remove the environment and what was built (never what students handed in)
	rm -rf $(VENV) .cache build dist course/keys solutions/*/ .mypy_cache .pytest_cache .ruff_cache

$(INSTALLED): pyproject.toml constraints.txt hatch_build.py
	@test -n "$(PYTHON)" || { echo "The course needs Python 3.11, 3.12, 3.13 or 3.14, and found none." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

# Chromium for the browser tests, bubblewrap for the sandbox: installed where this is a root shell on Debian or Ubuntu,
# otherwise the tests that need them are skipped and say so.
$(SYSTEM): $(INSTALLED)
	@if { command -v chromium && command -v bwrap; } >/dev/null; then touch $@; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq && apt-get install -qq -y --no-install-recommends bubblewrap chromium fonts-dejavu-core >/dev/null \
			&& touch $@ || echo "Could not install chromium and bubblewrap: the tests that need them are skipped."; \
	else echo "No chromium or no bubblewrap here: the tests that need them are skipped."; fi
