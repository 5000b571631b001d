#!/bin/sh
# tests/run.sh - installs what is needed, builds, runs every test; ends with ctest's summary.
# usage: sh tests/run.sh [--long] [--preset NAME] [CTEST ARGUMENTS...]
#   --long         the long runs too (hours rather than minutes)
#   --preset NAME  another preset of CMakePresets.json (default: release and dev, one after the other)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
presets="dev release"
while [ $# -gt 0 ]; do
	case $1 in
	--long)
		PL_LONG=1
		export PL_LONG
		;;
	--preset)
		presets=$2
		shift
		;;
	*) break ;;
	esac
	shift
done

sh packaging/install-deps.sh --tests
status=0
for preset in $presets; do
	cmake --preset "$preset" -DPL_TESTS=ON >/dev/null
	cmake --build "build/$preset"
	rm -f "build/$preset"/asan.log.*
	echo "== $preset"
	ctest --test-dir "build/$preset" --output-on-failure -j 2 "$@" || status=$?
	# A leak inside a test program is printed but does not fail it: any report is a failure here.
	for report in "build/$preset"/asan.log.*; do
		[ -e "$report" ] || continue
		cat "$report"
		status=1
	done
	[ $status -eq 0 ] || exit $status
done
