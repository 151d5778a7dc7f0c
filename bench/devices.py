#!/usr/bin/env python3
"""Every task of tasks/core on every platform that is not this processor: does the smith write a program that passes all gates?

    bench/devices.py --kforge out/release/kforge            # goes on where it was stopped; writes bench/devices.md
    bench/devices.py --kforge out/release/kforge --again    # what did not pass is tried once more
    bench/devices.py --table                                # only writes the table

A cell is one run of `kforge forge TASK --on NAME --shapes SET --attempts 1 --check`: one program by the built-in generator through every gate that
judges values; nothing is timed or modelled. Each cell is a line of out/devices.jsonl, written when it is done, so a run may be killed at any time;
of several lines for a cell the last counts. Remove the file to begin anew. Several runs may go on at once, each with `--platforms` of its own: a cell that
another one has done meanwhile is not done again.
"""
import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = ["cuda", "metal", "vulkan", "opencl", "arm64", "riscv64"]
SHAPES = ["small", "odd"]
KNOWN = ROOT / "out" / "devices.jsonl"
TABLE = ROOT / "bench" / "devices.md"
LIMIT_SECONDS = 600  # of wall time, on a machine that may be busy


def load():
    known = {}
    if KNOWN.exists():
        for line in KNOWN.read_text().splitlines():
            try:
                one = json.loads(line)
                known[one["task"], one["platform"], one["shapes"]] = one
            except (ValueError, KeyError, TypeError):
                pass  # the end of a run that was killed while it wrote
    return known


def save(one):
    KNOWN.parent.mkdir(exist_ok=True)
    cut = KNOWN.exists() and KNOWN.stat().st_size > 0 and KNOWN.read_bytes()[-1:] != b"\n"
    with KNOWN.open("a") as file:
        file.write(("\n" if cut else "") + json.dumps(one, sort_keys=True) + "\n")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outcome_of(stdout, stderr):
    """What came out, and why where it did not pass."""
    try:
        report = json.loads(stdout)
    except ValueError:
        said = stderr.strip().splitlines()
        return "none", said[-1] if said else "it said nothing"
    if "error" in report:
        return "none", report["error"]
    if report.get("best"):
        return "passed", None
    last = (report.get("attempts") or [{}])[-1]
    return last.get("outcome") or "none", f"{last.get('gate') or ''} {last.get('reason') or ''}".strip()[:400]


def run(kforge, task, platform, shapes):
    """One cell. The store and the caches are those of KFORGE_HOME, shared by all cells."""
    with tempfile.TemporaryDirectory() as folder:
        command = [kforge, "forge", f"core/{task}", "--on", platform, "--shapes", shapes, "--attempts", "1", "--check",
                   "--no-callers", "--out", f"{folder}/out", "--json"]
        begin, before = time.monotonic(), cpu_seconds()
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True)
        try:
            outcome, reason = outcome_of(*child.communicate(timeout=LIMIT_SECONDS))
        except subprocess.TimeoutExpired:
            outcome, reason = "timeout", f"more than {LIMIT_SECONDS} s"
        finally:
            if child.poll() is None:  # too late, or this program is being ended
                os.killpg(child.pid, signal.SIGTERM)
                child.communicate()
        found = {"task": task, "platform": platform, "shapes": shapes, "outcome": outcome,
                 "seconds": round(time.monotonic() - begin, 1), "cpu_seconds": round(cpu_seconds() - before, 2)}
    if reason:
        found["reason"] = " ".join(reason.split())
    return found


def passed(one):
    return one is not None and one["outcome"] == "passed"


def cell(one):
    if one is None:
        return "not run"
    return "yes" if passed(one) else f"**{one['outcome']}**"


def write_table(known, tasks):
    columns = [(p, s) for p in PLATFORMS for s in SHAPES]
    lines = ["# Every task of `tasks/core` on the platforms that are not this processor", "",
             "Made by `bench/devices.py`: `kforge forge TASK --on NAME --shapes SET --attempts 1 --check` with the built-in generator. *yes*: its one program passed",
             "every gate that judges values there; *not run*: nobody asked yet. On `opencl` (PoCL) and `vulkan` (lavapipe) programs ran on drivers for this",
             "processor, on `cuda` and `metal` on KForge's emulator, on `arm64` and `riscv64` under qemu-user. Nothing was timed, and no GPU was met.", ""]
    ran = {c: [known[t, *c] for t in tasks if (t, *c) in known] for c in columns}
    lines += ["| | " + " | ".join(f"{p} {s}" for p, s in columns) + " |", "|---|" + "---|" * len(columns)]
    lines.append("| **passed of those run** | " + " | ".join(f"{sum(map(passed, ran[c]))} of {len(ran[c])}" for c in columns) + " |")
    lines.append("| **not run** | " + " | ".join(str(len(tasks) - len(ran[c])) for c in columns) + " |")
    lines.append("| **CPU seconds of a cell, median** | " +
                 " | ".join(str(sorted(one["cpu_seconds"] for one in ran[c])[len(ran[c]) // 2]) if ran[c] else "" for c in columns) + " |")
    for task in tasks:
        lines.append(f"| {task} | " + " | ".join(cell(known.get((task, *c))) for c in columns) + " |")
    failures = [known[t, *c] for t in tasks for c in columns if (t, *c) in known and not passed(known[t, *c])]
    if failures:
        lines += ["", "## What did not pass", ""]
        for one in failures:
            reason = one.get("reason", "").replace("|", "/")
            lines.append(f"- {one['task']}, {one['platform']}, {one['shapes']}: {one['outcome']}: {reason[:240]}")
    TABLE.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kforge", help="the program")
    parser.add_argument("--again", action="store_true", help="try once more what did not pass")
    parser.add_argument("--table", action="store_true", help="only write the table")
    parser.add_argument("--tasks", default="", help="only these, separated by commas")
    parser.add_argument("--platforms", default=",".join(PLATFORMS))
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--minutes", type=float, default=0, help="begin no cell after so many; 0: when all is done")
    options = parser.parse_args()
    tasks = sorted(p.name for p in (ROOT / "tasks" / "core").iterdir() if (p / "task.toml").exists())
    known = load()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not options.table:
        if not options.kforge:
            parser.error("--kforge is missing: the program to run")
        end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
        asked = options.tasks.split(",") if options.tasks else tasks
        for key in [(t, p, s) for p in options.platforms.split(",") for s in options.shapes.split(",") for t in asked]:
            tried = known.get(key)
            known = load()
            if key in known and (passed(known[key]) or not options.again or known[key] != tried):
                continue
            if time.monotonic() > end:
                break
            known[key] = run(os.path.abspath(options.kforge), *key)
            save(known[key])
            print(*key, known[key]["outcome"], known[key]["cpu_seconds"], known[key].get("reason", ""), flush=True, file=sys.stderr)
    write_table(load(), tasks)


if __name__ == "__main__":
    main()
