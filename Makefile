# windgrove: every target sets up what it needs in .venv and build/, and nothing outside the checkout.
# Needs: Python 3.11 or newer with venv and headers, a C compiler, make
# (Debian: apt-get install python3-venv python3-dev gcc make).

PYTHON ?= python3
CC ?= cc
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/make
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
BUILD_TOOLS := "pip>=25.1" "meson-python>=0.18" "meson>=1.4" "ninja" "numpy>=2.0"
SOURCES := meson.build meson.options pyproject.toml README.md \
  $(shell find csrc python tests/c -name __pycache__ -prune -o -print)

export PATH := $(CURDIR)/$(BIN):$(PATH)
export MPLBACKEND ?= Agg
export PYTHONNOUSERSITE := 1

.PHONY: help demo test test-c test-python test-notebooks check-slow fuzz lint format docs bench experiments clean
.DEFAULT_GOAL := help

help:
	@echo "make demo         build, then sway a tree in the nested wind: results in windgrove-demo/"
	@echo "make test         build, then run the C tests, the Python tests and the notebooks"
	@echo "make check-slow   the tests that take minutes or another reader (installs vtk, 0.6 GB)"
	@echo "make fuzz         random bytes into every tree reader, a minute each (needs atheris)"
	@echo "make lint         formatters, linters and types; make format repairs what can be"
	@echo "make docs         the documentation, in docs/_build/html"
	@echo "make bench        the benchmarks"
	@echo "make experiments  run every numbered experiment again (minutes)"
	@echo "make clean        remove .venv, build/ and what the targets wrote"

demo: $(VENV)/.package
	$(BIN)/windgrove demo $(DEMO)

test: test-c test-python test-notebooks

test-c: $(VENV)/.package
	$(BIN)/meson test -C $(BUILD) --suite c --print-errorlogs

test-python: $(VENV)/.test
	$(BIN)/python -m pytest -q -m "not slow" $(PYTEST)

test-notebooks: $(VENV)/.test
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/notebooks

check-slow: $(VENV)/.test
	$(PIP) install vtk
	$(BIN)/python -m pytest -q -m slow $(PYTEST)

fuzz: $(VENV)/.test
	$(BIN)/python -m pip install -q atheris
	$(BIN)/python tests/fuzz/fuzz_readers.py $(FUZZ)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')
	git ls-files -z '*.ipynb' | xargs -0 -r $(BIN)/nbstripout --verify

format: $(VENV)/.lint
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files '*.c' '*.h')
	git ls-files -z '*.ipynb' | xargs -0 -r $(BIN)/nbstripout

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.test
	test -d build/bench || $(BIN)/meson setup build/bench -Dbench=true -Dbuildtype=release
	$(BIN)/meson test -C build/bench --benchmark --verbose
	for script in benchmarks/*.py; do [ ! -e "$$script" ] || $(BIN)/python "$$script" || exit 1; done

experiments: $(VENV)/.package
	for script in experiments/e*/run.py; do $(BIN)/python "$$script" || exit 1; done

# The environment with the build tools, after a look at what only the system can give.
$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { echo "make: no $(PYTHON); install Python 3.11 or newer, or name it: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no venv (Debian: apt-get install python3-venv)"; exit 2; }
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "make: $(PYTHON) has no headers (Debian: apt-get install python3-dev)"; exit 2; }
	@command -v $(CC) >/dev/null || { echo "make: no C compiler $(CC) (Debian: apt-get install gcc)"; exit 2; }
	@echo "making $(VENV) (the first time takes a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade $(BUILD_TOOLS)
	@touch $@

# A normal install: what runs is what a user gets. build/make is kept, so that changes build fast.
$(VENV)/.package: $(VENV)/.made $(SOURCES)
	@echo "building and installing windgrove"
	@mkdir -p build
	@$(PIP) install --no-build-isolation --config-settings=build-dir=$(BUILD) .
	@touch $@

$(VENV)/.test: $(VENV)/.package
	@$(PIP) install --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	@$(PIP) install --group lint
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	@$(PIP) install --group docs
	@touch $@

clean:
	rm -rf $(VENV) build windgrove-demo docs/_build docs/jupyter_execute docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
