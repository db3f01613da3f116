#!/usr/bin/env bash
# Installs missing programs that the tests need, as root on Debian. Otherwise it prints the command that installs them.
#
#   tools/setup.sh lint redis postgres chromium node video engine compose
set -euo pipefail

# has reports whether one of the programs exists.
has() { for p in "$@"; do command -v "$p" >/dev/null && return 0; done; return 1; }

missing=() optional=()
for part in "$@"; do
	case $part in
	lint) # gcc compiles vale
		has shellcheck || missing+=(shellcheck)
		has npm || missing+=(nodejs npm)
		has gcc || missing+=(gcc libc6-dev)
		has git || missing+=(git) ;;
	redis) has redis-server valkey-server || missing+=(redis-server) ;;
	postgres) # pkg/localdb finds it outside PATH and can download it from npm
		has postgres || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || optional+=(postgresql) ;;
	chromium) has chromium chromium-browser google-chrome google-chrome-stable || missing+=(chromium) ;;
	node) has npm || missing+=(nodejs npm) ;;
	video) # an encoder, and the RTMP server in front of the video origin
		has ffmpeg || missing+=(ffmpeg)
		has nginx /usr/sbin/nginx || missing+=(nginx)
		[ -e /usr/lib/nginx/modules/ngx_rtmp_module.so ] || missing+=(libnginx-mod-rtmp) ;;
	engine) # container tests start a private engine and skip without one
		has dockerd && has docker || optional+=(docker.io docker-cli) ;;
	compose) # TestComposeRuns skips without them
		docker compose version >/dev/null 2>&1 || has docker-compose || optional+=(docker-compose)
		has debootstrap || optional+=(debootstrap) ;;
	*) echo "setup: unknown part $part" >&2 && exit 2 ;;
	esac
done
[ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ] || ! has apt-get; then
	[ ${#optional[@]} = 0 ] || echo "setup: some tests are skipped or limited without ${optional[*]}" >&2
	[ ${#missing[@]} = 0 ] || { echo "setup: run: sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2 && exit 1; }
	exit 0
fi
echo "setup: installing ${missing[*]} ${optional[*]}"
export DEBIAN_FRONTEND=noninteractive
# Installing a package must not start its service.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy
fi
apt-get update -qq
install() { apt-get install -y --no-install-recommends "$@" >/dev/null; }
if [ ${#missing[@]} -gt 0 ]; then install "${missing[@]}"; fi
for p in "${optional[@]}"; do
	if apt-cache show "$p" >/dev/null 2>&1; then install "$p"; fi
done
