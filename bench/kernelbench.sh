#!/usr/bin/env bash
# fast_p over levels 1 and 2 of KernelBench, by the built-in agents, against every baseline that is installed.
#   bench/kernelbench.sh FOLDER [OUT] [-- OPTIONS]
#     FOLDER   the KernelBench folder that holds level1 and level2; a copy of the real one, outside of this repository
#     OUT      the suite's folder [out/kernelbench]: report.md, report.json, report.csv, report.html, and every run
#     OPTIONS  further ones of `kforge suite`, such as --only 'level1/*' or --python PATH
# The same command goes on where it was stopped. At the end the tables are printed and put into bench/kernelbench.md between its two marks.
#   KFORGE=PROGRAM  the program [out/release/kforge]      FIT=20ms  what a call of each module takes, about
#   BUDGET=5s       of the search, for each problem       PUBLISH=0  leaves bench/kernelbench.md as it is
# torch.compile needs PyTorch 2 (KFORGE_TORCH2=1 scripts/setup.sh platforms), onnxruntime and OpenVINO scripts/setup.sh platforms.
# Nothing else should run beside it: tasks that were timed on a busy machine are counted in the report.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }

folder=${1:-}
if [ ! -d "$folder/level1" ] || [ ! -d "$folder/level2" ]; then usage; fi
shift
out=$root/out/kernelbench
if [ $# -gt 0 ] && [ "$1" != -- ]; then out=$1; shift; fi
if [ "${1:-}" = -- ]; then shift; fi

kforge=${KFORGE:-$root/out/release/kforge}
[ -x "$kforge" ] || { echo "kernelbench: $kforge is missing: cmake --build --preset release" >&2; exit 2; }

only=(--only 'level1/*,level2/*')
for word in "$@"; do [ "$word" != --only ] || only=(); done
begin=$(date +%s)
status=0
"$kforge" suite "$folder" "${only[@]}" --fit "${FIT:-20ms}" --budget "${BUDGET:-5s}" --out "$out" "$@" || status=$?
echo "kernelbench: $(($(date +%s) - begin)) s this time"
# 1: some tasks ended in an error, which the report counts as not correct.
if [ "$status" -gt 1 ] || [ ! -f "$out/report.md" ]; then exit "$status"; fi
[ "${PUBLISH:-1}" = 1 ] || exit "$status"

# Figures only: the table of every task, with its problems' names, stays in the suite's folder.
python3 - "$out/report.md" "$root/bench/kernelbench.md" <<'END'
import re
import sys

report, page = sys.argv[1:]
tables = open(report, encoding="utf-8").read().split("### Every task")[0]
tables = re.sub(r"^# .*\n", "", tables).replace("\n## ", "\n### ").strip()
text = open(page, encoding="utf-8").read()
marks = "<!-- fast_p begins -->", "<!-- fast_p ends -->"
before, rest = text.split(marks[0])
after = rest.split(marks[1])[1]
with open(page, "w", encoding="utf-8") as file:
    file.write(f"{before}{marks[0]}\n{tables}\n{marks[1]}{after}")
END
echo "kernelbench: tables are in bench/kernelbench.md"
exit "$status"
