#!/usr/bin/env bash
# From a fresh Debian 12 to three verified kernels in about five minutes: installs what is needed, builds, and forges a
# kernel for a convolution chain, a norm and a matrix product.
#   scripts/quickstart.sh [TASK] [options of kforge forge]     one task of your choice instead
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh programs
source scripts/build.sh
mkdir -p out
# The wheel comes over the network while the processor compiles. Without PyPI there is one baseline less.
scripts/setup.sh onnxruntime >out/onnxruntime.log 2>&1 &
wheel=$!
build release programs
if kill -0 "$wheel" 2>/dev/null; then echo "setup: waiting for onnxruntime"; fi
wait "$wheel" || true
tail -n 1 out/onnxruntime.log

case ${1:-} in
  "" | -*) ;;
  *)
    task=$1
    shift
    exec out/release/kforge forge "$task" --budget 20s "$@"
    ;;
esac

# Families that differ in how much a library leaves on the table.
tasks=(fusion/conv2d_subtract_subtract_mish core/rms_norm core/matmul)
echo
echo "The built-in agents write a kernel for three tasks, judge every version in the sandbox against an fp64 oracle, keep"
echo "what is measured to be faster, and measure the best once more beside what you would run instead:"
# On a terminal kforge shows its progress itself; elsewhere it says each attempt.
say=()
[ -t 2 ] || say=(-v)
reports=()
for task in "${tasks[@]}"; do
  folder=out/quickstart/${task#*/}
  rm -rf "$folder"  # of an earlier quickstart; kforge overwrites nothing that another run wrote
  echo "  kforge forge $task --budget 4s --out $folder"
  # Progress goes to standard error; the report is read below. A kernel that is not verified is a row, too.
  out/release/kforge forge "$task" --budget 4s --out "$folder" "${say[@]}" "$@" >/dev/null || true
  reports+=("$folder/report.json")
done
echo
python3 scripts/quickstart_table.py "${reports[@]}"
cat <<'END'

Next:
  out/release/kforge show last                        the last of them with every piece of evidence
  less out/quickstart/rms_norm/kernel.cc              a kernel; report.md beside it says how it came about
  out/release/kforge tasks                            what else there is: 237 tasks, or any .onnx file
  out/release/kforge forge core/softmax               30 seconds for a task of your choice
  out/release/kforge eval core/softmax --kernel FILE  is your own kernel right, and how fast is it?
END
