#!/usr/bin/env python3
"""Which tests scripts/sanitize.sh runs, in which order, and what each verdict depends on.

ctest --show-only=json-v1 ... | sanitize_tests.py PRESET STATE    prints "KEY NAME" for each test

A key changes with whatever could change the verdict: the test's own program, KForge's children in the sandbox, the
data that tests read, and for tests of whole commands the program kforge. So a change costs only the tests it reaches.
"""

import hashlib
import json
import os
import re
import subprocess
import sys

# What is not run under a sanitizer, each with its reason: (presets, label or None, regular expression, reason).
LEFT_OUT = []

# In which order the tests are run: quick ones that name the place of a fault first.
ORDER = ["unit", "e2e", "sandbox", "device", "slow", "timing"]
DATA = ["tests", "tasks", "pages", "platforms", "prompts", "python", "models"]


def digest_of(parts):
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


class Programs:
    """Digests of programs; they are large, so one that did not change since is not read again."""

    def __init__(self, file):
        self.file = file
        try:
            with open(file) as text:
                self.known = json.load(text)
        except (OSError, ValueError):
            self.known = {}

    def digest(self, path):
        try:
            status = os.stat(path)
        except OSError:
            return "none"
        stamp = [status.st_mtime_ns, status.st_size]
        if self.known.get(path, [None])[0] != stamp:
            with open(path, "rb") as program:
                self.known[path] = [stamp, hashlib.file_digest(program, "sha256").hexdigest()[:16]]
        return self.known[path][1]

    def save(self):
        with open(self.file, "w") as text:
            json.dump(self.known, text)


def data_digest():
    """Of files that git knows or could know; the tests' own sources are in their programs."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *DATA],
                            capture_output=True, check=True).stdout.decode().split("\0")
    parts = []
    for path in sorted(set(filter(None, listed))):
        if path.endswith(("_test.cc", "CMakeLists.txt")) or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            parts.append(path + " " + hashlib.file_digest(file, "sha256").hexdigest())
    return digest_of(parts)


def labels_of(test):
    found = [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]
    return found[0] if found else []


def reason_to_leave_out(preset, name, labels):
    for presets, label, pattern, reason in LEFT_OUT:
        if preset in presets and (label is None or label in labels) and re.search(pattern, name):
            return reason
    return None


def main():
    preset, state = sys.argv[1:]
    folder = os.path.abspath(os.path.join("out", preset))
    programs = Programs(os.path.join(state, "programs.json"))
    children = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
                if name.startswith("kforge-") and os.path.isfile(os.path.join(folder, name))]
    base = digest_of([data_digest(), *map(programs.digest, children)])
    rows, left_out = [], {}
    for test in json.load(sys.stdin)["tests"]:
        labels = labels_of(test)
        # A program that is not built stands for all of its tests.
        if test["name"].endswith("_NOT_BUILT"):
            print(f"{preset}: {test['name']}", file=sys.stderr)
            continue
        if reason := reason_to_leave_out(preset, test["name"], labels):
            left_out.setdefault(reason, []).append(test["name"])
            continue
        command = test.get("command", ["none"])
        parts = [base, programs.digest(command[0]), *command[1:]]
        if "unit" not in labels:
            parts.append(programs.digest(os.path.join(folder, "kforge")))
        rank = max([ORDER.index(label) for label in labels if label in ORDER], default=0)
        rows.append((rank, digest_of(parts), test["name"]))
    programs.save()
    for _, key, name in sorted(rows, key=lambda row: row[0]):
        print(key, name)
    for reason, names in left_out.items():
        print(f"{preset}: {len(names)} left out: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
