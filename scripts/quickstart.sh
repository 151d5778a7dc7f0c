#!/usr/bin/env bash
# From a fresh Debian 12 to a verdict: installs what is needed, builds, and judges the example kernel of the cpu platform.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
source scripts/build.sh
build release

echo
echo "The example kernel, judged: is it right, and is it faster than what you would run instead?"
echo "  kforge eval platforms/cpu/example --kernel platforms/cpu/example/kernel.cc"
echo
out/release/kforge eval platforms/cpu/example --kernel platforms/cpu/example/kernel.cc "$@"
