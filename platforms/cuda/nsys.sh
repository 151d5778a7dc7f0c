#!/bin/sh
# Nsight Systems around one program, its tables as CSV in OUT: nsys.sh OUT PROGRAM [ARGUMENT]...
# Runs inside the sandbox, in the folder of OUT.
set -u
out=$1
shift
cd "$(dirname "$out")" || exit 1
nsys profile --trace=cuda --sample=none --cpuctxsw=none --force-overwrite=true --output=report "$@" >nsys.log 2>&1 || {
  tail -n 3 nsys.log >&2
  exit 1
}
exec nsys stats --force-export=true --format=csv --report=cuda_gpu_kern_sum --report=cuda_gpu_mem_time_sum report.nsys-rep >"$out"
