# Every target sets up what it needs: a machine with Python >= 3.11, pip, venv and make is enough.
# The first run creates .venv with the versions pinned in constraints.txt; later runs reuse it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# One thread per process: two test processes with two BLAS threads each would wait for one another.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2
PEERS_PIP := .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --constraint benchmarks/peers-constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-full lint format bench bench-full bench-peers pictures docs outputs serve core clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit("bough needs Python >= 3.11, this is " + sys.version.split()[0] + "; try make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.user: $(VENV)/.created pyproject.toml constraints.txt
	@echo "setting up $(VENV) (once) ..."
	@test -e $(VENV)/.dev || $(PIP) --editable '.[plot,sklearn,serve]'
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml constraints.txt
	@echo "setting up $(VENV) with all development tools (once, a minute or two) ..."
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.dev $(VENV)/.user $(VENV)/.docs

$(VENV)/.docs: $(VENV)/.created pyproject.toml constraints.txt
	@echo "setting up $(VENV) for the documentation (once) ..."
	@test -e $(VENV)/.dev || $(PIP) --editable '.[docs]'
	@touch $@

demo: $(VENV)/.user                 ## choose and tune a scikit-learn classifier, then show what was found
	$(BIN)/bough demo

test: $(VENV)/.dev                  ## run the tests, a few minutes
	$(PYTEST) --dist worksteal -m "not slow"

test-full: test                     ## run the slow tests too: crash loops, clusters, a browser, API fuzzing, clean installs
	$(PYTEST) --dist loadfile -m slow  # clusters and clean installs are set up once per file

core: $(VENV)/.dev                  ## build the compiled core (needs a C compiler) and compare it with NumPy
	@$(PIP) ./core
	BOUGH_CORE=compiled $(BIN)/bough --version
	BOUGH_CORE=compiled $(PYTEST) --dist worksteal -m "not slow" tests/gp tests/acquisition tests/strategies tests/surrogates

lint: $(VENV)/.dev                  ## check formatting, lint, types and layer rules
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev                ## format the code
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

bench: $(VENV)/.dev                 ## run the quick benchmark and write its report: 15 minutes on two cores
	$(BIN)/python -m benchmarks.run quick; broke=$$?; \
	$(BIN)/python -m benchmarks.report quick --html bench-report && exit $$broke

# Days on two cores. Finished runs are kept, so it may be stopped and resumed.
FULL := jenatton-fig2 jenatton-fig4 ma-fig3 ma-fig5 ma-table1 levesque-table1 assael peers real held-out slow-peers cost
bench-full: $(VENV)/.dev            ## all benchmarks at the papers' budgets: days; may be stopped and resumed
	$(BIN)/python -m benchmarks.run --full $(FULL); broke=$$?; \
	$(BIN)/python -m benchmarks.report --full $(FULL) --html bench-report && exit $$broke

pictures: $(VENV)/.dev              ## redraw the pictures of README and docs, and run the notebooks (needs Chromium)
	$(BIN)/python -m benchmarks.pictures
	$(BIN)/python -m tests.docs.notebooks

bench-peers: $(VENV)/.dev .venv-peers/.created  ## set up the other optimisers in a separate environment and try each
	$(BIN)/python -m pytest -m slow tests/benchmarks/test_peers.py

.venv-peers/.created: benchmarks/peers-constraints.txt
	@echo "setting up .venv-peers (once, a few minutes) ..."
	@$(PYTHON) -m venv .venv-peers
	@$(PEERS_PIP) torch  # first, in its pinned version: the newest brings gigabytes for graphics cards
	@$(PEERS_PIP) optuna smac hyperopt ax-platform botorch
	@touch $@

docs: $(VENV)/.docs                 ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

outputs: $(VENV)/.dev               ## run the examples of README and docs and renew the output shown below them
	$(BIN)/python -m tests.docs.pages

serve: $(VENV)/.user                ## start the service and its dashboard on this machine
	$(BIN)/bough serve --storage sqlite:///bough.db

clean:                              ## remove what the other targets made
	rm -rf $(VENV) .venv-peers build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
