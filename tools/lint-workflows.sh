#!/usr/bin/env bash
# Checks the workflows of .github: with actionlint, and that
# - every action of another repository is pinned by its commit, followed by a comment with its version,
# - every workflow restricts its permissions, and every job has a timeout,
# - the matrix of ci.yml has the steps of .ci/run,
# - dependabot.yml lists every go.mod and package-lock.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p .tools
GOWORK=off go -C tools build -o ../.tools/ github.com/rhysd/actionlint/cmd/actionlint

# check_files prints what is wrong with workflow files and returns 1 if there is anything.
check_files() {
	local failed=0
	.tools/actionlint -no-color "$@" || failed=1
	for f in "$@"; do
		grep -q '^permissions:' "$f" || { echo "$f: no permissions at the top level" && failed=1; }
		# A job is a key with two spaces before it, below jobs:.
		awk -v file="$f" '
			function flush() { if (job != "" && !limited) { print file ": job " job " has no timeout-minutes"; bad = 1 } }
			/^[a-z]/ { flush(); job = ""; jobs = /^jobs:/ }
			jobs && /^  [a-z][a-z0-9_-]*:/ { flush(); job = $1; limited = 0 }
			/^    timeout-minutes:/ { limited = 1 }
			END { flush(); exit bad }' "$f" || failed=1
	done
	check_pins "$@" || failed=1
	return $failed
}

# check_pins prints the actions that are not pinned by their commit with a version, and returns 1 if there is one.
check_pins() {
	! grep -nE '^ *(- )?uses: ' "$@" /dev/null |
		grep -vE 'uses: (\./[^ ]*|[A-Za-z0-9._/-]+@[0-9a-f]{40} # v[0-9.]+)$'
}

bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT

# The checks must accept a copy of a workflow, and reject it with any of the mistakes below.
cp .github/workflows/ci.yml "$bad/ci.yml"
check_files "$bad/ci.yml" || { echo "lint-workflows: a copy of ci.yml is rejected" >&2 && exit 1; }
rejects() { # rejects NAME SCRIPT-OF-SED: the workflow ci.yml with that change is rejected
	sed "$2" .github/workflows/ci.yml >"$bad/ci.yml"
	! cmp -s "$bad/ci.yml" .github/workflows/ci.yml || { echo "lint-workflows: the change '$1' of the self-test changes nothing" >&2 && exit 1; }
	if check_files "$bad/ci.yml" >/dev/null 2>&1; then echo "lint-workflows: a workflow with $1 is not rejected" >&2 && exit 1; fi
}
rejects "an unknown key" 's/^    timeout-minutes:/    time-limit: 1\n&/'
rejects "an unknown member in an expression" 's/matrix\.step/matrix.stage/'
rejects "an action without its commit" 's/checkout@[0-9a-f]* # v.*/checkout@v7/'
rejects "no permissions" '/^permissions:/,/^  contents/d'
rejects "no timeout" '/^    timeout-minutes:/d'

check_files .github/workflows/*.yml
check_pins .github/actions/*/action.yml

steps=$(sed -n 's/^make //p' .ci/run | paste -sd, - | sed 's/,/, /g')
grep -qF "step: [$steps]" .github/workflows/ci.yml || { echo "ci.yml: the matrix does not have the steps of .ci/run: $steps" && exit 1; }
for f in $(git ls-files '*go.mod' '*package-lock.json'); do
	grep -qx "      - /$(dirname "$f")" .github/dependabot.yml || { echo "dependabot.yml does not list the directory of $f" && exit 1; }
done
files=(.github/workflows/*.yml)
echo "lint-workflows: ${#files[@]} workflows have no mistakes"
