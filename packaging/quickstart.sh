#!/bin/sh
# packaging/quickstart.sh - from a fresh machine to batches of real photographs, in one command.
# usage: sh packaging/quickstart.sh [DIR]   DIR holds your photographs (JPEG or PNG, in any depth of folders)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

if [ $# -eq 0 ]; then
	sh "$root/packaging/install-deps.sh" --photos
	dir=/usr/share/backgrounds
else
	sh "$root/packaging/install-deps.sh"
	[ -d "$1" ] || {
		echo "usage: sh packaging/quickstart.sh [DIR]   '$1' is not a folder" >&2
		exit 64
	}
	dir=$(cd "$1" && pwd)
fi

cd "$root"
[ -f build/release/build.ninja ] || cmake --preset release -DPL_TESTS=OFF >/dev/null
cmake --build build/release --target pipeloaderd pipeloaderctl pipeloader

echo
echo "Photographs of $dir through config/pipelines/quickstart.yaml:"
exec build/release/pipeloaderctl try config/pipelines/quickstart.yaml --set "photos=$dir"
