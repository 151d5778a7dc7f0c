#!/usr/bin/env bash
# The whole suite under the sanitizers: addresses and undefined behaviour (preset asan), then threads (preset tsan).
# That takes hours, so it runs in slices and remembers what passed: started again it goes on where it was stopped, and
# runs failed tests once more. A change of the sources starts it over.
#   scripts/sanitize.sh [asan|tsan] [--minutes N] [--slice TESTS] [-R REGEX]
# Ends with one line for each sanitizer: "asan: N of M passed, N failed, N to go".
set -uo pipefail
cd "$(dirname "$0")/.."

presets=()
minutes=0
slice=40
select=()
while [ $# -gt 0 ]; do
  case "$1" in
    asan | tsan) presets+=("$1") ;;
    --minutes) minutes=${2:?}; shift ;;
    --slice) slice=${2:?}; shift ;;
    -R) select=(-R "${2:?}"); shift ;;
    *)
      echo "usage: scripts/sanitize.sh [asan|tsan] [--minutes N] [--slice TESTS] [-R REGEX]" >&2
      exit 2
      ;;
  esac
  shift
done
[ ${#presets[@]} -gt 0 ] || presets=(asan tsan)
source scripts/build.sh
deadline=$((minutes > 0 ? SECONDS + 60 * minutes : 1 << 40))

# What the verdicts depend on: every file that git knows or could know, as it is now.
version=$({ git ls-files -s src tests cmake CMakeLists.txt CMakePresets.json tasks pages platforms prompts; git diff HEAD;
  git ls-files --others --exclude-standard src tests | xargs -r cat; } 2>/dev/null | sha256sum | cut -c1-16)

quoted() { sed 's/[][\.*^$()+?{}|/]/\\&/g'; }  # a test's name inside a regular expression
lines() { [ -s "$1" ] && wc -l <"$1" || echo 0; }

# Runs what has not passed yet, slice by slice. REQUIRES: the preset is built.
run_preset() {
  local preset=$1 state="out/sanitize/$1/$version" run=()
  mkdir -p "$state"
  touch "$state/passed" "$state/failed"
  # The thread sanitizer ends at once where the kernel randomises addresses too widely for it.
  [ "$preset" = tsan ] && run=(setarch -R)
  "${run[@]}" ctest --preset "$preset" "${select[@]}" -N | sed -n 's/^ *Test *#[0-9]*: //p' >"$state/all"
  grep -vxFf "$state/passed" "$state/all" >"$state/left"
  : >"$state/failed"
  local at=0 total names
  total=$(lines "$state/left")
  while [ "$at" -lt "$total" ] && [ "$SECONDS" -lt "$deadline" ]; do
    tail -n "+$((at + 1))" "$state/left" | head -n "$slice" >"$state/slice"
    names=$(quoted <"$state/slice" | paste -sd'|')
    rm -f "$state/slice.xml"
    "${run[@]}" ctest --preset "$preset" -j "$(nproc)" --timeout 1800 --output-junit "$PWD/$state/slice.xml" \
      -R "^($names)\$" >"$state/slice.log" 2>&1
    sed -n 's/.*testcase name="\([^"]*\)".*status="\(run\|notrun\|disabled\)".*/\1/p' "$state/slice.xml" |
      sed 's/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >>"$state/passed"
    grep -vxFf "$state/passed" "$state/slice" >"$state/slice.failed" && {
      cat "$state/slice.failed" >>"$state/failed"
      cp "$state/slice.log" "$state/failed.$at.log"
      sed "s/^/$preset: failed: /" "$state/slice.failed"
      echo "$preset: see $state/failed.$at.log"
    }
    at=$((at + slice))
    echo "$preset: $((at < total ? at : total)) of $total of this run, $(lines "$state/failed") failed"
  done
  local all passed failed
  all=$(lines "$state/all")
  passed=$(grep -cxFf "$state/passed" "$state/all")
  failed=$(lines "$state/failed")
  summary+=("$preset: $passed of $all passed, $failed failed, $((all - passed - failed)) to go")
  [ "$passed" -eq "$all" ]
}

summary=()
status=0
for preset in "${presets[@]}"; do
  build "$preset" || exit 2
  run_preset "$preset" || status=1
done
printf '%s\n' "${summary[@]}"
exit "$status"
