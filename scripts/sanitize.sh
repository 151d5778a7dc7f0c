#!/usr/bin/env bash
# The whole suite under the sanitizers: addresses and undefined behaviour (preset asan), then threads (preset tsan).
# That takes hours, so it runs in slices and remembers what passed: started again it goes on where it was stopped, runs
# failed tests once more, and those that a change since then reaches (scripts/sanitize_tests.py says how it knows, and
# what is left out, with reasons).
#   scripts/sanitize.sh [asan|tsan] [--minutes N] [--slice TESTS] [--jobs N] [--built] [-R REGEX] [-L LABEL]
# Ends with one line for each sanitizer: "asan: N of M passed, N failed, N skipped, N to go".
set -uo pipefail
cd "$(dirname "$0")/.."

presets=()
minutes=0
slice=40
built=no
jobs=$(nproc)
select=()
while [ $# -gt 0 ]; do
  case "$1" in
    asan | tsan) presets+=("$1") ;;
    --minutes) minutes=${2:?}; shift ;;
    --slice) slice=${2:?}; shift ;;
    --jobs) jobs=${2:?}; shift ;;
    --built) built=yes ;;  # builds nothing: runs the tests of the programs that are there
    -R | -L | -E | -LE) select+=("$1" "${2:?}"); shift ;;
    *)
      echo "usage: scripts/sanitize.sh [asan|tsan] [--minutes N] [--slice TESTS] [--jobs N] [--built] [-R REGEX] [-L LABEL]" >&2
      exit 2
      ;;
  esac
  shift
done
[ ${#presets[@]} -gt 0 ] || presets=(asan tsan)
source scripts/build.sh
deadline=$((minutes > 0 ? SECONDS + 60 * minutes : 1 << 40))

quoted() { sed 's/[][\.*^$()+?{}|/]/\\&/g'; }  # a test's name inside a regular expression
lines() { [ -s "$1" ] && wc -l <"$1" || echo 0; }
# How many lines of the second file are in the first; grep says nothing at all of an empty list.
count_in() { local found; found=$(grep -cxFf "$1" "$2"); echo "${found:-0}"; }
names() { cut -d' ' -f2- "$1"; }

# Names, each with its key. REQUIRES: $state/slice holds the keys.
keys_of() { awk 'NR == FNR { said[$0]; next } { name = $0; sub(/^[^ ]* /, "", name) } name in said' - "$state/slice"; }

# Those of a JUnit record with this status.
with_status() {
  sed -n "s/.*testcase name=\"\([^\"]*\)\".*status=\"\($1\)\".*/\1/p" "$state/slice.xml" |
    sed 's/&quot;/"/g; s/&apos;/'"'"'/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | keys_of
}

# What had passed of a slice that was cut short: ctest writes its record only at the end.
recover_slice() {
  [ -s "$state/slice.log" ] && [ ! -s "$state/slice.xml" ] || return 0
  sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \(.*[^ ]\) \.\.* *Passed .*/\1/p' "$state/slice.log" | keys_of >>"$state/passed"
}

# Runs what has not passed yet, slice by slice. REQUIRES: the preset is built.
run_preset() {
  local preset=$1 state="out/sanitize/$1" run=()
  mkdir -p "$state"
  touch "$state/passed" "$state/skipped"
  recover_slice
  # The thread sanitizer ends at once where the kernel randomises addresses too widely for it.
  [ "$preset" = tsan ] &&
    run=(env TSAN_OPTIONS="suppressions=$PWD/scripts/tsan_suppressions.txt ${TSAN_OPTIONS:-}" setarch -R)
  "${run[@]}" ctest --preset "$preset" "${select[@]}" --show-only=json-v1 |
    python3 scripts/sanitize_tests.py "$preset" "$state" >"$state/all" || return 1
  cat "$state/passed" "$state/skipped" | sort -u >"$state/settled"
  grep -vxFf "$state/settled" "$state/all" >"$state/left"
  : >"$state/failed"
  rm -f "$state"/failed.*.log
  local at=0 total pattern
  total=$(lines "$state/left")
  while [ "$at" -lt "$total" ] && [ "$SECONDS" -lt "$deadline" ]; do
    tail -n "+$((at + 1))" "$state/left" | head -n "$slice" >"$state/slice"
    pattern=$(names "$state/slice" | quoted | paste -sd'|')
    rm -f "$state/slice.xml"
    "${run[@]}" ctest --preset "$preset" -j "$jobs" --timeout 1800 --output-junit "$PWD/$state/slice.xml" \
      -R "^($pattern)\$" >"$state/slice.log" 2>&1
    [ -s "$state/slice.xml" ] || {
      echo "$preset: ctest ended without a record of its tests: see $state/slice.log"
      break
    }
    with_status run >>"$state/passed"
    with_status 'notrun\|disabled' >>"$state/skipped"
    cat "$state/passed" "$state/skipped" | sort -u >"$state/settled"
    grep -vxFf "$state/settled" "$state/slice" | cut -d' ' -f2- >"$state/slice.failed"
    if [ -s "$state/slice.failed" ]; then
      cat "$state/slice.failed" >>"$state/failed"
      cp "$state/slice.log" "$state/failed.$at.log"
      sed "s/^/$preset: failed: /" "$state/slice.failed"
      echo "$preset: see $state/failed.$at.log"
    fi
    at=$((at + slice))
    echo "$preset: $((at < total ? at : total)) of $total of this run, $(lines "$state/failed") failed"
  done
  local all passed skipped failed
  all=$(lines "$state/all")
  passed=$(count_in "$state/passed" "$state/all")
  skipped=$(count_in "$state/skipped" "$state/all")
  failed=$(lines "$state/failed")
  summary+=("$preset: $passed of $all passed, $failed failed, $skipped skipped, $((all - passed - skipped - failed)) to go")
  [ $((passed + skipped)) -eq "$all" ]
}

summary=()
status=0
for preset in "${presets[@]}"; do
  [ "$built" = yes ] || build "$preset" || exit 2
  run_preset "$preset" || status=1
done
printf '%s\n' "${summary[@]}"
exit "$status"
