"""Compiles the kernel: python3 build_kernel.py [FOLDER]. Needs a compiler and nothing else, not even PyTorch."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, "manifest.json"), encoding="utf-8") as _file:
    MANIFEST = json.load(_file)
NAME = MANIFEST["name"]


def library_folder():
    """Beside the sources, or where the user's caches are when that cannot be written."""
    if os.access(HERE, os.W_OK):
        return HERE
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "kforge", MANIFEST["package"])
    os.makedirs(folder, exist_ok=True)
    return folder


def _run_compiler(argv):
    done = subprocess.run(argv, cwd=os.path.join(HERE, "src"), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the kernel {NAME} does not compile here: {' '.join(argv)}\n{done.stderr[-4000:]}")


def build_library(folder=None):
    """Compiles the kernel with the flags it was judged with; gives the library's path."""
    path = os.path.join(folder or library_folder(), f"lib{NAME}.so")
    build = MANIFEST["build"]
    judged_with = build["compiler"] if os.path.exists(build["compiler"]) else None
    compiler = os.environ.get("CXX") or judged_with or shutil.which("g++")
    if not compiler:
        raise RuntimeError(f"the kernel {NAME} must be compiled, and there is no g++: install one, or name it in CXX")
    with tempfile.TemporaryDirectory(prefix="kforge-export-") as work:
        objects = []
        for number, source in enumerate(build["sources"]):
            objects.append(os.path.join(work, f"kernel{number}.o"))
            flags = ["-fvisibility=hidden", "-Ikernel", "-I.", "-include", "kforge_prelude.h"]
            _run_compiler([compiler, *build["options"], *flags, "-c", "kernel/" + source, "-o", objects[-1]])
        made = os.path.join(work, "made.so")
        plan = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-I.", "plan.cc"]
        _run_compiler([compiler, "-shared", *build["runtime"], *plan, *objects, *build["link"], "-o", made])
        # Whole or not at all, also when several processes do this at once.
        half = f"{path}.{os.getpid()}"
        shutil.copyfile(made, half)
        os.replace(half, path)
    return path


if __name__ == "__main__":
    print(build_library(sys.argv[1] if len(sys.argv) > 1 else None))
