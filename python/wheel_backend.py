"""Makes a wheel of the folder it lies in, with nothing but Python: pip needs no network and no other package for it.

wheel.json beside it says what goes in: {"name", "version", "summary", "packages", "requires", "build"}. "build" is a program
of the tree that is run as `python3 PROGRAM FOLDER` and puts a compiled library into the folder, which becomes part of
the first package; without it the wheel is for any platform. pyproject.toml names this file as its build backend.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = ("__pycache__", ".pyc", ".so")


def _facts():
    with open(os.path.join(HERE, "wheel.json"), encoding="utf-8") as file:
        return json.load(file)


def _files(package):
    for folder, _, names in sorted(os.walk(os.path.join(HERE, package))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), HERE)
            if not any(word in path for word in SKIPPED):
                yield path


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _contents(facts):
    """(name in the wheel, bytes), the compiled library last."""
    for package in facts["packages"]:
        for path in _files(package):
            yield path, _read(os.path.join(HERE, path))
    if facts.get("build"):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, os.path.join(HERE, facts["build"]), made], check=True)
            for name in sorted(os.listdir(made)):
                yield f"{facts['packages'][0]}/{name}", _read(os.path.join(made, name))


def _metadata(facts):
    lines = ["Metadata-Version: 2.1", f"Name: {facts['name']}", f"Version: {facts['version']}", f"Summary: {facts['summary']}"]
    lines += [f"Requires-Dist: {one}" for one in facts.get("requires", [])]
    return "\n".join(lines) + "\n"


def _tag(facts):
    if not facts.get("build"):
        return "py3-none-any"
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    facts = _facts()
    stem = f"{facts['name'].replace('-', '_')}-{facts['version']}"
    tag = _tag(facts)
    pure = "false" if facts.get("build") else "true"
    about = f"Wheel-Version: 1.0\nGenerator: kforge\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
    info = f"{stem}.dist-info"
    entries = "".join(f"{name} = {value}\n" for name, value in facts.get("entry_points", {}).get("names", {}).items())
    record = []
    name = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, content):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}")
            wheel.writestr(path, content)

        for path, content in _contents(facts):
            add(path, content)
        add(f"{info}/METADATA", _metadata(facts).encode())
        add(f"{info}/WHEEL", about.encode())
        if entries:
            add(f"{info}/entry_points.txt", f"[{facts['entry_points']['group']}]\n{entries}".encode())
        wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return name
