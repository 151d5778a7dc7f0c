#!/usr/bin/env bash
# From a fresh Debian 12 to a verified kernel: installs what is needed, builds, and forges a kernel for a task.
#   scripts/quickstart.sh [TASK] [options of kforge forge]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
source scripts/build.sh
build release programs

task=fusion/gemm_scale_leakyrelu
case ${1:-} in
  "" | -*) ;;
  *) task=$1; shift ;;
esac

echo
echo "The built-in agents write a kernel for $task, judge every version in the sandbox, keep what is measured"
echo "to be faster, and measure the best once more against what you would run instead:"
echo "  kforge forge $task --budget 20s"
echo
out/release/kforge forge "$task" --budget 20s "$@"
