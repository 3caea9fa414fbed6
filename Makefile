# make demo: optimises a few programs on PoCL, and shows kernels, candidates, checks and times
# make test: lints, type-checks and tests
# make test-deep: more tests of the same kinds, for an hour or more
# make docs: the site of the documents in _site, with every law and every public name; broken links fail
# make results: the tables of docs/results anew, from the raw data; measures nothing
# Each makes its own .venv; PYTHON chooses the interpreter (3.11 or later).

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/installed

export POCL_AFFINITY ?= 1

.PHONY: demo test test-deep lint types installed unit docs results clean

demo: $(VENV)/.stamp
	$(RUN) benchmarks/demo.py

test: lint types unit

lint: $(VENV)/.stamp
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

# an editable install is invisible to mypy, and to what reads docstrings: they get what a user would
installed: $(VENV)/.stamp
	@rm -rf build $(INSTALLED)
	$(RUN) -m pip install --quiet --no-deps --no-build-isolation --target $(INSTALLED) .
	@rm -rf build

types: installed
	MYPYPATH=$(INSTALLED) $(RUN) -m mypy -p egglift

unit: $(VENV)/.stamp .oclgrind-venv/.stamp
	$(RUN) -m pytest -n 2 --dist worksteal

test-deep: $(VENV)/.stamp .oclgrind-venv/.stamp
	$(RUN) -m pytest -n 2 --dist worksteal -m 'deep or short'

docs: installed $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict

results: $(VENV)/.docs
	$(RUN) -m benchmarks.tables

$(VENV)/.docs: $(VENV)/.stamp
	$(RUN) -m pip install --quiet --no-build-isolation -e '.[docs,report]'
	$(RUN) -m tests.typed_links
	touch $@

$(VENV)/.stamp: pyproject.toml tests/typed_links.py tests/pocl_declarations.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "egglift needs Python 3.11 or later; set PYTHON=..." >&2; exit 1; }
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip "setuptools>=77" wheel
	PYTHONWARNINGS=ignore $(RUN) -m pip install --quiet --no-build-isolation -e '.[pocl,test]'
	$(RUN) -m tests.typed_links
	$(RUN) -m tests.pocl_declarations
	touch $@

# Oclgrind and PoCL do not share an environment: each brings the OpenCL platform that pyopencl finds
.oclgrind-venv/.stamp: $(VENV)/.stamp tests/oclgrind.py
	$(RUN) -m tests.oclgrind
	touch $@

clean:
	rm -rf $(VENV) .oclgrind-venv _site build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
