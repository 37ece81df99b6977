# `make` alone lists the targets. Needs Go and make; the race detector also needs a C compiler.

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help quickstart demo test check sim killrate build race fuzz soak lint gen verify bench acceptance e2e host tools-aws action docs release-snapshot

# As the program ships, so that all but the race detector share one build of each package.
export CGO_ENABLED := 0
# The tag leaves out the traces that gRPC, which the OTLP exporter comes with, shows on a page of its own: their templates
# would more than double the binary (docs/dependencies.md).
export GOFLAGS := $(GOFLAGS) -trimpath -tags=grpcnotrace

GO ?= go
TOOL := $(GO) tool -modfile=tools/go.mod
# Packages whose goroutines the race detector watches, the one that takes longest first. What e2e drives is the
# program as it ships, which the race detector cannot watch; of the reconciler it watches the short tests, as the long
# ones take ten times as long with it. Commands, configuration and the simulated GitHub compute much and share little memory.
OTHERS = $(shell $(GO) list -e ./... | grep -vE '/(reconciler|deploy|e2e|cmd|internal/(repocheck|tools|config|githubsim))(/|$$)')
PLAIN := ./e2e/... ./deploy/... ./cmd/... ./internal/repocheck ./internal/tools/... ./internal/config/... ./internal/githubsim/...
# Those with long tests: of the rest, make check takes what make test has just found out from go test's cache.
HAVE_LONG = $(addprefix %/,$(patsubst %/,%,$(dir $(shell grep -rlE --include='*_test.go' 'testing[.]Short|storetest[.]Run|program[.]Long' *))))
LONG = $(filter $(HAVE_LONG),$(OTHERS))
test: RACED = ./reconciler/... $(OTHERS)
check: EVERY := $(PLAIN)
check: PLAIN = ./reconciler/... $(filter $(HAVE_LONG),$(shell $(GO) list -e $(EVERY)))
# EC2's generated code runs nothing at once; compiled so it takes 54 s of a core instead of 111.
RACE := -race -gcflags=github.com/aws/aws-sdk-go-v2/service/ec2="-race=false -N -l"
# The end of each program under the race detector would take a second.
export GORACE := atexit_sleep_ms=50
# Differs in each run: a test that reads it is not taken from go test's cache.
export REMUDA_TEST_RUN := $(shell date +%s)
# The tests that drive the program take it from here. Without it, each of their packages links one.
test check host: export REMUDA_TEST_BINARY := $(CURDIR)/bin/remuda
# What go generate writes.
GENERATED := README.md docs

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## one machine serves workflow runs from a warm pool
	@$(GO) run ./e2e/demo -remuda bin/remuda

# Most packages wait most of the time, so more of them run at once than there are processors. make lint runs all of vet.
BRIEF := -short -p 4 -timeout 30m
test: FLAGS := $(BRIEF)
test: ## the tests, but for the long ones, which say why they are left out
test: build
	@$(TOOL) gotestsum --jsonfile dist/$@.json --raw-command -- sh -c '$(raced); raced=$$?; $(plain) && exit $$raced'

# Most of e2e waits, and the race detector computes: side by side.
check: FLAGS := -p 2 -timeout 30m
# PASSED are files of events of a green make test: the tests that passed there are left out, and the packages that have no long tests.
check: export REMUDA_TEST_SKIP := $(if $(PASSED),$(shell $(GO) run ./internal/tools/acceptance -passed -results "$(PASSED)"))
check: ## all tests; after make test, only what it left out: PASSED=dist/test.json
check: build
	@$(TOOL) gotestsum --jsonfile dist/$@.json --raw-command -- sh -c '\
	  mkdir -p dist; $(plain) >dist/plain.json & plain=$$!; brief=0; calm=0; \
	  $(if $(REMUDA_TEST_SKIP),,$(brief); brief=$$?; $(calm); calm=$$?;) $(long); long=$$?; \
	  wait $$plain; code=$$?; cat dist/plain.json; [ $$code = 0 ] && [ $$brief = 0 ] && [ $$calm = 0 ] && exit $$long'

GOTEST = $(GO) test -json -vet=off -skip "$$REMUDA_TEST_SKIP"
raced = CGO_ENABLED=1 $(GOTEST) $(FLAGS) $(RACE) $(RACED)
brief = CGO_ENABLED=1 $(GOTEST) $(BRIEF) $(RACE) $(filter-out $(LONG),$(OTHERS))
long = CGO_ENABLED=1 $(GOTEST) $(FLAGS) $(RACE) $(LONG)
calm = $(GOTEST) $(BRIEF) $(filter-out $(HAVE_LONG),$(shell $(GO) list -e $(EVERY)))
plain = $(GOTEST) $(FLAGS) $(PLAIN)

sim: ## break simulated installations in every way; longer: SEED=7 HOURS=1e6 (resumes), or KILLS=10000; shorter: SHARE=0.1
	@$(GO) run ./e2e/sim/campaign -share "$(SHARE)" -seed "$(SEED)" -hours "$(HOURS)" -kills "$(KILLS)" $(if $(AGAIN),-again)

killrate: ## how many planted bugs are found without their own stories: BUDGET=60s BUGS=a,b AGAIN=1 PUBLISH=1
	@$(GO) run ./e2e/sim/campaign -only killrate -budget "$(BUDGET)" -bugs "$(BUGS)" $(if $(AGAIN),-again) $(if $(PUBLISH),-publish)

build: ## bin/remuda, one static binary
	@$(GO) build -o bin/remuda ./cmd/remuda

race: export CGO_ENABLED = 1
race: ## hunt a rare failure: make race PKG=./pool/... COUNT=50
	$(GO) test -race -timeout 30m -failfast -count $(or $(COUNT),10) $(or $(PKG),./...)

# A failing input is kept in testdata/fuzz, with which the second try fails at once. One without was the end of the time
# (https://go.dev/issue/75804).
fuzz: ## every fuzz target for FUZZTIME (10s) each: make fuzz PKG=./store FUZZTIME=1m
	@targets=$$(grep -rEo --include='*_test.go' --exclude-dir=node_modules --exclude-dir=testdata '^func Fuzz\w+' $(or $(PKG),.) | sed -E 's|/[^/]*:func |:|'); \
	for target in $${targets:?no fuzz target in $(or $(PKG),.)}; do echo "==> $$target"; \
	  try="$(GO) test -run ^$$ -fuzz ^$${target#*:}$$ -fuzztime $(or $(FUZZTIME),10s) $${target%%:*}"; \
	  $$try || $$try || failed="$$failed $$target"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

soak: ## 200 kills of real processes' controller, and more faults: make soak KILLS=50 BACKEND=aws SEED=7
	$(GO) test ./e2e/soak -count 1 -v -timeout 3h -run '$(if $(filter aws,$(BACKEND)),AWS,Embedded)$$' -kills $(or $(KILLS),200) -seed $(or $(SEED),0)

e2e: ## only the tests that drive the built binary
	$(GO) test -timeout 30m -count 1 -v ./e2e/...

# Two packages at once: machines that boot compute.
host: ## the tests on booted machines of Debian, which take root; only some: HOST=./e2e/host/stock, SHORT=1
host: build
	@REMUDA_HOST_TESTS=1 $(TOOL) gotestsum --jsonfile dist/$@.json --raw-command -- $(GO) test -json -vet=off -p 2 -timeout 20m $(if $(SHORT),-short) $(or $(HOST),./e2e/host/...)

release-snapshot: ## dist/release: all that a release has, of the work tree; nothing is published
	@GOFLAGS= $(GO) run -C tools/release . $(RELEASE)

tools-aws: ## what stands in for AWS in tests: DynamoDB Local, moto, ministack, ElasticMQ, a simulator of IAM
	@$(GO) run ./internal/tools/awstools

# Of Python's packages, pinned in tools/docs/requirements.txt.
docs: ## the site of docs/, into dist/site; a link that leads nowhere fails
	@test -x dist/docs-venv/bin/mkdocs || { python3 -m venv dist/docs-venv && dist/docs-venv/bin/pip install -q -r tools/docs/requirements.txt; }
	@NO_MKDOCS_2_WARNING=1 dist/docs-venv/bin/mkdocs build -f tools/docs/mkdocs.yml && echo "dist/site/index.html"

quickstart: ## the commands of docs/quickstart.md as they stand, against simulated AWS and GitHub, with the time they take
	$(GO) test -count=1 -v -run 'TestQuickstart$$' ./e2e/aws

action: ## bundle the GitHub Action into action/dist; needs Node.js
	cd action && npm ci && npm run build

lint: ## golangci-lint, at the version of tools/go.mod
	$(TOOL) golangci-lint run ./...

gen: ## write the generated files again
	$(GO) generate ./...

verify: ## formatting, generated files, modules, import rules, lint and vet
	@late="$$(gofmt -l .)"; test -z "$$late" || { echo "gofmt -w is due for:"; echo "$$late"; exit 1; }
	$(GO) generate ./...
	git diff --exit-code -- $(GENERATED)
	$(GO) mod tidy -diff
	$(GO) test ./internal/repocheck
	@$(MAKE) --no-print-directory lint

bench: ## all benchmarks; prints, writes nothing
	$(GO) test -run '^$$' -bench . -benchmem -timeout 2h ./...

acceptance: ## which test proves which line of docs/acceptance.md; FROM=file skips the tests
	@$(if $(FROM),,$(MAKE) --no-print-directory check || true) # its failures are counted below
	@$(GO) run ./internal/tools/acceptance -results "$(or $(FROM),dist/check.json)"
