#!/usr/bin/env python3
"""Tables of docs/evidence.md from the reports of `kforge forge --json` (or `kforge show RUN --json`).

  scripts/evidence.py collect docs/evidence.json full=DIR noprofile=DIR ...
      condenses the reports DIR/*.json, one run each, into one small file: no paths, no sources.
  scripts/evidence.py tables docs/evidence.json
      prints the tables.
  scripts/evidence.py write docs/evidence.json docs/evidence.md
      puts them between the marks <!-- tables --> and <!-- end of tables -->.
  scripts/evidence.py check docs/evidence.json docs/evidence.md
      exit code 1 when the tables in the document are not those of the data.
"""
import json
import pathlib
import re
import statistics
import sys

BEGIN, END = "<!-- tables -->\n", "<!-- end of tables -->\n"


def interval(speedup):
    return None if not speedup else {key: round(speedup[key], 3) for key in ("value", "lo", "hi")} | {
        "against": speedup["against"]}


def attempt_of(attempt):
    kept = {key: attempt[key] for key in ("number", "parent", "change", "outcome", "gate", "accepted")}
    # A reason is one sentence here; a compiler's log or an address belongs in the report.
    reason = attempt["reason"]
    kept["reason"] = None if not reason else re.sub(r"\s+", " ", reason.splitlines()[0])[:300]
    kept["time_ms"] = attempt["time_ns"] and round(attempt["time_ns"] / 1e6, 3)
    kept["speedup"] = interval(attempt["speedup"])
    kept["over_parent"] = interval(attempt["over_rival"])
    return kept


def run_of(report):
    best = report["best"] or {}
    hashes = [a["number"] for a in report["attempts"] if best and a["kernel_hash"] == best["kernel"]["hash"]]
    tuned = [a["number"] for a in report["attempts"] if a["tuning"] and a["accepted"]]
    final = (hashes or tuned or [None])[-1]
    return {
        "task": report["task"],
        "ended": report["ended"],
        # Accepted after the one that was delivered: these did not stand the confirmation on fresh inputs.
        "overturned": [a["number"] for a in report["attempts"] if final and a["accepted"] and a["number"] > final],
        "attempts": [attempt_of(a) for a in report["attempts"]],
        "confirmed": {
            "attempt": final,
            "outcome": best.get("outcome"),
            "time_ms": best.get("time_ns") and round(best["time_ns"]["median"] / 1e6, 3),
            "speedup": interval(best.get("speedup")),
            "baselines": {b["name"]: round(b["time_ns"]["median"] / 1e6, 3)
                          for b in best.get("baselines", []) if b.get("time_ns")},
        } if best else None,
    }


def collect(out, sources):
    data = {}
    for source in sources:
        name, folder = source.split("=", 1)
        runs = []
        for file in sorted(pathlib.Path(folder).glob("*.json")):
            report = json.loads(file.read_text())
            if report.get("schema", "").startswith("kforge.forge/") and not file.is_symlink():
                runs.append((report["created_at"], run_of(report)))
        data[name] = [run for _, run in sorted(runs, key=lambda pair: pair[0])]
    pathlib.Path(out).write_text(json.dumps(data, indent=1) + "\n")


def text(speedup):
    if not speedup:
        return "-"
    return f"{speedup['value']:.2f} [{speedup['lo']:.2f}, {speedup['hi']:.2f}]"


def correct_by(run, k):
    return any(a["outcome"] == "passed" for a in run["attempts"][:k])


def faster_by(run, k):
    return any(a["speedup"] and a["speedup"]["lo"] > 1 for a in run["attempts"][:k])


def summary(data, out):
    most = max(len(run["attempts"]) for runs in data.values() for run in runs)
    out.append("Tasks with at least one verified program among the first k attempts (correct@k), and with one whose "
               "whole interval over the fastest baseline lies above 1 (faster@k):\n")
    out.append("| configuration | " + " | ".join(f"correct@{k}" for k in range(1, most + 1)) + " | " +
               " | ".join(f"faster@{k}" for k in range(1, most + 1)) + " |")
    out.append("|---" * (2 * most + 1) + "|")
    for name, runs in data.items():
        cells = [f"{sum(test(run, k) for run in runs)}/{len(runs)}"
                 for test in (correct_by, faster_by) for k in range(1, most + 1)]
        out.append(f"| {name} | " + " | ".join(cells) + " |")
    out.append("\nAttempts by outcome, programs kept as better than their parent, and the geometric mean of the confirmed "
               "speedups:\n")
    out.append("| configuration | attempts | correct | refused | improvements kept | confirmed runs | geometric mean |")
    out.append("|---|---|---|---|---|---|---|")
    for name, runs in data.items():
        attempts = [a for run in runs for a in run["attempts"]]
        passed = sum(a["outcome"] == "passed" for a in attempts)
        kept = sum(bool(a["accepted"] and a["over_parent"]) for a in attempts)
        final = [run["confirmed"]["speedup"]["value"] for run in runs
                 if run["confirmed"] and run["confirmed"]["speedup"]]
        out.append(f"| {name} | {len(attempts)} | {passed} | {len(attempts) - passed} | {kept} | {len(final)} | "
                   f"{statistics.geometric_mean(final):.2f} |")


def confirmed(data, out):
    tasks = list(dict.fromkeys(run["task"] for runs in data.values() for run in runs))
    out.append("\nConfirmed on fresh inputs after the search: speedup over the fastest baseline with its interval, that "
               "baseline, and the number of the attempt:\n")
    out.append("| task | " + " | ".join(data) + " |")
    out.append("|---" * (len(data) + 1) + "|")
    for task in tasks:
        cells = []
        for runs in data.values():
            run = next((run for run in runs if run["task"] == task), None)
            final = run and run["confirmed"]
            if not final:
                cells.append("-")
                continue
            number = f", attempt {final['attempt']}" if final["attempt"] else ""
            number += "".join(f" ({k} was overturned)" for k in run["overturned"])
            cells.append(f"{text(final['speedup'])} {final['speedup']['against']}{number}"
                         if final["speedup"] else final["outcome"])
        out.append(f"| {task} | " + " | ".join(cells) + " |")


def attempts(data, out):
    out.append("\nEvery attempt: speedup over the fastest baseline, `+` where it was kept as the best so far, "
               "`overturned` where it then failed the confirmation on fresh inputs; a refusal by its outcome:\n")
    most = max(len(run["attempts"]) for runs in data.values() for run in runs)
    out.append("| configuration | task | " + " | ".join(str(k) for k in range(1, most + 1)) + " |")
    out.append("|---" * (most + 2) + "|")
    for name, runs in data.items():
        for run in runs:
            cells = []
            for k in range(most):
                a = run["attempts"][k] if k < len(run["attempts"]) else None
                cells.append(f"(ended: {run['ended']})" if not a and k == len(run["attempts"]) else "" if not a
                             else a["outcome"] if a["outcome"] != "passed"
                             else text(a["speedup"]) + (" overturned" if a["number"] in run["overturned"]
                                                        else " +" if a["accepted"] else ""))
            out.append(f"| {name} | {run['task']} | " + " | ".join(cells) + " |")


def refused(data, out):
    rows = [(name, run["task"], a) for name, runs in data.items() for run in runs for a in run["attempts"]
            if a["outcome"] != "passed"]
    out.append("\nRefused attempts and the reason given:\n")
    out.append("| configuration | task | attempt | change | gate | reason |\n|---|---|---|---|---|---|")
    for name, task, a in rows:
        clean = [str(a[key] or "-").replace("|", "/") for key in ("number", "change", "gate", "reason")]
        out.append(f"| {name} | {task} | " + " | ".join(clean) + " |")
    if not rows:
        out.append("| - | - | - | - | - | none |")


def tables(file):
    data = json.loads(pathlib.Path(file).read_text())
    out = []
    for part in (summary, confirmed, attempts, refused):
        part(data, out)
    return "\n".join(out) + "\n"


def document_with(file, text_of_tables):
    text_of_document = pathlib.Path(file).read_text()
    head, rest = text_of_document.split(BEGIN, 1)
    return text_of_document, head + BEGIN + "\n" + text_of_tables + "\n" + END + rest.split(END, 1)[1]


def main(arguments):
    if len(arguments) > 2 and arguments[0] == "collect":
        collect(arguments[1], arguments[2:])
    elif len(arguments) == 2 and arguments[0] == "tables":
        print(tables(arguments[1]), end="")
    elif len(arguments) == 3 and arguments[0] in ("write", "check"):
        old, new = document_with(arguments[2], tables(arguments[1]))
        if arguments[0] == "write":
            pathlib.Path(arguments[2]).write_text(new)
        elif old != new:
            print(f"{arguments[2]}: the tables are not those of {arguments[1]}; run scripts/evidence.py write", file=sys.stderr)
            return 1
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
