#!/bin/sh
# Checks the OpenAPI document with Redocly and Spectral, at the versions of tools/lint/package-lock.json, which npm
# installs once. An error or a warning fails.
set -eu

cd "$(dirname "$0")/lint"
document=../../docs/protocol/openapi.yaml
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

# Prefer the Node of the test clients, because that of the machine may be too old.
for bin in ../../test/clients/node_modules/node-linux-*/bin; do
	[ -x "$bin/node" ] && PATH="$(cd "$bin" && pwd):$PATH"
done

mark=$(cat package.json package-lock.json | cksum)
if [ "$mark" != "$(cat node_modules/.installed 2>/dev/null)" ]; then
	echo "lint: fetching the linters from npm (once)"
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	echo "$mark" >node_modules/.installed
fi

redocly() { node node_modules/@redocly/cli/bin/cli.js lint --config redocly.yaml --format json "$1" 2>/dev/null; }
spectral() { node node_modules/@stoplight/spectral-cli/dist/index.js lint --ruleset spectral.yaml --fail-severity hint "$1"; }

# silent fails if a report of Redocly contains a problem. Redocly itself does not fail on warnings.
silent() { node -e 'const found = JSON.parse(require("fs").readFileSync(0)).problems.filter((p) => !p.ignored)
for (const p of found.slice(0, 20)) console.error(p.ruleId, p.location[0].pointer, p.message)
process.exit(found.length ? 1 : 0)'; }

# Check first that both linters find errors in an invalid document.
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
sed 's/^      operationId: signIn$/      operationId: sign in/; s/^      summary: Sign in$//' "$document" >"$bad/openapi.yaml"
if redocly "$bad/openapi.yaml" | silent 2>/dev/null; then echo "lint: redocly finds nothing in a bad document" >&2 && exit 1; fi
if spectral "$bad/openapi.yaml" >/dev/null 2>&1; then echo "lint: spectral finds nothing in a bad document" >&2 && exit 1; fi

redocly "$document" | silent || { echo "lint: redocly found the above" >&2 && exit 1; }
spectral "$document"
echo "lint: redocly and spectral find nothing"
