#!/usr/bin/env bash
# Sets up, builds, and runs every test. The last line is "N passed, N failed, N skipped".
#   scripts/test.sh [--preset release|dev|asan|tsan] [ctest options, such as -R store]
set -uo pipefail
cd "$(dirname "$0")/.."

preset=release
if [ "${1:-}" = --preset ]; then
  preset=${2:?"--preset needs a name: release, dev, asan or tsan"}
  shift 2
fi

scripts/setup.sh || exit 2
source scripts/build.sh
build "$preset" || exit 2

echo "test: running (preset $preset)"
report="out/$preset/tests.xml"
rm -f "$report"
ctest --preset "$preset" -j "$(nproc)" --timeout 900 --output-junit "$PWD/$report" "$@"
status=$?

# Counts come from ctest's own record, not from what it printed.
if [ ! -s "$report" ]; then
  echo "test: ctest ended without a record of its tests" >&2
  exit 2
fi
count() { sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$report" | head -n 1; }
total=$(count tests)
failed=$(count failures)
skipped=$(($(count skipped) + $(count disabled)))
if [ "$total" -eq 0 ]; then
  echo "test: no test was found" >&2
  exit 2
fi
sed -n 's/.*testcase name="\([^"]*\)".*status="notrun".*/skipped: \1/p' "$report"
sed -n 's/.*testcase name="\([^"]*\)".*status="fail".*/failed: \1/p' "$report"
echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$status" -eq 0 ]
