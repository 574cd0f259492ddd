# Everything from a fresh clone: Python 3.11, make and git are all that must be there.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STAMP_RUN := $(VENV)/.installed-run
STAMP_TEST := $(VENV)/.installed-test

.DEFAULT_GOAL := help
.PHONY: help demo install test lint bench clean system-packages

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP_RUN): setup.cfg pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing (about four minutes, 2.5 GB, most of it PyTorch and DataHub's client)"
	$(PIP) torch
	$(PIP) -e '.[demo,export]'
	@touch $@

$(STAMP_TEST): $(STAMP_RUN)
	$(PIP) -e '.[demo,export,postgres,test]'
	@touch $@

install: $(STAMP_RUN)  ## The environment in .venv, without the test tools

demo: $(STAMP_RUN)  ## A real lake: ingested, enriched, indexed, five tasks answered
	$(BIN)/suffice demo

system-packages:
	@command -v pg_ctlcluster >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq postgresql >/dev/null; }

lint: $(STAMP_TEST)  ## ruff, mypy (strict), import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(STAMP_TEST) system-packages lint  ## All tests, with the services they need
	$(BIN)/pytest -n 2

bench: $(STAMP_TEST)  ## The benchmarks that need no data set; BENCH=DIR adds those that do
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

clean:  ## Remove the environment and what was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
