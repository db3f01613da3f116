#!/bin/sh
# Builds the images of compose.yaml with local tags.
#
#   deploy/images/build.sh            services and data
#   deploy/images/build.sh services   the three services only; needs no network
#   deploy/images/build.sh services hub
#                                     only this service
#   deploy/images/build.sh data       Postgres and Redis only
#
# Settings: IMAGE_PREFIX of the names (signalcast), TAG (local), BASE of the services
# (scratch), PROGRAMS (a folder with compiled services, built with the flags of this
# script), DATA_BASE (a Debian 12 image; if it is not set, the script creates
# signalcast/debian:12 with debootstrap, as root).
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
	for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
		[ -s "$f" ] && cp "$f" "$ctx/ca-certificates.crt" && return 0
	done
	echo "build: this machine has no certificate bundle; install ca-certificates" >&2
	return 1
}

services() {
	certificates
	mkdir -p "$ctx/video"
	arch=$(docker version --format '{{.Server.Arch}}')
	[ $# -gt 0 ] || set -- api clock hub
	for s in "$@"; do
		if [ -n "${PROGRAMS:-}" ]; then
			cp "$PROGRAMS/$s" "$ctx/$s"
		else
			CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags '-s -w' -o "$ctx/$s" "./services/$s"
		fi
		docker build -f deploy/images/service.Dockerfile --build-arg "BASE=${BASE:-scratch}" \
			--build-arg "BINARY=$s" -t "$prefix/$s:$TAG" "$ctx"
		rm "$ctx/$s" # the next image does not need it
	done
}

debian() {
	if docker image inspect signalcast/debian:12 >/dev/null 2>&1; then
		return 0
	fi
	command -v debootstrap >/dev/null 2>&1 || {
		echo "build: set DATA_BASE to a Debian 12 image, or install debootstrap" >&2
		return 1
	}
	debootstrap --variant=minbase bookworm "$ctx/debian" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
	tar -C "$ctx/debian" -c . | docker import - signalcast/debian:12 >/dev/null
}

data() {
	[ -n "${DATA_BASE:-}" ] || debian
	mkdir "$ctx/data"
	cp deploy/images/data-entry.sh "$ctx/data/"
	docker build --network host -f deploy/images/data.Dockerfile \
		--build-arg "BASE=${DATA_BASE:-signalcast/debian:12}" -t "$prefix/data:$TAG" "$ctx/data"
}

case "$what" in
all)
	services
	data
	;;
services) services "$@" ;;
data) data ;;
*)
	sed -n '2,13p' "$0" >&2
	exit 2
	;;
esac
