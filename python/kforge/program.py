"""The program `kforge`: where it is, and one run of it."""

import json
import os
import shutil
import subprocess
import sys
import threading

from .progress import Progress


class KForgeError(RuntimeError):
    """What kforge said, with its remedy."""


def find_program():
    """$KFORGE_BIN, else PATH, else the tree that this package lies in."""
    named = os.environ.get("KFORGE_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise KForgeError(f"KFORGE_BIN names {named}, which is no program")
        return named
    here = os.path.dirname(os.path.abspath(__file__))
    tree = os.path.join(here, "..", "..", "out", "release", "kforge")
    installed = os.path.join(here, "..", "..", "..", "..", "bin", "kforge")  # share/kforge/python/kforge
    for path in (shutil.which("kforge"), tree, installed):
        if path and os.access(path, os.X_OK):
            return os.path.normpath(path)
    raise KForgeError("the program kforge was not found: put it into PATH, or name it in KFORGE_BIN")


def run(words, progress=None, accept=(0,)):
    """The JSON that `kforge WORDS --json` prints. Its progress goes to `progress`."""
    progress = progress or Progress(False)
    argv = [find_program(), *map(str, words), "--json"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    said = []

    def listen():
        for line in process.stderr:
            said.append(line.rstrip())
            progress.say(line.rstrip())

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        out = process.stdout.read()
        code = process.wait()
    except BaseException:  # also Ctrl-C, which kforge has got too
        process.terminate()
        process.wait()
        raise
    finally:
        listener.join(timeout=5)
        progress.end()
    try:
        document = json.loads(out)
    except ValueError:
        raise KForgeError(f"{' '.join(argv[:3])} ended with code {code}: {' '.join(said[-3:])}") from None
    if document.get("schema") == "kforge.error/1":
        remedy = f" ({document['remedy']})" if document.get("remedy") else ""
        raise KForgeError(document["error"] + remedy)
    if code not in accept:
        raise KForgeError(f"{' '.join(argv[:3])} ended with code {code}: {document.get('reason') or ' '.join(said[-3:])}")
    return document


def home():
    named = os.environ.get("KFORGE_HOME")
    if named:
        return named
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "kforge")


def say(text):
    print(text, file=sys.stderr)
