#!/usr/bin/env python3
"""What OpenVINO takes to run a model: how much its process grows, as JSON on one line.

    PYTHON bench/model_memory.py MODEL.onnx [--threads 2]

PYTHON is one that has openvino. Growth is counted from a process that has the library loaded and nothing else: `peak`
over reading, compiling and five calls, `calls` over the calls alone (what a program holds that keeps running).
"""
import argparse
import json
import os
from pathlib import Path


def status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def restart_peak():
    Path("/proc/self/clear_refs").write_text("5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    given = parser.parse_args()
    import numpy
    import openvino

    core = openvino.Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")  # its plug-in is loaded
    restart_peak()
    before = status("VmRSS")
    setting = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    setting["INFERENCE_NUM_THREADS"] = given.threads
    compiled = core.compile_model(given.model, "CPU", setting)
    draw = numpy.random.default_rng(0)
    inputs = [draw.standard_normal(list(port.shape), dtype=numpy.float32) for port in compiled.inputs]
    request = compiled.create_infer_request()
    request.infer(inputs)
    peak = status("VmHWM")
    restart_peak()
    for _ in range(4):
        request.infer(inputs)
    calls = status("VmHWM")
    print(json.dumps({"peak": max(peak, calls) - before, "calls": calls - before, "version": openvino.__version__}))


if __name__ == "__main__":
    main()
