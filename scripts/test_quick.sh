# Sourced by test.sh: the unit tests of what changed, run directly. Nothing is installed while all that building needs
# is there, and nothing is built but the test programs of the folders that changed.

# Files changed and new since the last commit; when there are none, those of that commit.
changed_files() {
  local files
  files=$({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } 2>/dev/null)
  [ -n "$files" ] || files=$(git diff --name-only HEAD~1 HEAD 2>/dev/null)
  printf '%s\n' "$files"
}

# The test programs for the files on standard input. A folder's headers are tested by the folder's own tests; who
# includes them is for the whole run.
programs_for() {
  local known=$1 file folder inner
  while read -r file; do
    case "$file" in
      src/*/*) folder=${file#src/}; folder=${folder%%/*} ;;
      tests/*/*) folder=${file#tests/}; folder=${folder%%/*} ;;
      *) continue ;;
    esac
    # A folder inside a folder may have a program of its own: smith/contract has smith_contract_test.
    inner=${file#*/*/}
    inner=${folder}_${inner%%/*}
    if grep -qx "${inner}_test" <<<"$known"; then
      echo "${inner}_test"
    elif grep -qx "${folder}_test" <<<"$known"; then
      echo "${folder}_test"
    fi
  done | sort -u
}

quick_tests() {
  local preset=$1 known programs=() program folder passed=0 failed=0 skipped=0 out
  shift
  command -v cmake ninja g++ >/dev/null && [ -f "out/$preset/build.ninja" ] || scripts/setup.sh || return 2
  [ -f "out/$preset/build.ninja" ] || build "$preset" base_test || return 2
  # The unit test programs of this build: those that belong to a folder of src/, and the house's own.
  known=$(ninja -C "out/$preset" -t targets all | sed -n "s/^\\([a-z_]*_test\\): .*/\\1/p" |
    while read -r program; do
      folder=${program%_test}
      [ -d "src/$folder" ] || [ -d "src/${folder/_//}" ] && echo "$program"
    done)
  mapfile -t programs < <(changed_files | programs_for "$known")
  echo "test: ${#programs[@]} folders changed: ${programs[*]:-none with unit tests}"
  build "$preset" house_test "${programs[@]}" || return 2
  for program in "${programs[@]}" house_test; do
    local filter=()
    [ "$program" = house_test ] && filter=("--gtest_filter=IncludeTable*:Source.*-Source.IsTidy")
    out=$(timeout 60 "out/$preset/$program" --gtest_brief=1 "${filter[@]}" "$@" 2>&1)
    local status=$? ran
    ran=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' <<<"$out")
    passed=$((passed + ${ran:-0}))
    ran=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' <<<"$out")
    skipped=$((skipped + ${ran:-0}))
    if [ "$status" -ne 0 ]; then
      printf '%s\n' "$out" | grep -v '^Note:\|^Running main'
      [ "$status" -ne 124 ] || echo "$program was stopped after 60 s"
      local lost
      lost=$(sed -n 's/^ *\([0-9]*\) FAILED TESTS*$/\1/p' <<<"$out")
      failed=$((failed + ${lost:-1}))
    fi
  done
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}
