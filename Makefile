# Needs Python 3.11 to 3.13 and make; everything else goes into .venv, which all targets share.
PYTHON ?= python3
GRAPH ?= ecord_jax/data/example.txt.gz
TIME_LIMIT ?= 30

# Relative, so that a blank in the folder's name does no harm.
PY := .venv/bin/python
PIP := $(PY) -m pip --quiet --disable-pip-version-check
STAMP := .venv/installed

.PHONY: help solve test test-all lint lock clean

help:
	@echo "make solve     solve GRAPH ($(GRAPH)) for TIME_LIMIT ($(TIME_LIMIT)) seconds"
	@echo "make test      the quick tests"
	@echo "make test-all  the slow tests"
	@echo "make lint      ruff and mypy"
	@echo "make lock      write requirements.txt anew"
	@echo "make clean     remove .venv and what was built"

solve: $(STAMP)
	@mkdir -p runs
	@$(PY) -m ecord_jax.cli.solve "$(GRAPH)" --time_limit=$(TIME_LIMIT) --seed=0 \
		--out=runs/labels.txt --plot=runs/curve.png
	@echo "counted again by ecord-verify:"
	@$(PY) -m ecord_jax.cli.verify "$(GRAPH)" runs/labels.txt
	@echo "labels: runs/labels.txt"
	@echo "curve:  runs/curve.png"

test: $(STAMP)
	@$(PY) -m pytest -q -m "not slow" -n 2 --dist loadfile

test-all: $(STAMP)
	@$(PY) -m pytest -q -m slow

lint: $(STAMP)
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy

# The stamp comes last, so that an install which was cut short is done again.
$(STAMP): requirements.txt setup.cfg pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))" \
		|| { echo "Python 3.11 to 3.13 is needed: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PY) -c "import pip" 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@echo "installing into .venv, which takes a minute or two"
	@$(PIP) install -r requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

# A resolution of what setup.cfg asks for, in an empty environment.
lock:
	@$(PYTHON) -m venv --clear .lock
	@.lock/bin/python -m pip --quiet install --upgrade setuptools ".[test,experiments]"
	@sed -n '/^#/p' requirements.txt > .lock/requirements.txt
	@.lock/bin/python -m pip freeze --all --exclude ecord-jax --exclude pip >> .lock/requirements.txt
	@mv .lock/requirements.txt requirements.txt
	@rm -rf .lock

clean:
	@rm -rf .venv .lock build dist ecord_jax.egg-info
