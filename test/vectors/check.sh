#!/bin/bash
# Checks the golden messages with Node and public libraries, at the versions of
# the lock file. Their install scripts are not run.
set -euo pipefail
cd "$(dirname "$0")"
command -v npm >/dev/null || { echo "npm is missing: install Node 20 or newer" >&2; exit 1; }
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
node check.mjs
