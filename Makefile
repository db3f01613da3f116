# `make` alone says what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

MODULES := proto pkg docs services/api services/hub services/clock deploy test test/system
MORE    := $(wildcard cmd/signalcast sdk/go examples/signin deploy/check test/containers)
CODE    := $(addprefix $(CURDIR)/,$(MODULES) $(filter cmd/% sdk/% examples/%,$(MORE)))
TOOL    := GOWORK=off go -C tools tool
# The race detector needs a C compiler.
RACE    := $(shell command -v "$$(go env CC)" >/dev/null && echo -race)
APT     := RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends

# $(call need,programs,package): one of the programs, installed by root on Debian,
# else the one line to type.
define need
@for p in $(1); do command -v $$p >/dev/null && exit 0; done; \
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
  echo "installing $(2)"; apt-get update -qq && $(APT) $(2) >/dev/null; \
else echo "$(2) is missing; type: sudo apt-get update && sudo apt-get install -y $(2)" >&2; exit 1; fi
endef

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: up
up: ## Run everything on this machine until Ctrl-C (ARGS="--fresh --ports auto")
	go run ./deploy/local up $(ARGS)

.PHONY: demo
demo: ## Run everything and fill it with a story to look at
	go run ./deploy/local demo $(ARGS)

.PHONY: migrate
migrate: ## Bring the database of the running stack up to date
	go run ./deploy/local migrate $(ARGS)

.PHONY: docs
docs: ## Write the guides as a site of plain files (OUT=bin/docs)
	go run ./docs/write $(or $(OUT),bin/docs)

.PHONY: build
build: ## Compile every module; the services go to bin/
	go build work
	go build -o bin/ ./services/api ./services/hub ./services/clock ./deploy/local $(addprefix ./,$(wildcard cmd/signalcast))

.PHONY: test
test: need-redis need-postgres need-chromium need-npm need-video check ## Vet, format, import rules, and all tests with the race detector
	go test $(RACE) -timeout 15m $(addprefix ./,$(addsuffix /...,$(filter-out test test/system,$(MODULES)) $(filter cmd/% sdk/% examples/%,$(MORE))))
	GOWORK=off go -C tools test ./openapi ./sdk
	GOWORK=off go -C deploy/check test -count=1 .
	go test -count=1 -timeout 25m ./test/...
	tools/gen.sh script && node --test sdk/ts/test/*.test.mjs
	$(MAKE) --no-print-directory clients
	tools/lint.sh

.PHONY: clients
clients: need-redis need-postgres need-npm ## Run clients of other people against a stack (ARGS="oauth4webapi": only these)
	go run ./test/clients $(ARGS)

.PHONY: test-db
test-db: need-redis ## Only the tests of the database layers (PG_BIN=DIR takes another Postgres)
	go test $(RACE) -count=1 $$(go list work | grep -E '/internal/postgres$$|/pkg/(pg|localdb|testkit)$$')

.PHONY: check
check: vet format imports

.PHONY: vet
vet:
	go vet work

.PHONY: format
format:
	@bad=$$($(TOOL) gofumpt -l $(CODE)); if [ -n "$$bad" ]; then echo "not formatted, run make fmt:"; echo "$$bad"; exit 1; fi

.PHONY: imports
imports:
	go run ./test/importlint

.PHONY: lint
lint: check ## Vet, format, import rules, staticcheck
	GOWORK=off go -C tools build -o ../.tools/ honnef.co/go/tools/cmd/staticcheck
	.tools/staticcheck $$(go list work)

.PHONY: fmt
fmt: ## Format all Go code
	$(TOOL) gofumpt -w $(CODE)

.PHONY: gen
gen: ## Generate code from protobuf, OpenAPI, SQL and TypeScript
	tools/gen.sh

.PHONY: tidy
tidy: ## Tidy every module
	@for m in $(MODULES) $(MORE) tools; do echo "$$m"; (cd $$m && GOWORK=off go mod tidy); done

.PHONY: prove
prove: need-redis need-postgres need-chromium ## Run the promises against the real thing (FULL=1: large sizes; ROWS="A1 C4": only these)
	FULL=$(FULL) go run ./test/prove $(ROWS)

.PHONY: teeth
teeth: need-redis need-postgres need-chromium ## Plant each fault and see that its promise turns red
	FULL=$(FULL) go run ./test/prove teeth $(ROWS)

.PHONY: system-test
system-test: need-redis need-postgres ## Test each guarantee against a whole system (ARGS="-run TestX")
	go test -count=1 -timeout 15m $(ARGS) ./test/system/...
	SYSTEM_SIZE=$(or $(SYSTEM_SIZE),system) go test -count=1 -timeout 15m -run '^TestSimulation' ./services/api/internal/app

.PHONY: fault-test
fault-test: need-redis need-postgres ## Require that the test of each guarantee fails on its fault (FAULTS="name": only these)
	go run ./test/system/faults/run $(FAULTS)

.PHONY: compose-test
compose-test: need-engine ## Run all of compose.yaml in an engine of its own, as root (ARGS="-keep DIR": keep the images)
	$(call need,docker-compose,docker-compose)
	$(call need,debootstrap,debootstrap)
	go run ./test/prove/compose $(ARGS)

.PHONY: bench
bench: need-redis need-postgres ## Measure; never a gate
	go run ./test/bench $(ARGS)

.PHONY: bench-scale
bench-scale: need-redis need-postgres ## Measure a ledger of ten million calls (12 GB of disk, ten minutes)
	go run ./test/bench -only scale -ledgers 10000000 $(ARGS)

.PHONY: need-redis
need-redis:
	$(call need,redis-server valkey-server,redis-server)

.PHONY: need-postgres
need-postgres: # found outside PATH, or a package of npm, as pkg/localdb says; root on Debian gets it installed
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! command -v postgres >/dev/null && ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then \
	  echo "installing postgresql"; apt-get update -qq && $(APT) postgresql >/dev/null; fi

.PHONY: need-chromium
need-chromium:
	$(call need,chromium chromium-browser google-chrome google-chrome-stable,chromium)

.PHONY: need-video
need-video: # real video in tests: an encoder, and the RTMP server in front of the origin
	$(call need,ffmpeg,ffmpeg)
	$(call need,nginx /usr/sbin/nginx,nginx)
	@[ -e /usr/lib/nginx/modules/ngx_rtmp_module.so ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing libnginx-mod-rtmp"; apt-get update -qq && $(APT) libnginx-mod-rtmp >/dev/null; \
	else echo "libnginx-mod-rtmp is missing; type: sudo apt-get update && sudo apt-get install -y libnginx-mod-rtmp" >&2; exit 1; fi

.PHONY: need-engine
need-engine: # a container engine, which row L5 of the promises starts for itself: installing it starts nothing
	@command -v dockerd >/dev/null && command -v docker >/dev/null && exit 0; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then echo "docker.io is missing; row L5 does without"; exit 0; fi; \
	echo "installing docker.io"; policy=/usr/sbin/policy-rc.d; \
	if [ ! -e $$policy ]; then trap "rm -f $$policy" EXIT; printf '#!/bin/sh\nexit 101\n' >$$policy; chmod +x $$policy; fi; \
	apt-get update -qq && $(APT) docker.io $$(apt-cache show docker-cli >/dev/null 2>&1 && echo docker-cli) >/dev/null

.PHONY: need-npm
need-npm: # Node itself comes with the clients
	$(call need,npm,nodejs npm)
