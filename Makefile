# Everything runs from .venv, which is made from locks/requirements.lock. `make demo` and `make test` are all a newcomer needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE := node_modules/.ready
SENT := build/pages/.types
LOCKS := build/.locks
DOCS := .venv-docs
TPM := .venv-tpm
HOME_ASSISTANT := .venv-home-assistant
NODE_RED := build/node-red
DEMO_VENV := $(if $(wildcard $(READY)),$(VENV),.venv-demo)
SOURCES := punto configs controller drivers simulators tests tools benchmarks examples
COVERED := tests/baccarat tests/drivers
PUNCTUAL := $(shell grep -rl --include='*.py' pytest.mark.punctual tests)
BY_CHANCE := $(sort $(shell grep -rl --include='*.py' pytest.mark.by_chance tests))
# What waits most for a disk, a page or a clock comes first, so that there is work left for the processors until the end.
WAITING := $(addprefix tests/,consoles house reports displays controller deploy commands stranger)
OTHERS := $(WAITING) $(filter-out $(COVERED) $(WAITING) tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/))) $(BY_CHANCE)
# The tests that measure the way of the money to the disk: a simulated world reaches most of it, and the others what faults and people do.
OF_THE_PATH := tests/simulated/test_simulated.py tests/house/test_store.py \
  $(patsubst %,tests/controller/test_%.py,authority_end incidents progressive_audit progressive_record) \
  $(patsubst %,tests/controller/accounts/test_%.py,accounts audit_log cards house_accounts operators_command) \
  $(patsubst %,tests/controller/journal/test_%.py,backup evidence failure outcomes schema snapshots wal) \
  $(patsubst %,tests/consoles/test_%.py,api countersigning orders progressive_orders second_factor security_keys)
PATH_COVERAGE := --rcfile=tests/ordered_path.toml
# They wait for most of their time, so there are more of them at a time than processors.
WORKERS ?= $(shell expr 8 + 2 '*' $$(nproc))
WHENEVER := -m "not soak and not punctual"
# Each run of tests leaves its results here, for `punto lab-report`.
RESULTS := build/results

.PHONY: demo test announce quick test-punctual test-covered test-path test-others check bench soak simulate fuzz fmt lock schema examples fonts screenshots pictures docs release deb test-package test-image sbom audit system clean

# GAME is a game that ships, a game file, `progressive`, which is progressive-2, or `floor`, which is several tables.
demo: $(DEMO_VENV)/.ready
	@$(DEMO_VENV)/bin/punto demo $(if $(GAME),--game $(GAME)) $(DEMO)

# Four runs at once, so that a processor always has work while other tests wait for a disk, a page or a clock:
#
# - Tests that hold a limit in real time wait nearly all of their time. The other runs are nice to them.
# - Tests of the packages that must be covered whole run under coverage, and no others do. Those that play by chance cover nothing that their
#   neighbours do not, and would take three times as long: they run with the others.
# - Some tests of the way of the money to the disk run under coverage of it, of which a floor is kept (tests/ordered_path.toml).
# - All others.
#
# Each run imports and collects its tests once, and its workers are forked from there (tests/workers.py).
#
# The programs that the tests start again and again are compiled once.
test quick: export PYTHONDONTWRITEBYTECODE =
test: announce $(READY) $(NODE) system
	rm -f $(RESULTS)/test-*.xml
	$(BIN)/coverage erase
	$(BIN)/coverage erase $(PATH_COVERAGE)
	$(MAKE) --no-print-directory --jobs --output-sync=line test-punctual test-covered test-path test-others

announce:
	@test -e $(READY) || echo "The first run installs 1.2 GB of Python packages, then Node's, and with apt, if it may, Mosquitto, PostgreSQL, Chromium and Node."
	@echo "The tests take some five minutes on two processors."

# The tests that a change touches, without those that take long: tools/quick.py.
quick: $(READY)
	$(BIN)/python -m tools.quick $(OPTIONS)

test-punctual:
	$(BIN)/pytest --workers 2 -m "punctual and not soak" --junitxml $(RESULTS)/$@.xml $(PUNCTUAL)

test-covered:
	nice $(BIN)/coverage run -m pytest --workers 2 $(WHENEVER) --junitxml $(RESULTS)/$@.xml $(COVERED) $(BY_CHANCE:%=--ignore=%)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --fail-under=100 --skip-covered

test-path:
	nice $(BIN)/coverage run $(PATH_COVERAGE) -m pytest --workers 2 $(WHENEVER) --junitxml $(RESULTS)/$@.xml $(OF_THE_PATH)
	$(BIN)/coverage combine -q $(PATH_COVERAGE)
	$(BIN)/coverage report $(PATH_COVERAGE)
	@total=$$($(BIN)/coverage report $(PATH_COVERAGE) --format=total); floor=$$(sed -n 's/^fail_under = //p' tests/ordered_path.toml); \
	  test $$total -lt $$((floor + 2)) || { echo "$$total % of the path is covered: raise fail_under in tests/ordered_path.toml to $$((total - 1))"; exit 1; }

test-others:
	nice $(BIN)/pytest --workers $(WORKERS) $(WHENEVER) --junitxml $(RESULTS)/$@.xml $(OTHERS) $(OF_THE_PATH:%=--ignore=%)

# The checks run at once, those that take longest first, and each prints all that it finds.
check: $(READY) $(NODE)
	$(MAKE) --no-print-directory --jobs --keep-going --output-sync check-types check-dead-code check-pages check-imports check-sources check-documents $(LOCKS)

.PHONY: check-types check-dead-code check-pages check-imports check-sources check-documents
check-types:
	$(BIN)/mypy

check-dead-code:
	$(BIN)/vulture

check-pages: $(SENT)
	node_modules/@biomejs/cli-linux-*/biome check --error-on-warnings
	node_modules/.bin/tsc
	git ls-files --cached --others --exclude-standard 'punto/*.css' 'punto/*.js' | xargs node tools/oldest_browser.mjs

check-imports:
	$(BIN)/lint-imports

check-sources:
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)

check-documents:
	$(BIN)/python -m tools.documents

# The types of what the pages are sent.
$(SENT): tools/page_types.py package-lock.json $(shell find punto controller drivers configs -name '*.py')
	$(BIN)/python -m tools.page_types build/pages/schemas
	node_modules/.bin/json2ts -i build/pages/schemas -o build/pages/types --unreachableDefinitions --no-additionalProperties --format=false
	touch $@

$(LOCKS): tools/lock_is_current.py pyproject.toml package.json package-lock.json $(wildcard locks/*.lock)
	$(BIN)/python -m tools.lock_is_current
	mkdir -p $(@D) && touch $@

# PARTS names some of the figures, such as `linked house`, or `floor` for all of a house with many tables.
bench: $(READY) system
	$(BIN)/python -m benchmarks $(PARTS)

# All that chance deals and all that is walked through, of which `make test` plays a part (tests/share.py). With HOURS, real
# faults strike real processes for so long, and a table says how often: docs/explanation/reliability.md. Only root can run it with HOURS.
soak: $(READY) system $(TPM)/.ready $(HOME_ASSISTANT)/.ready $(NODE_RED)/.ready
	./tools/install-system-packages firmware
	$(if $(HOURS),$(BIN)/python -m tests.soak --hours $(HOURS),PUNTO_PLAY_ALL=1 $(BIN)/pytest -m "soak or by_chance or in_part" --timeout 3600 --junitxml $(RESULTS)/$@.xml)

# A table's service in a simulated world, on all processors: docs/explanation/simulated-faults.md.
simulate: $(READY)
	$(BIN)/python -m tests.simulated --seeds $(or $(SEEDS),100)

# Random inputs for all that reads bytes, guided by coverage; inputs that reach more are added to tests/fuzz/corpus.
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10) --keep $(TARGETS)

fmt: $(READY) $(NODE)
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)
	node_modules/@biomejs/cli-linux-*/biome check --write

lock: $(READY)
	$(BIN)/python -m tools.lock_is_current --write
	npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund

# What the program writes and the repository has: docs/developers/README.md, "What is generated".
schema: $(READY)
	$(BIN)/python -m tools.reference.pages

examples: $(READY) system
	$(BIN)/python -m tools.message_examples
	$(MAKE) schema

fonts: $(READY)
	$(BIN)/python -m tools.fonts

# The pictures of the documents take some minutes. Those of the gallery are approved: docs/developers/pages.md, "Pictures".
screenshots: $(READY) system
	$(BIN)/python -m tools.screenshots $(NAMES)
	$(BIN)/python -m tools.screenshots.film
	$(BIN)/python -m tools.screenshots.demo
	@mkdir -p build && rm -f build/shoe.csv
	$(BIN)/punto simulate --game dragon-bonus-1 --rounds 78 --seed 17 --shoes --csv build/shoe.csv
	$(BIN)/punto edge-report build/shoe.csv --game dragon-bonus-1 --out docs/images/edge-report.png

# Keeps those that differ from the approved ones: NAMES are parts of their names, or else all are taken.
pictures: $(READY) system
	$(BIN)/python -m tools.screenshots --approve $(NAMES)

# The site is in site/; links are checked, those between headings too. The program writes some pages, and the tools of the site
# have an environment of their own.
docs: $(READY) $(DOCS)/.ready
	$(BIN)/python -m tools.reference.pages site
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --config-file tools/mkdocs.yml

$(DOCS)/.ready: locks/docs.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r locks/docs.lock
	touch $@

# What a signer needs whose key is in a TPM. It is compiled, so only `make soak` has it; the other packages are those of $(VENV).
$(TPM)/.ready: locks/tpm.lock locks/tpm-build.lock
	./tools/install-system-packages tpm
	$(PYTHON) -m venv $(TPM)
	$(TPM)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r locks/tpm-build.lock
	$(TPM)/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-build-isolation -r locks/tpm.lock
	touch $@

# Home Assistant, for its schemas: only `make soak` has it. It is not locked, because houses have its newest version.
$(HOME_ASSISTANT)/.ready:
	$(PYTHON) -m venv $(HOME_ASSISTANT)
	$(HOME_ASSISTANT)/bin/pip install --quiet --disable-pip-version-check homeassistant paho-mqtt
	touch $@

# Node-RED, for the test of its flow: only `make soak` has it.
$(NODE_RED)/.ready:
	npm install --prefix $(NODE_RED) --loglevel error --no-audit --no-fund node-red@4.1.15
	touch $@

# What users get, built and tried, is then in dist/. It uploads nothing.
release: $(READY)
	$(BIN)/python -m tools.release $(KEY)

# Debian packages for this release of Debian and this machine, in dist/. DEB has options, such as `--debian 13 --architecture arm64`.
deb: $(READY)
	$(BIN)/python -m tools.packages $(DEB)

# The packages in a clean Debian 12 and 13, as root: installed, upgraded, taken back and removed. TRIAL has options, such as `--debian 13 --rounds 3000`.
test-package: $(READY)
	./tools/install-system-packages package
	$(BIN)/python -m tests.deploy.package_trial $(TRIAL)

# The image of deploy/Dockerfile, as root: built without a registry, and used.
test-image: $(READY)
	./tools/install-system-packages image
	$(BIN)/python -m tests.deploy.image_trial

# The packages of table.lock in CycloneDX's form, as in a release.
sbom: $(READY)
	$(BIN)/python -m tools.supply_chain bill dist/sbom.cdx.json

# Known weaknesses of table.lock. PUNTO_ADVISORIES is a folder with advisories in the OSV format; without it nothing is audited.
audit: $(READY)
	$(BIN)/python -m tools.supply_chain audit

system:
	./tools/install-system-packages

# What the pages' scripts are checked with, and what parses the AsyncAPI document. Biome is there as its binaries for Linux, where
# the checks run: of these npm installs the one that fits.
$(NODE): package.json package-lock.json
	./tools/install-system-packages node
	npm ci --loglevel error --ignore-scripts --no-audit --no-fund
	touch $@

$(READY): locks/requirements.lock pyproject.toml
	@PYTHON=$(PYTHON) ./tools/make-environment $(VENV) locks/requirements.lock "1.2 GB"

# The demo needs a tenth of a developer's packages; if those are there, it uses them.
.venv-demo/.ready: locks/demo.lock pyproject.toml
	@PYTHON=$(PYTHON) ./tools/make-environment .venv-demo locks/demo.lock "140 MB"

clean:
	rm -rf $(VENV) .venv-demo $(DOCS) $(TPM) $(HOME_ASSISTANT) node_modules site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage-path
	git clean -qfX docs
