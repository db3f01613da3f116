#!/usr/bin/env bash
# Runs the linters. Each part first checks a bad example, so that a linter that finds nothing does not pass.
#
#   tools/lint.sh go prose api proto sql shell workflows    these parts, at the same time
#   tools/lint.sh pages                                     the pages that tests render (make test)
#   tools/lint.sh                                           only installs what is fetched from npm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The build cache is shared with the other targets of the Makefile.
export CGO_ENABLED=0 GOFLAGS=${GOFLAGS:--trimpath}
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=tools/lint/testdata
npm=tools/lint/node_modules
read -ra modules < <(sed -n 's/^MODULES := //p' Makefile)
want=

fail() {
	echo "lint: $*" >&2
	exit 1
}

# rejects NAME COMMAND... fails unless the command fails and prints each word of the variable want.
rejects() {
	local name=$1 word
	shift
	if "$@" >"$tmp/rejected.$name" 2>&1; then fail "$name accepts a bad example"; fi
	for word in $want; do
		if ! grep -qF -- "$word" "$tmp/rejected.$name"; then
			cat "$tmp/rejected.$name"
			fail "$name does not report $word in a bad example"
		fi
	done
}

# tool FOLDER PACKAGE builds a program of tools/FOLDER into .tools/. vale parses code with a library in C.
tool() { GOWORK=off CGO_ENABLED=${cgo:-0} GOFLAGS='-trimpath -buildvcs=false' go -C "tools/$1" build -o "$PWD/.tools/" "$2"; }

fetch() {
	local mark
	mark=$(cat tools/lint/package.json tools/lint/package-lock.json | cksum)
	if [ "$mark" = "$(cat $npm/.installed 2>/dev/null)" ]; then return; fi
	echo "lint: fetching the linters from npm (once)"
	(cd tools/lint && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	echo "$mark" >$npm/.installed
}

go_part() {
	local m
	tool golangci github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	cp -r $bad/go "$tmp" && printf 'module github.com/signalcast/signalcast\n\ngo 1.26.0\n' >"$tmp/go/go.mod"
	want="depguard dupl errorlint gocritic gofumpt gosec misspell revive staticcheck unparam unused govet" \
		rejects golangci-lint env -C "$tmp/go" GOWORK=off "$PWD/.tools/golangci-lint" run --config "$PWD/.golangci.yml" --allow-parallel-runners ./...
	.tools/golangci-lint run --allow-parallel-runners "${modules[@]/%//...}"
	for m in tools deploy/check test/containers; do
		GOWORK=off env -C $m "$PWD/.tools/golangci-lint" run --allow-parallel-runners --config "$PWD/.golangci.yml" ./...
	done
	go run ./test/importlint
}

prose_part() {
	cgo=1 tool vale github.com/vale-cli/vale/v3/cmd/vale
	tool . ./prose
	VALE=$PWD/.tools/vale GOWORK=off go -C tools test ./prose
	.tools/prose -vale .tools/vale
}

# newest_tag prints the newest tag whose files this clone has.
newest_tag() {
	local tag
	tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || return
	git archive "$tag" proto >/dev/null 2>&1 && echo "$tag"
}

redocly() { node $npm/@redocly/cli/bin/cli.js lint --config tools/lint/redocly.yaml --format json "$1" 2>/dev/null | no_problems; }
spectral() { node $npm/@stoplight/spectral-cli/dist/index.js lint --ruleset tools/lint/spectral.yaml --fail-severity hint "$1"; }

# no_problems fails if a report of redocly has a problem; redocly itself accepts warnings.
no_problems() { node -e 'const found = JSON.parse(require("fs").readFileSync(0)).problems.filter((p) => !p.ignored)
for (const p of found.slice(0, 20)) console.log(p.ruleId, p.location[0].pointer, p.message)
process.exit(found.length ? 1 : 0)'; }

api_part() {
	local document=docs/protocol/openapi.yaml tag
	sed 's/^      operationId: signIn$/      operationId: sign in/; s/^      summary: Sign in$//' $document >"$tmp/openapi.yaml"
	want=operation rejects redocly redocly "$tmp/openapi.yaml"
	want=operation rejects spectral spectral "$tmp/openapi.yaml"
	redocly $document || fail "redocly found the above"
	spectral $document
	tool oasdiff github.com/oasdiff/oasdiff
	sed 's,^  /api/mcp:$,  /api/removed:,' $document >"$tmp/openapi.yaml"
	want=api-path-removed rejects oasdiff .tools/oasdiff breaking --fail-on ERR $document "$tmp/openapi.yaml"
	tag=$(newest_tag) || { echo "oasdiff: not compared: no tag" && return; }
	git show "$tag:$document" >"$tmp/before.yaml"
	.tools/oasdiff breaking --fail-on ERR --err-ignore tools/oasdiff/additions.txt "$tmp/before.yaml" $document
}

proto_part() {
	local buf tag
	buf=$(echo "$PWD"/$npm/@bufbuild/buf-*/bin/buf)
	cp -r proto buf.yaml "$tmp"
	sed -i '0,/ = 1;/s// = 99;/; 0,/^message /s//message lower_case {}\n&/' "$tmp/proto/signal/v1/signal.proto"
	want=lower_case rejects "buf lint" "$buf" lint "$tmp"
	want=signal.proto rejects "buf breaking" "$buf" breaking "$tmp" --against .
	"$buf" lint
	tag=$(newest_tag) || { echo "buf: not compared: no tag" && return; }
	mkdir "$tmp/before" && git archive "$tag" proto buf.yaml | tar x -C "$tmp/before"
	"$buf" breaking --against "$tmp/before"
	echo "buf: nothing breaks clients of $tag"
}

sql_part() {
	local program=$npm/@squawk-cli/linux-x64/bin/squawk
	if [ ! -x $program ]; then echo "squawk: not checked: there is no program for this machine" && return; fi
	squawk() { $program --config tools/lint/squawk.toml "$@"; }
	want="adding-required-field constraint-missing-not-valid ban-drop-column" rejects squawk squawk $bad/migration.sql
	squawk services/*/internal/postgres/migrations/*.sql
}

shell_part() {
	want="SC2086 SC2164" rejects shellcheck shellcheck $bad/script.sh
	# shellcheck disable=SC2046 # one argument for each file
	shellcheck $(git ls-files '*.sh' .ci/run tools/size ':!'$bad)
	echo "shellcheck: no findings"
}

workflows_part() { tools/lint-workflows.sh; }

pages_part() {
	local bin
	fetch
	# html-validate requires a newer Node than that of Debian; the tests of clients have one.
	for bin in test/clients/node_modules/node-linux-*/bin; do
		[ -x "$bin/node" ] && PATH="$PWD/$bin:$PATH"
	done
	validate() { node $npm/html-validate/bin/html-validate.mjs --config tools/lint/htmlvalidate.json "$1"; }
	want="element-required-attributes close-order" rejects html-validate validate $bad/page.html
	HTML_PAGES=$tmp/pages go test -count=1 -vet=off ./services/hub/internal/httpapi/pages >"$tmp/tests" || { cat "$tmp/tests" && exit 1; }
	go run ./docs/write "$tmp/pages/docs" >/dev/null
	[ "$(find "$tmp/pages" -name '*.html' | wc -l)" -ge 100 ] || fail "the tests rendered fewer than 100 pages"
	validate "$tmp/pages"
	echo "html-validate: $(find "$tmp/pages" -name '*.html' | wc -l) pages, no findings"
}

# The parts share two processors: the shorter ones run while golangci-lint waits for the compiler.
case " $* " in "  " | *" api "* | *" proto "* | *" sql "*) fetch ;; esac
jobs=()
for part in "$@"; do
	("${part}_part") >"$tmp/$part.log" 2>&1 &
	jobs+=($!)
done
failed=
for part in "$@"; do
	wait "${jobs[0]}" || failed="$failed $part"
	jobs=("${jobs[@]:1}")
	cat "$tmp/$part.log"
done
[ -z "$failed" ] || fail "failed:$failed"
