"""A baseline in Python as a contender of KForge: python3 kforge_child.py JOB.json

The job names the backend, the graph's files and the tensors; the parent speaks src/runner/protocol.h on file
descriptor 3. Nothing is copied on the way: numpy and torch see the parent's shared memory.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from kforge_baseline import protocol  # noqa: E402


def program_class(job):
    """Imports the library."""
    if job["backend"] == "onnxruntime":
        from kforge_baseline.ort_program import OrtProgram

        return OrtProgram
    if job["backend"] == "openvino":
        from kforge_baseline.ov_program import OvProgram

        return OvProgram
    if "module" in job:
        from kforge_baseline.module_program import ModuleProgram

        return ModuleProgram
    from kforge_baseline.torch_program import TorchProgram

    return TorchProgram


def make_program(job):
    program = program_class(job)
    if not job["backend"].startswith("torch"):
        return program(job)
    return program(job, compiled=job["backend"] == "torch.compile")


def share_compiled(threads):
    """Inductor compiles into a folder that later processes of the same run find again. They have other user ids: all may
    write. Code for another number of threads is other code."""
    folder = os.environ.get("KFORGE_INDUCTOR")
    if not folder:
        return
    own = os.path.join(folder, str(threads))
    if os.access(own, os.W_OK):
        os.umask(0)
        os.environ.update(TORCHINDUCTOR_CACHE_DIR=own, TMPDIR=own, HOME=own)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    job["threads"] = int(os.environ.get("OMP_NUM_THREADS") or 1)
    share_compiled(job["threads"])
    return protocol.serve(lambda: make_program(job), lambda: program_class(job))


if __name__ == "__main__":
    sys.exit(main())
