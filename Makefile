SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

MODULES := proto pkg docs services/api services/hub deploy services/clock test test/system cmd/signalcast sdk/go examples/bot-go examples/signin
UNITS   := $(addprefix ./,$(addsuffix /...,$(filter-out test test/system,$(MODULES))))
TOOL    := GOWORK=off go -C tools tool
# The race detector requires a C compiler. Packages in PLAIN start no goroutine and would be ten times as slow with it.
RACE    := $(shell command -v "$$(go env CC)" >/dev/null && echo -race)
PLAIN   := ./pkg/skill ./cmd/signalcast/internal/record
# Number of packages that are tested at the same time: one more than processors, because tests wait for other processes.
JOBS    := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# The Go toolchain records no commit in a git worktree, so the linker sets it; it is empty in a tree without git.
VERSION := github.com/signalcast/signalcast/pkg/version
COMMIT   = $(shell [ ! -e .git ] || git describe --always --abbrev=40 --exclude='*' --dirty)

.PHONY: help up demo screenshots docs build lint fmt gen tidy test clients system-test fault-test compose-test container-test release release-test vulncheck bench

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: ## Run the whole system on this machine until Ctrl-C (ARGS="--fresh --ports auto")
	go run ./deploy/local up $(ARGS)

demo: ## Run the whole system with example operators, calls and results
	go run ./deploy/local demo $(ARGS)

docs: ## Write the guides as a static site (OUT=bin/docs)
	go run ./docs/write $(or $(OUT),bin/docs)

build: ## Compile every module; the services go to bin/
	go build work
	go build -ldflags '-X $(VERSION).commit=$(COMMIT)' -o bin/ ./services/api ./services/hub ./services/clock ./deploy/local ./cmd/signalcast

# Each package is compiled in two variants, with the race detector and as in images, so that all targets share the build cache.
lint test system-test: export CGO_ENABLED = 0
lint test system-test: export GOFLAGS = $(shell go env GOFLAGS) -trimpath

lint: ## Check Go code, prose, the OpenAPI document, protobuf, migrations, scripts and workflows
	tools/setup.sh lint
	tools/lint.sh go prose api proto sql shell workflows

fmt: ## Format all Go code
	$(TOOL) gofumpt -w $(addprefix $(CURDIR)/,$(MODULES))

gen: ## Generate code from protobuf, OpenAPI, SQL and TypeScript
	tools/gen.sh

tidy: ## Tidy every module
	@for m in $(MODULES) tools tools/golangci tools/oasdiff tools/vale deploy/check test/containers; do echo "$$m"; (cd $$m && GOWORK=off go mod tidy); done

test: ## Run unit tests, database tests, TypeScript tests, clients of other projects, HTML of pages
	tools/setup.sh redis postgres chromium node video && tools/gen.sh script
	units=$$(go list $(UNITS) | grep -vxF "$$(go list $(PLAIN))"); CGO_ENABLED=$(words $(RACE)) go test $(RACE) -p $(JOBS) -exec 'env CGO_ENABLED=0' -vet=off -timeout 15m $$units
	for d in tools/openapi deploy/check; do GOWORK=off go -C $$d test -count=1 .; done
	go test -count=1 -vet=off -timeout 25m $(PLAIN) ./test/...
	node --test sdk/ts/test/*.test.mjs
	tools/lint.sh pages

clients: ## Run clients of other projects against a system (ARGS="-run TestClients/oauth4webapi")
	tools/setup.sh redis postgres node
	tools/gen.sh script
	go test -count=1 $(ARGS) ./test/clients

system-test: ## Test each guarantee, page, client and document against a whole system (ARGS="-run TestX")
	tools/setup.sh redis postgres chromium node video engine compose && tools/gen.sh script && tools/lint.sh
	failed=0; SYSTEM_SIZE=$(or $(SYSTEM_SIZE),system) go test -count=1 -timeout 60m -run '^TestSimulation' ./services/api/internal/app || failed=$$?; \
	go test -count=1 -vet=off -timeout 30m $(ARGS) ./test/system/... || failed=$$?; exit $$failed

pages-test: ## Check accessibility and size of every page (FULL=1: three widths, both themes, signed in and out)
	tools/setup.sh redis postgres chromium node && tools/gen.sh script && tools/lint.sh
	SYSTEM_SIZE=$(if $(FULL),full,system) go test -count=1 -vet=off -v -timeout 60m -run '^TestQualityOfPages$$' ./test/system/pages

screenshots: ## Write docs/pages.md and its pictures from a running demo (DEMO=.local)
	tools/setup.sh chromium && tools/gen.sh script
	SCREENSHOTS_OF=$(abspath $(or $(DEMO),.local))/stack.json go test -count=1 -vet=off -timeout 30m -run '^TestScreenshots$$' ./test/system/pages

fault-test: ## Require that the test of each guarantee fails on its fault (FAULTS="name": only these; FAULTS=i/n: a share)
	tools/setup.sh redis postgres chromium engine
	go run ./test/system/faults/run $(FAULTS)

compose-test: ## Build the images and run compose.yaml, with and without production, in a private engine (IMAGES=DIR: keep them)
	tools/setup.sh chromium video engine compose
	COMPOSE_TEST=$(or $(IMAGES),1) go test ./test/system/shipping -count=1 -v -timeout 60m -run '^TestComposeRuns$$'

container-test: ## Run tests of databases and an end-to-end run on Postgres and Redis in containers of the default engine
	tools/gen.sh script
	TEST_BACKEND=containers GOWORK=off go -C test/containers test -count=1 -v -timeout 40m .

release: ## Write a signed release to dist/; without --key as a dry run (ARGS="--version v0.1.0")
	tools/setup.sh node
	tools/release.sh $(ARGS)

release-test: ## Verify the release in dist/
	tools/setup.sh node engine
	RELEASE_DIR=$(CURDIR)/dist go test ./test/system/shipping -count=1 -v -timeout 15m -run '^TestRelease$$'

vulncheck: ## Search all dependencies for known vulnerabilities
	tools/vulncheck.sh

bench: ## Measure performance (docs/performance.md); no check depends on it
	go run ./test/bench $(ARGS)
