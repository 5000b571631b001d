#!/bin/sh
# packaging/quickstart.sh - from a fresh machine to batches of real photographs, in one command.
# usage: sh packaging/quickstart.sh [DIR]   DIR holds your photographs (JPEG or PNG, in any depth of folders)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

photos=
[ $# -eq 0 ] || photos=--no-photos
if [ -z "$photos" ]; then
	sh "$root/packaging/install-deps.sh" --photos
	dir=/usr/share/backgrounds
else
	sh "$root/packaging/install-deps.sh"
	dir=$(cd "$1" && pwd)
fi

cd "$root"
[ -f build/release/build.ninja ] || cmake --preset release -DPL_TESTS=OFF >/dev/null
cmake --build build/release --target pipeloaderd pipeloaderctl pipeloader

echo
echo "Photographs of $dir through config/pipelines/quickstart.yaml:"
exec build/release/pipeloaderctl try config/pipelines/quickstart.yaml --set "photos=$dir"
