#!/usr/bin/env bash
# Formats the C++ sources (.clang-format).
#   scripts/format.sh [--check] [FILE...]     --check changes nothing and fails when a file is not formatted;
#                                             files of other languages are passed over
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [ "${1:-}" = --check ]; then
  mode=(--dry-run --Werror)
  shift
fi
command -v clang-format >/dev/null || {
  echo "format: clang-format is not installed; scripts/setup.sh installs it" >&2
  exit 3
}
files=()
for file in "$@"; do
  case "$file" in *.h | *.cc) files+=("$file") ;; esac
done
[ $# -eq 0 ] || [ ${#files[@]} -gt 0 ] || exit 0
# Goldens are output: they look as KForge writes them.
[ ${#files[@]} -gt 0 ] ||
  mapfile -t files < <(find src tests bench \( -name '*.h' -o -name '*.cc' \) ! -path 'tests/golden/*')
clang-format "${mode[@]}" "${files[@]}"
