#!/usr/bin/env bash
# Searches the dependencies of every Go module and npm package for known vulnerabilities. Prints "not checked" for a part whose
# database cannot be reached. Exits with 1 if there is a vulnerability: for Go in code that is called, for npm of level high or above.
#
#   tools/vulncheck.sh
#   GOVULNDB=file:///DIR tools/vulncheck.sh    another database, see go doc golang.org/x/vuln/cmd/govulncheck
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

found=() unchecked=()
not_checked() {
	unchecked+=("$1")
	echo "$1: not checked: $2"
	[ -z "${GITHUB_ACTIONS:-}" ] || echo "::warning::$1: not checked: $2"
}

# reachable reports whether the database answers.
database=${GOVULNDB:-https://vuln.go.dev}
reachable() {
	case $database in
	file://*) [ -r "${database#file://}/index/db.json" ] ;;
	*) curl -fsS --max-time 20 -o /dev/null "$database/index/db.json" 2>/dev/null ;;
	esac
}

if reachable; then
	mkdir -p .tools
	GOWORK=off go -C tools build -o ../.tools/ golang.org/x/vuln/cmd/govulncheck
	for mod in $(git ls-files '*go.mod'); do
		dir=$(dirname "$mod")
		echo "== Go module $dir"
		code=0
		GOWORK=off .tools/govulncheck -db "$database" -C "$dir" ./... || code=$?
		case $code in
		0) ;;
		3) found+=("$dir") ;;
		*) echo "vulncheck: govulncheck failed in $dir with exit code $code" >&2 && exit 2 ;;
		esac
	done
else
	not_checked "Go modules" "$database cannot be reached"
fi

for lock in $(git ls-files '*package-lock.json'); do
	dir=$(dirname "$lock")
	echo "== npm packages of $dir"
	code=0
	report=$(cd "$dir" && npm audit --package-lock-only --audit-level=high 2>&1) || code=$?
	if [ "$code" = 0 ]; then
		echo "$report"
	elif grep -q 'audit endpoint returned an error\|ENOTFOUND\|ECONNREFUSED\|ETIMEDOUT' <<<"$report"; then
		not_checked "npm packages of $dir" "the registry does not answer audits"
	else
		echo "$report"
		found+=("$dir")
	fi
done

[ ${#unchecked[@]} = 0 ] || (IFS=, && echo "vulncheck: not checked: ${unchecked[*]}")
[ ${#found[@]} = 0 ] || { echo "vulncheck: vulnerabilities in: ${found[*]}" >&2 && exit 1; }
