#!/bin/sh
# Builds the images of compose.yaml, with the names that it uses by default, on an engine without a registry. It
# compiles the programs with the Go of this machine; elsewhere `docker compose build` does everything.
#
#   deploy/images/build.sh                  programs and data
#   deploy/images/build.sh programs [NAME]  api, clock, hub, venuesim and devidp, or only one of them
#   deploy/images/build.sh data             Postgres and Redis, also with the names of the official images
#
# Settings: IMAGE_PREFIX of the names (signalcast), TAG (local), PROGRAMS (a folder with compiled programs, built with
# the flags of this script), MINIMAL=1 (the hub without ffmpeg; needs no network), BASE (a Debian 12 image for the hub
# and for data; if it is not set, the script creates signalcast/debian:12 with debootstrap, as root).
set -eu
umask 022 # another user reads these files in the image

cd "$(dirname "$0")/../.."
TAG=${TAG:-local}
prefix=${IMAGE_PREFIX:-signalcast}
what=${1:-all}
[ $# = 0 ] || shift
ctx=$(mktemp -d)
trap 'rm -rf "$ctx"' EXIT

# The classic builder needs neither a frontend image nor a second daemon.
export DOCKER_BUILDKIT=0

certificates() {
	mkdir -p "$1"
	for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
		[ -s "$f" ] && cp "$f" "$1/ca-certificates.crt" && return 0
	done
	echo "build: this machine has no certificate bundle; install ca-certificates" >&2
	return 1
}

debian() {
	[ -z "${BASE:-}" ] || return 0
	BASE=signalcast/debian:12
	docker image inspect "$BASE" >/dev/null 2>&1 && return 0
	command -v debootstrap >/dev/null 2>&1 || {
		echo "build: set BASE to a Debian 12 image, or install debootstrap" >&2
		return 1
	}
	debootstrap --variant=minbase bookworm "$ctx/debian" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
	tar -C "$ctx/debian" -c . | docker import - "$BASE" >/dev/null
	rm -rf "$ctx/debian"
}

programs() {
	src=$ctx/programs
	certificates "$src/etc/ssl/certs"
	mkdir -p "$src/out" "$src/empty"
	# The files replace the stage that compiles.
	awk '/ AS compiled$/ { print "FROM scratch AS compiled\nCOPY . /\n"; skip = 1 } !NF { skip = 0 } !skip' \
		deploy/images/Dockerfile >"$ctx/Dockerfile"
	arch=$(docker version --format '{{.Server.Arch}}')
	[ $# -gt 0 ] || set -- api clock hub venuesim devidp
	for s in "$@"; do
		dir=services target=minimal directory=/video out=$src/out
		case "$s" in
		venuesim) dir=deploy ;;
		devidp) dir=deploy directory=/state ;;
		hub) if [ -z "${MINIMAL:-}" ]; then debian; target=hub; fi ;;
		esac
		if [ -n "${PROGRAMS:-}" ]; then
			cp "$PROGRAMS/$s" "$out/$s"
		else
			CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags '-s -w' -o "$out/$s" "./$dir/$s"
		fi
		docker build --network host -f "$ctx/Dockerfile" --target "$target" --build-arg "BASE=${BASE:-scratch}" \
			--build-arg "PROGRAM=$s" --build-arg "DIRECTORY=$directory" -t "$prefix/$s:$TAG" "$src"
		rm "$out/$s" # the next image does not need it
	done
}

data() {
	debian
	mkdir "$ctx/data"
	cp deploy/images/data-entry.sh "$ctx/data/"
	docker build --network host -f deploy/images/data.Dockerfile --build-arg "BASE=$BASE" -t "$prefix/data:$TAG" "$ctx/data"
	# Compose then starts this image. It never replaces an official one.
	sed -n 's/^ *image: .*:-\(\(postgres\|redis\):[^}]*\)}$/\1/p' compose.yaml | while read -r name; do
		label='{{index .Config.Labels "signalcast.data"}}'
		if docker image inspect "$name" >/dev/null 2>&1 && [ "$(docker image inspect --format "$label" "$name")" != debian ]; then
			continue
		fi
		docker tag "$prefix/data:$TAG" "$name"
	done
}

case "$what" in
all)
	programs
	data
	;;
programs) programs "$@" ;;
data) data ;;
*)
	sed -n '2,14p' "$0" >&2
	exit 2
	;;
esac
