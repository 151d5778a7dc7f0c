#!/bin/sh
# count.sh FILE COMMAND...: runs the command under callgrind and charges 0.25 ns for each instruction inside the kernel. The figure comes
# from callgrind's own file; what the program prints is thrown away, or it could name its own price.
file=$1
shift
valgrind --tool=callgrind --vgdb=no --callgrind-out-file="$file" --toggle-collect=kernel --toggle-collect=kernel_prepared \
  "$@" --calls 1 >/dev/null 2>&1 </dev/null || { echo "the program failed under valgrind" >&2; exit 1; }
awk '$1 == "summary:" || $1 == "totals:" { count = $2 } END { if (count > 0) print "modelled_ns", count * 0.25 }' "$file"
