#!/bin/sh
# Apple's xctrace around one program; the GPU's intervals as facts in OUT: xctrace.sh OUT PROGRAM [ARGUMENT]...
# For macOS; never run so far.
set -u
out=$1
shift
cd "$(dirname "$out")" || exit 1
xcrun xctrace record --template 'Metal System Trace' --output program.trace --launch -- "$@" >xctrace.log 2>&1 || {
  tail -n 3 xctrace.log >&2
  exit 1
}
xcrun xctrace export --input program.trace --xpath '/trace-toc/run/data/table[@schema="metal-gpu-intervals"]' >intervals.xml || exit 1
# Values are written once, with an id, and referred to afterwards.
awk 'BEGIN { RS = ">" }
  /<duration[^>]*id="/ { match($0, / id="[0-9]+"/); id = substr($0, RSTART + 5, RLENGTH - 6); wait = 1; next }
  wait { split($0, part, "<"); known[id] = part[1]; sum += part[1]; count++; wait = 0; next }
  /<duration[^>]*ref="/ { match($0, / ref="[0-9]+"/); sum += known[substr($0, RSTART + 6, RLENGTH - 7)]; count++ }
  END {
    if (count == 0) exit 1
    printf "device_time_us %.3f us\ndevice_launches %d\ndevice_kernel_us %.3f us\n", sum / 1000, count, sum / count / 1000
  }' intervals.xml >"$out" || { echo "no GPU intervals in the trace" >&2; exit 1; }
