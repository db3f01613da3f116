#!/usr/bin/env bash
# Builds a release into dist/: programs for Linux and macOS, image archives, an SBOM for each program, the packages of the
# libraries, checksums and their signature.
#
#   tools/release.sh --version v0.1.0               dry run: signs with a new key
#   tools/release.sh --version v0.1.0 --key FILE    release: the tree must be clean, HEAD must have the tags
#                                                   v0.1.0 and sdk/go/v0.1.0, and .github/signalcast.pub is the public key
#
# Without --version the version is made from the commit. FILE is an ECDSA P-256 key in PEM form. IMAGE_PREFIX is the prefix of
# image names (signalcast). Requires git, npm and openssl. CONTRIBUTING.md says how a release is made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

commit=$(git rev-parse HEAD)
version=v0.0.0-g${commit:0:12} key='' out=$PWD/dist
while [ $# -gt 0 ]; do
	case $1 in
	--version) version=${2:?} ;;
	--key) key=$(realpath "${2:?}") ;;
	*) sed -n '2,11p' "$0" >&2 && exit 2 ;;
	esac
	shift 2
done
fail() { echo "release: $*" >&2 && exit 1; }
step() { echo "release: $* (${SECONDS} s)"; }
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "the version is $version; want a semantic version such as v0.1.0"
if [ -n "$key" ]; then
	[ -z "$(git status --porcelain)" ] || fail "the tree has changes; commit them first"
	openssl pkey -in "$key" -pubout | cmp -s - .github/signalcast.pub || fail ".github/signalcast.pub is not the public key of $key"
	for tag in "$version" "sdk/go/$version"; do
		git tag --points-at HEAD | grep -qxF "$tag" || fail "commit $commit does not have the tag $tag"
	done
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out" && mkdir -p "$out"

tools/gen.sh script # compiles sdk/ts/dist; fails if a generated file is out of date
variables=github.com/signalcast/signalcast/pkg/version
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	step "building programs for $platform"
	mkdir -p "$work/programs/$platform"
	CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} GOFLAGS='-trimpath -buildvcs=false' go build \
		-ldflags "-s -w -X $variables.version=$version -X $variables.commit=$commit -X $variables.date=$(git show -s --format=%cI "$commit")" \
		-o "$work/programs/$platform/" ./services/api ./services/hub ./services/clock ./cmd/signalcast
done

# A module in a subdirectory has the licence of the repository.
git archive "$commit" LICENSE sdk/go | tar -x -C "$work" && mv "$work/LICENSE" "$work/sdk/go/"

step "writing archives, SBOMs, images and the Go module"
GOWORK=off GOFLAGS=-trimpath CGO_ENABLED=0 go -C tools build -o "$work/release" ./release
(cd tools && "$work/release" -programs "$work/programs" -sdk "$work/sdk/go" -out "$out" -version "$version" \
	-commit "$commit" -time "$(git show -s --format=%ct "$commit")" -image-prefix "${IMAGE_PREFIX:-signalcast}")

step "packing the TypeScript library"
mkdir "$work/ts"
cp -r sdk/ts/dist sdk/ts/package.json sdk/ts/README.md LICENSE "$work/ts/"
(cd "$work/ts" && npm version --no-git-tag-version --allow-same-version "${version#v}" >/dev/null &&
	npm pack --loglevel=error --pack-destination "$out" >/dev/null)

step "signing"
if [ -z "$key" ]; then
	key=$work/key.pem
	openssl ecparam -name prime256v1 -genkey -noout -out "$key"
	echo "release: dry run: the key of the signature is new and not stored"
fi
cd "$out"
sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .
openssl dgst -sha256 -sign "$key" -out SHA256SUMS.sig SHA256SUMS
openssl pkey -in "$key" -pubout -out signalcast.pub
openssl dgst -sha256 -verify signalcast.pub -signature SHA256SUMS.sig SHA256SUMS
step "$version of commit ${commit:0:12} is in dist/: $(find . -type f | wc -l) files, $(du -sh . | cut -f1)"
