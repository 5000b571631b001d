#!/bin/sh
# packaging/install-deps.sh - installs what the build needs from the distribution (Debian 12, 13, Ubuntu 24.04).
# usage: install-deps.sh [--tests] [--photos]   run as root, or with sudo in the path. Does nothing when all is there.
set -eu

need="gcc cmake ninja-build pkg-config libzmq3-dev libprotobuf-c-dev protobuf-c-compiler libsystemd-dev libyaml-dev
libjpeg-dev libspng-dev libwebp-dev libsndfile1-dev libsamplerate0-dev libjansson-dev libxxhash-dev
zlib1g-dev libzstd-dev liblzma-dev"
for want in "$@"; do
	case $want in
	--tests) need="$need libcriterion-dev python3 universal-ctags strace procps zstd xz-utils" ;;
	--photos) need="$need lomiri-wallpapers-20.04" ;;
	*)
		echo "usage: install-deps.sh [--tests] [--photos]" >&2
		exit 64
		;;
	esac
done

is_there() {
	case $1 in
	libjpeg-dev) pkg-config --exists libjpeg 2>/dev/null ;;
	*) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
	esac
}

missing=
for package in $need; do
	is_there "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || {
		echo "missing packages:$missing" >&2
		echo "run as root, or install sudo: apt-get install$missing" >&2
		exit 1
	}
	sudo=sudo
fi
echo "installing:$missing"
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq update
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing >/dev/null
