#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over src/. Files that were clean are remembered by content, so that only what changed is
# looked at again.
#   scripts/tidy.sh [--budget SECONDS]
# With a budget (the tests): the files changed last, then the rooms a mistake in which costs most, as many as fit; the
# last line says how many. Without one: every file, some ten minutes at first.
set -uo pipefail
cd "$(dirname "$0")/.."

budget=0
while [ $# -gt 0 ]; do
  case "$1" in
    --budget) budget=$2 ;;
    *)
      echo "usage: scripts/tidy.sh [--budget SECONDS]" >&2
      exit 2
      ;;
  esac
  shift 2
done
command -v clang-tidy-19 >/dev/null || {
  echo "tidy: clang-tidy-19 is not installed; scripts/setup.sh installs it" >&2
  exit 3
}
# Every file alone and with nothing included beforehand, whatever the builds do: a missing include is found here.
database=out/tidy/database
log=$(cmake -S . -B "$database" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON 2>&1) || {
  printf '%s\n' "$log" >&2
  exit 2
}

export KFORGE_TIDY_DATABASE="$database" KFORGE_TIDY_DEADLINE=0 KFORGE_TIDY_STAMPS=out/tidy
[ "$budget" -gt 0 ] && KFORGE_TIDY_DEADLINE=$(($(date +%s) + budget))
mkdir -p "$KFORGE_TIDY_STAMPS"
# What every file's verdict depends on besides its own text.
KFORGE_TIDY_CONTEXT=$(find src -name '*.h' -print0 | sort -z | xargs -0 cat .clang-tidy | sha256sum | cut -c1-64)
export KFORGE_TIDY_CONTEXT

changed() { { git diff --name-only HEAD; git diff --name-only HEAD~1 HEAD; } 2>/dev/null | grep '^src/.*\.cc$'; }
rooms=(src)
[ "$budget" -gt 0 ] && rooms=(src/base src/execute src/judge src/sandbox src/verify)
all() { find "${rooms[@]}" -name '*.cc' ! -name '*_test.cc' | sort; }
in_database() { while read -r file; do grep -qF "/$file\"" "$database/compile_commands.json" && [ -f "$file" ] && echo "$file"; done; }
mapfile -t files < <({ changed; all; } | awk '!seen[$0]++' | in_database)

check_one() {
  local file=$1 stamp
  stamp="$KFORGE_TIDY_STAMPS/$(echo "$KFORGE_TIDY_CONTEXT $(sha256sum "$file")" | sha256sum | cut -c1-32)"
  if [ -e "$stamp" ]; then
    echo "clean $file"
    return 0
  fi
  if [ "$KFORGE_TIDY_DEADLINE" -gt 0 ] && [ "$(date +%s)" -ge "$KFORGE_TIDY_DEADLINE" ]; then
    echo "left $file"
    return 0
  fi
  local output
  if output=$(clang-tidy-19 --quiet -p "$KFORGE_TIDY_DATABASE" "$file" 2>/dev/null); then
    touch "$stamp"
    echo "clean $file"
  else
    printf 'bad %s\n%s\n' "$file" "$output"
  fi
}
export -f check_one
log=$(printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'check_one {}')
printf '%s\n' "$log" | grep -v -e '^clean ' -e '^left '
bad=$(printf '%s\n' "$log" | grep -c '^bad ')
left=$(printf '%s\n' "$log" | grep -c '^left ')
echo "tidy: ${#files[@]} files, $bad with findings, $left not reached within the budget"
[ "$bad" -eq 0 ] && [ ${#files[@]} -gt 0 ] && [ "$left" -lt ${#files[@]} ]
