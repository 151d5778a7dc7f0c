"""Reports of `kforge forge` (report.json) as one table: what was gained, over what, and how sure that is.

    python3 scripts/quickstart_table.py REPORT...
"""
import json
import sys


def time_text(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return f"{ns / unit:.3g} {name}"
    return f"{ns:.0f} ns"


def verdict(speedup):
    """In words: an interval that holds 1 shows no difference, whatever its middle is."""
    if speedup["lo"] > 1:
        return f"faster than {speedup['against']}"
    if speedup["hi"] < 1:
        return f"slower than {speedup['against']}"
    return f"no difference to {speedup['against']} shown"


def row(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError:
        return [path, "", "", "", "there is no report"]
    best = report["best"]
    if not best:
        return [report["task"], "", "", "", "no verified kernel was found"]
    time, speedup = best["time_ns"], best["speedup"]
    if not time or not speedup:
        return [report["task"], "", "", "", "verified, not timed against a baseline"]
    other = next((b for b in best["baselines"] if b["name"] == speedup["against"]), None)
    baseline = other and other["time_ns"]
    if isinstance(baseline, dict):
        baseline = baseline["median"]
    return [report["task"], time_text(time["median"]), time_text(baseline) if baseline else "",
            f"{speedup['value']:.2f}x [{speedup['lo']:.2f}, {speedup['hi']:.2f}]", verdict(speedup)]


def main():
    rows = [["task", "kernel", "library", "speedup, 95 % interval", ""]] + [row(path) for path in sys.argv[1:]]
    widths = [max(len(line[i]) for line in rows) for i in range(len(rows[0]))]
    for line in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


main()
