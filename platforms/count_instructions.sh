#!/bin/sh
# count_instructions.sh model|facts PLUGIN FOLDER COMMAND...
# How many instructions one call of a kernel executes, counted by the emulator. The figure comes from the plugin's own file; what the
# program prints is thrown away, or it could name its own price.
form=$1
plugin=$2
folder=${3%/}
shift 3
QEMU_PLUGIN="file=$plugin,out=$folder/count" "$@" --mark >/dev/null 2>"$folder/said" </dev/null || {
  echo "the program failed under the emulator: $(tail -n 1 "$folder/said")" >&2
  exit 1
}
count=$(cat "$folder/count")
case "$count" in *[!0-9]* | "")
  echo "the emulator counted nothing" >&2
  exit 1
  ;;
esac
if [ "$form" = facts ]; then
  echo "instructions $count per_call"
else
  # A quarter of a nanosecond each.
  awk -v count="$count" 'BEGIN { printf "modelled_ns %.2f\n", count * 0.25 }'
fi
