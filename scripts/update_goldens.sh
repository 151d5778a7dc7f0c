#!/usr/bin/env bash
# Writes every golden file anew (tests/golden/: emitted kernels, plans, the prompt) and shows what changed. Read the
# difference before committing it: it is what the change means.
#   scripts/update_goldens.sh [--preset release|dev]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
if [ "${1:-}" = --preset ]; then
  preset=${2:?"--preset needs a name: release or dev"}
  shift 2
fi
source scripts/build.sh

# The test programs that compare with goldens (in tests named Golden) are those that know the variable.
mapfile -t folders < <(grep -rl --include='*_test.cc' KFORGE_UPDATE_GOLDEN src tests | xargs -n1 dirname | sort -u)
programs=()
for folder in "${folders[@]}"; do
  case "$folder" in
    src/*) programs+=("$(basename "$folder")_test") ;;
    tests/smith) programs+=(smith_golden_test) ;;
    *)
      echo "update_goldens: which program has the tests of $folder? Name it in scripts/update_goldens.sh" >&2
      exit 2
      ;;
  esac
done
build "$preset" "${programs[@]}"
for program in "${programs[@]}"; do
  echo "update_goldens: $program"
  KFORGE_UPDATE_GOLDEN=1 "out/$preset/$program" --gtest_brief=1 --gtest_filter='*Golden*'
done
git status --short tests/golden
git --no-pager diff --stat -- tests/golden
