#!/usr/bin/env python3
"""Whole models through `kforge forge`, against what can be installed today: time, compilation and memory.

    bench/models.py --kforge out/release/kforge --python out/venv/bin/python            # goes on where it was stopped
    bench/models.py --kforge ... --python ... resnet18 --batch 1 --again --budget 20s
    bench/models.py --table                                                             # what is known, as Markdown

Models are exported by bench/model_zoo.py (--torch: a Python that has torch). --python has onnxruntime and openvino. One
row for each model and batch: our time, the other libraries', the ratio to OpenVINO with its 95 % interval, what the
compiler took, and memory. Ours is what prepare() takes (packed weights and every intermediate tensor: a call allocates
nothing), and that with the caller's weights; OpenVINO's is how much its process grows (bench/model_memory.py).
Results are kept in out/models.json; on a machine that is not quiet the row says so.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "out" / "models.json"
NAMES = ["resnet18", "mobilenet_v2", "gpt2_block", "lstm", "vit_tiny"]
RIVALS = ["openvino", "onnxruntime", "onednn"]
LEAST_RATIO, MOST_MEMORY, MOST_COMPILE_SECONDS = 1.0, 1.2, 60


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


def said(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "said nothing"


def forge(given, model):
    with tempfile.TemporaryDirectory() as folder:
        command = [given.kforge, "forge", model, "--budget", given.budget, "--json", "--out", f"{folder}/out"]
        for rival in RIVALS:
            command += ["--baseline", rival]
        if given.python:
            command += ["--python", given.python]
        if given.attempts:
            command += ["--attempts", str(given.attempts)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=given.limit, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(said(done.stderr)) from None


def memory_of_openvino(given, model):
    if not given.python:
        return None
    done = subprocess.run(
        [given.python, ROOT / "bench" / "model_memory.py", model], capture_output=True, text=True, timeout=300, check=False
    )
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        print(f"  no memory of openvino: {said(done.stderr)}", file=sys.stderr)
        return None


def row_of(report, weights, openvino):
    best = report.get("best")
    if not best or best.get("outcome") != "passed":
        tried = report.get("attempts") or [{}]
        return {"outcome": tried[-1].get("outcome") or "failed", "reason": tried[-1].get("reason") or report.get("headline")}
    row = {
        "outcome": "passed",
        "ours_ns": (best.get("time_ns") or {}).get("median"),
        "rivals": {},
        "build_seconds": (best.get("build") or {}).get("seconds"),
        "own_bytes": (best.get("setup") or {}).get("bytes", 0),
        "weights_bytes": weights,
        "openvino_bytes": openvino,
        "busy": (best.get("load") or {}).get("busy", False),
        "attempts": len(report.get("attempts", [])),
        "machine": (best.get("machine") or {}).get("text"),
        "created_at": best.get("created_at"),
    }
    for rival in best.get("baselines", []):
        row["rivals"][rival["name"]] = {
            "ns": (rival.get("time_ns") or {}).get("median"),
            "speedup": rival.get("speedup"),
            "version": rival.get("version"),
        }
    return row


def milliseconds(ns):
    return "" if not ns else f"{ns / 1e6:.2f}"


def megabytes(count):
    return "" if count is None else f"{count / 1e6:.0f}"


def ratio_of(row):
    speedup = row["rivals"].get("openvino", {}).get("speedup")
    return speedup and (speedup["value"], speedup["lo"], speedup["hi"])


def misses(row):
    """What a row lacks of the bars, in words."""
    if row["outcome"] != "passed":
        return [row["outcome"]]
    found = []
    ratio = ratio_of(row)
    if ratio and ratio[2] < LEAST_RATIO:
        found.append("slower than OpenVINO")
    if row["build_seconds"] and row["build_seconds"] > MOST_COMPILE_SECONDS:
        found.append("compile time")
    if row["openvino_bytes"] and row["own_bytes"] + row["weights_bytes"] > MOST_MEMORY * row["openvino_bytes"]["peak"]:
        found.append("memory")
    return found


def table(known):
    lines = [
        "| model | batch | ours ms | OpenVINO | onnxruntime | oneDNN | to OpenVINO | compile s | own MB | with weights | OpenVINO MB | |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for name in NAMES:
        for key in sorted((k for k in known if k.split("/")[0] == name), key=lambda k: int(k.split("/")[1])):
            row, batch = known[key], key.split("/")[1]
            if row["outcome"] != "passed":
                lines.append(f"| {name} | {batch} | | | | | | | | | | {row['outcome']}: {row.get('reason')} |")
                continue
            ratio = ratio_of(row)
            times = [milliseconds(row["rivals"].get(rival, {}).get("ns")) for rival in RIVALS]
            cells = [name, batch, milliseconds(row["ours_ns"]), *times]
            cells.append(f"{ratio[0]:.2f}x [{ratio[1]:.2f}, {ratio[2]:.2f}]" if ratio else "")
            cells.append(f"{row['build_seconds']:.1f}" if row["build_seconds"] else "")
            cells += [megabytes(row["own_bytes"]), megabytes(row["own_bytes"] + row["weights_bytes"])]
            cells.append(megabytes((row["openvino_bytes"] or {}).get("peak")))
            cells.append(", ".join(misses(row) + (["machine was busy"] if row["busy"] else [])))
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all when none is given")
    parser.add_argument("--kforge")
    parser.add_argument("--python", help="a Python with onnxruntime and openvino")
    parser.add_argument("--torch", default="/usr/bin/python3", help="a Python with torch, for the export")
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "models", help="of the exported models")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--attempts", type=int, default=0, help="at most so many; 0: as the budget allows")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for one model")
    parser.add_argument("--again", action="store_true", help="measure anew what is known")
    parser.add_argument("--table", action="store_true", help="only print what is known")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no model '{unknown[0]}'; there are {', '.join(NAMES)}")
    if not given.table and not given.kforge:
        parser.error("--kforge is missing")
    known = load()
    for name in [] if given.table else given.names or NAMES:
        for batch in given.batch:
            key = f"{name}/{batch}"
            if key in known and not given.again:
                continue
            print(f"{name}, batch {batch}", file=sys.stderr)
            export = [given.torch, ROOT / "bench" / "model_zoo.py", given.folder, name, "--batch", str(batch)]
            done = subprocess.run(export, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"cannot export {name}: {said(done.stderr)}")
            model = str(given.folder / f"{name}_b{batch}.onnx")
            try:
                report = forge(given, model)
                known[key] = row_of(report, os.path.getsize(model), memory_of_openvino(given, model))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                known[key] = {"outcome": "failed", "reason": said(str(error))}
            save(known)
    print(table(known))
    return 1 if any(misses(row) for row in known.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
