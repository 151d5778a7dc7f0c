#!/usr/bin/env python3
"""Every task of tasks/core on every device platform: does `kforge forge` write a program that passes all gates?

    bench/devices.py --kforge out/release/kforge            # goes on where it was stopped; writes bench/devices.md
    bench/devices.py --kforge out/release/kforge --again    # what failed before is tried once more
    bench/devices.py --table                                # only writes the table

One attempt for each, by the built-in generator, on shape sets `small` and `odd`. What is known is kept in out/devices.json, so that a stopped run
costs nothing; remove it to begin anew.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = ["opencl", "vulkan", "cuda", "metal"]
SHAPES = ["small", "odd"]
KNOWN = ROOT / "out" / "devices.json"
TABLE = ROOT / "bench" / "devices.md"
LIMIT_SECONDS = 300


def load():
    try:
        return json.loads(KNOWN.read_text())
    except (OSError, ValueError):
        return {}


def save(known):
    KNOWN.parent.mkdir(exist_ok=True)
    part = KNOWN.with_suffix(".part")
    part.write_text(json.dumps(known, indent=1, sort_keys=True))
    part.replace(KNOWN)


def run(kforge, task, platform, shapes):
    """One run of forge: its outcome, and why where it did not pass."""
    with tempfile.TemporaryDirectory() as folder:
        command = [kforge, "forge", f"core/{task}", "--on", platform, "--shapes", shapes, "--attempts", "1", "--baseline", "none",
                   "--no-callers", "--out", f"{folder}/out", "--json"]
        begin = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, cwd=folder, check=False)
        except subprocess.TimeoutExpired:
            return {"outcome": "timeout", "reason": f"more than {LIMIT_SECONDS} s", "seconds": LIMIT_SECONDS}
    seconds = round(time.monotonic() - begin, 1)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines()
        return {"outcome": "none", "reason": said[-1] if said else "it said nothing", "seconds": seconds}
    attempts = report.get("attempts") or [{}]
    last = attempts[-1]
    outcome = last.get("outcome") or "none"
    found = {"outcome": outcome, "seconds": seconds}
    if outcome != "passed":
        found["reason"] = f"{last.get('gate') or ''} {last.get('reason') or ''}".strip()[:300]
    if last.get("modelled_ns"):
        found["modelled_us"] = round(last["modelled_ns"] / 1e3, 2)
    return found


def cell(known, task, platform, shapes):
    found = known.get(f"{task} {platform} {shapes}")
    if not found:
        return "not run"
    return "yes" if found["outcome"] == "passed" else found["outcome"]


def write_table(known, tasks):
    columns = [(p, s) for p in PLATFORMS for s in SHAPES]
    lines = ["# Every task of `tasks/core` on the device platforms", "",
             "Made by `bench/devices.py`: `kforge forge TASK --on NAME --shapes SET --attempts 1` with the built-in generator; *yes*: the program passed every gate. On",
             "`opencl` (PoCL) and `vulkan` (lavapipe) programs ran on the drivers of this processor, on `cuda` and `metal` on KForge's emulator.", ""]
    lines += ["| | " + " | ".join(f"{p} {s}" for p, s in columns) + " |", "|---|" + "---|" * len(columns)]
    ran = {c: sum(f"{t} {c[0]} {c[1]}" in known for t in tasks) for c in columns}
    good = {c: sum(cell(known, t, *c) == "yes" for t in tasks) for c in columns}
    lines.append("| **passed of those run** | " + " | ".join(f"{good[c]} of {ran[c]}" for c in columns) + " |")
    lines.append("| **not run** | " + " | ".join(str(len(tasks) - ran[c]) for c in columns) + " |")
    for task in tasks:
        lines.append(f"| {task} | " + " | ".join(cell(known, task, p, s) for p, s in columns) + " |")
    failures = [(key, one) for key, one in sorted(known.items()) if one["outcome"] != "passed"]
    if failures:
        lines += ["", "## What did not pass", ""]
        for key, one in failures:
            reason = " ".join((one.get("reason") or "").split()).replace("|", "/")
            lines.append(f"- {key}: {one['outcome']}: {reason[:240]}")
    TABLE.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kforge", help="the program")
    parser.add_argument("--again", action="store_true", help="try once more what did not pass")
    parser.add_argument("--table", action="store_true", help="only write the table")
    parser.add_argument("--platforms", default=",".join(PLATFORMS))
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--minutes", type=float, default=0, help="stop after so many; 0: when all is done")
    options = parser.parse_args()
    tasks = sorted(p.name for p in (ROOT / "tasks" / "core").iterdir() if (p / "task.toml").exists())
    known = load()
    if not options.table:
        if not options.kforge:
            parser.error("--kforge is missing: the program to run")
        kforge = os.path.abspath(options.kforge)
        end = time.monotonic() + 60 * options.minutes if options.minutes else None
        for shapes in options.shapes.split(","):
            for task in tasks:
                for platform in options.platforms.split(","):
                    key = f"{task} {platform} {shapes}"
                    if key in known and not (options.again and known[key]["outcome"] != "passed"):
                        continue
                    if end and time.monotonic() > end:
                        write_table(known, tasks)
                        return
                    known[key] = run(kforge, task, platform, shapes)
                    save(known)
                    print(key, known[key]["outcome"], known[key]["seconds"], known[key].get("reason", ""), flush=True, file=sys.stderr)
    write_table(known, tasks)


if __name__ == "__main__":
    main()
