.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
# One more than there are cores: tests wait for disks and processes.
WORKERS := $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): pyproject.toml CMakeLists.txt $(wildcard src/native/*)
	$(PYTHON) -m venv --without-pip $(VENV)
	$(BIN)/python -m ensurepip --upgrade --default-pip
	$(BIN)/python -m pip install --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --editable '.[io]'
	@touch $@

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --group test
	@touch $@

demo: $(INSTALLED)  ## Fit the bundled flights; write synthetic flights and a report to demo/
	$(BIN)/privhp demo demo --force

test: check  ## Check style, types and imports; run the tests (4 minutes on 2 cores)
	$(BIN)/pytest --numprocesses $(WORKERS)

test-all: check  ## The same with the slow statistical tests and coverage; nightly and before a release
	$(BIN)/pytest --slow --cov --numprocesses $(WORKERS) --dist worksteal

check: $(READY)  ## Check style, types and imports alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

browser: $(READY)  ## Test reports and notebooks in Chromium; installs it if none is found, and Jupyter
	$(BIN)/python -m pip install --group notebook
	@command -v chromium || command -v google-chrome || $(AS_ROOT) apt-get install --yes --quiet chromium
	PRIVHP_BROWSER=1 $(BIN)/pytest tests/browser

engines: $(READY)  ## Test Spark, DataFusion, DuckDB and Dask on real sessions; installs Java if none is found (minutes)
	@command -v java || $(AS_ROOT) apt-get install --yes --quiet openjdk-17-jre-headless
	$(BIN)/python -m pip install --group engines
	PRIVHP_ENGINES=1 $(BIN)/pytest tests/engines

pictures: $(READY)  ## Render the pictures of the documentation in Chromium
	$(BIN)/python examples/how_it_works.py
	$(BIN)/python examples/pictures.py

docs: $(INSTALLED)  ## Build the documentation in build/site; a broken link fails the build
	$(BIN)/python -m pip install --group docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo build/site/index.html

figures: $(READY)  ## Measure the paper's settings against the reference figures (minutes)
	$(BIN)/python -m benchmarks.paper_figures

speed: $(READY)  ## Measure speed as ratios to anchors; writes benchmarks/RESULTS.md (minutes)
	$(BIN)/python -m pip install --group bench
	$(BIN)/python -m benchmarks.speed

accuracy: $(READY)  ## Compare with baselines on real streams and a zoo; writes benchmarks/ACCURACY.md (an hour; resumes)
	$(BIN)/python -m pip install --group bench
	$(BIN)/python -m benchmarks.accuracy --processes 2

coverage: $(READY)  ## Coverage of 90% intervals by stream and query; writes benchmarks/COVERAGE.md (minutes; resumes)
	$(BIN)/python -m pip install --group bench
	$(BIN)/python -m benchmarks.coverage --processes 2

scaling: $(READY)  ## Measure passes on 1 and 2 workers, and Spark; writes benchmarks/SCALING.md (minutes)
	@command -v java || $(AS_ROOT) apt-get install --yes --quiet openjdk-17-jre-headless
	$(BIN)/python -m pip install --group engines
	PYSPARK_PYTHON=$(CURDIR)/$(BIN)/python $(BIN)/python -m benchmarks.scaling --spark

reliability: $(READY)  ## Inject faults and kills, run long streams; writes benchmarks/RELIABILITY.md (hours; resumes)
	$(BIN)/python -m benchmarks.reliability

plain:  ## Install without a compiler and test the NumPy kernels (minutes)
	$(PYTHON) -m venv build/plain
	build/plain/bin/python -m pip install --upgrade 'pip>=25.1'
	CC=/nonexistent CXX=/nonexistent build/plain/bin/python -m pip install . --group test
	build/plain/bin/privhp inspect --system | grep 'plain NumPy'
	build/plain/bin/pytest -q --numprocesses auto

lowest:  ## Test with the lowest versions of all dependencies that pyproject.toml allows (minutes)
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python tests/packages/lowest.py > build/lowest/constraints.txt
	build/lowest/bin/python -m pip install --upgrade 'pip>=25.1'
	build/lowest/bin/python -m pip install --constraint build/lowest/constraints.txt scikit-build-core nanobind cmake ninja
	build/lowest/bin/python -m pip install --constraint build/lowest/constraints.txt --no-build-isolation '.[all]' --group test
	build/lowest/bin/pytest -q --numprocesses auto

dist:  ## Build the sdist and its wheel, check both, and test what they install (minutes)
	rm -rf dist build/dist
	$(PYTHON) -m venv build/dist/tools
	build/dist/tools/bin/python -m pip install --upgrade 'pip>=25.1'
	build/dist/tools/bin/python -m pip install --group dist
	build/dist/tools/bin/python -m build
	build/dist/tools/bin/twine check --strict dist/*
	build/dist/tools/bin/python -m pip install --target build/dist/core dist/*.whl
	build/dist/tools/bin/python benchmarks/installed.py build/dist/core
	$(PYTHON) -m venv build/dist/suite
	build/dist/suite/bin/python -m pip install --upgrade 'pip>=25.1'
	build/dist/suite/bin/python -m pip install "$$(echo dist/*.whl)[all]" --group test
	PRIVHP_DIST=dist PRIVHP_CORE=build/dist/core build/dist/suite/bin/pytest -q tests/packages
	mkdir build/dist/source && tar -xf dist/*.tar.gz -C build/dist/source --strip-components 1
	rm -r build/dist/source/src  # the tests must import the installed package
	cd build/dist/source && ../suite/bin/pytest -q --numprocesses auto

explore: $(READY)  ## Run the property tests on new and more cases (minutes)
	$(BIN)/pytest tests/properties --explore --numprocesses auto

audit: $(READY)  ## Run the privacy checks with many more cases (about an hour)
	$(BIN)/pytest tests/properties/test_sensitivity.py tests/statistical tests/mutants --offline

clean:  ## Remove the virtual environment and all build products
	rm -rf $(VENV) demo dist build .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.PHONY: help demo test test-all check browser engines pictures docs figures speed accuracy coverage scaling reliability plain lowest dist explore audit clean
