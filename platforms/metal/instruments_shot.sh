#!/bin/sh
# Records one program, opens the trace in Instruments and saves a picture of its window: instruments_shot.sh OUT.png PROGRAM [ARGUMENT]...
# For macOS, where the terminal may record the screen; never run so far.
set -u
out=$1
shift
cd "$(dirname "$out")" || exit 1
xcrun xctrace record --template 'Metal System Trace' --output program.trace --launch -- "$@" >xctrace.log 2>&1 || {
  tail -n 3 xctrace.log >&2
  exit 1
}
open -a Instruments program.trace || exit 1
tries=0
while [ $tries -lt 40 ]; do
  sleep 1
  tries=$((tries + 1))
  window=$(osascript -e 'tell application "Instruments" to id of window 1' 2>/dev/null) || continue
  sleep 5   # until the tracks are drawn
  screencapture -x -o -l "$window" "$out" && break
done
osascript -e 'tell application "Instruments" to quit' >/dev/null 2>&1
[ -s "$out" ] || { echo "no window of Instruments came" >&2; exit 1; }
