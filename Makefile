# make demo: a first answer from a real cluster. make test: every check and test.

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo wheel image lint check test test-mongod test-mongodb-specifications fuzz faults calibration rig rig-down rig-swarm rig-swarm-down

# Where rustup and Debian put what a plain shell may not see.
export PATH := $(PATH):$(HOME)/.cargo/bin:/usr/sbin:/sbin

# Some images set this; then every command compiles all that it imports, for seconds, again and again.
unexport PYTHONDONTWRITEBYTECODE

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile

setup: ## install what is missing, build, fetch the locked Cassandra
	@setup/all.sh

setup-dev: ## the same, and what checks and tests need
	@setup/all.sh dev

demo: setup ## measure what Docker costs reads of a real Cassandra node
	@setup/demo.sh

wheel: ## dist/*.whl: Tare with its programs, for other machines
	@setup/wheel.sh

image: ## the Docker image tare-bench: the wheel on a Debian
	@setup/image.sh

lint: setup-dev ## format, style and types of all code
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	cargo fmt --all --check
	cargo clippy --profile checked --locked --workspace --all-targets -- -D warnings

# A file's tests share what they make; those of real engines have the machine to themselves.
WITHOUT_ENGINE = .venv/bin/pytest -n auto --dist loadfile -m 'not engine'
ENGINE ?= engine

RUST_TESTS = cargo test --profile checked --locked --workspace
RUST = $(shell find Cargo.toml Cargo.lock .cargo crates bench/floor) \
	src/tare/load/specification.schema.json
RUST_TESTED = target/rust-tested

# What Rust tests have shown holds until a file or a directory of theirs changes.
$(RUST_TESTED): $(RUST) | lint
	$(RUST_TESTS)
	@mkdir -p $(@D) && touch $@

check: lint $(RUST_TESTED) ## every check and test that needs no engine; of Rust what has changed
	$(WITHOUT_ENGINE)

test: lint ## every check, then every test, those with real engines too
	@setup/browser.sh || [ $$? -eq 3 ]
	@setup/ssh.sh || [ $$? -eq 3 ]
	$(RUST_TESTS)
	$(WITHOUT_ENGINE)
	.venv/bin/pytest -m '$(ENGINE)'

INPUTS ?= 20000
DAMAGED = tests/records tests/study/test_document.py tests/study/test_mutated.py \
	tests/imports/test_damage.py tests/machines/inventory/test_any_text.py

fuzz: setup-dev ## give every reader damaged input: INPUTS=20000 to each test (hours)
	PROPTEST_CASES=$(INPUTS) cargo test --profile checked --locked -p tare-cql -p tare-mongo \
		-p tare-ycsb -p tare-stress -p tare-probe -p tare-stub
	TARE_EXAMPLES=$(INPUTS) .venv/bin/pytest --timeout=0 $(DAMAGED)

faults: setup-dev ## kill and break running studies at random instants (an hour, as root)
	.venv/bin/python -m bench.faults

NODES ?= 3
PLUGIN ?= flannel-vxlan
PROXY ?= iptables

rig: ## start Kubernetes here: NODES=1 or 3, PLUGIN=flannel-vxlan, flannel-host-gw or bridge
	@rig/up.sh --nodes $(NODES) --plugin $(PLUGIN) --proxy $(PROXY)

rig-swarm: ## start a Docker Swarm of three here
	@rig/swarm.sh

rig-swarm-down: ## take the Swarm down
	@RIG_NAME=tare-swarm rig/down.sh

rig-down: rig-swarm-down ## take the rig down, Kubernetes and Swarm
	@rig/down.sh

test-mongod: ## test a mongod of yours, and print one table: MONGOD=/path
	@test -n "$(MONGOD)" || { echo 'say which: make test-mongod MONGOD=/path/to/mongod'; exit 2; }
	@test -f "$(MONGOD)" -a -x "$(MONGOD)" || { echo 'no program: $(MONGOD)'; exit 2; }
	@"$(MONGOD)" --version 2>&1 | grep -q '^db version v' || { echo 'no mongod: $(MONGOD)'; exit 2; }
	@setup/all.sh dev --alone
	MONGOD="$(abspath $(MONGOD))" .venv/bin/pytest -q -p tests.integration.mongod_table \
		tests/integration/test_mongod.py tests/integration/test_ycsb_mongodb.py \
		tests/integration/test_mongo_servers.py tests/integration/test_mongo_sets.py \
		-k 'not stand_in and not stubs and not ferretdb'

SPECIFICATIONS ?= ../shared/data/mongodb-specifications

test-mongodb-specifications: ## run MongoDB's tests of its specifications: SPECIFICATIONS=DIR
	@test -d "$(SPECIFICATIONS)" || { \
		echo 'no folder: $(SPECIFICATIONS)'; \
		echo 'get it: git clone --depth 1 https://github.com/mongodb/specifications /tmp/specifications'; \
		echo 'then: make test-mongodb-specifications SPECIFICATIONS=/tmp/specifications/source'; exit 2; }
	@SPECIFICATIONS="$(abspath $(SPECIFICATIONS))" \
		cargo test --quiet --profile checked --locked -p tare-mongo --test specifications

calibration: ## simulate studies of known truth, write docs/calibration.md (minutes)
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m bench.calibration
