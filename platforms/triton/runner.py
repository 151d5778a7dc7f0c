"""Calls a Triton program as KForge asks: runner.py PROGRAM --calls N --inputs FILE --outputs FILE.

The program is a Python file with a function kernel(...), called with torch tensors in the order of the task's arguments; it writes
its outputs in place. `import task` gives it the dimensions and tunables: task.B, task.BLOCK.

Both files are safetensors. The outputs file is there already, with its header. Every tensor but params has a first axis over the calls.
"""
import importlib.util
import json
import mmap
import os
import sys
import time
import types

import torch

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}


def tensors_of(path, writable):
    """The tensors of a safetensors file, lying in the file itself, and its metadata."""
    with open(path, "r+b" if writable else "rb") as file:
        # A private copy where it may not be written: torch has no tensors that are read-only.
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_COPY)
    length = int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        if begin == end:
            tensors[name] = torch.empty(entry["shape"], dtype=dtype)
            continue
        count = (end - begin) // torch.empty((), dtype=dtype).element_size()
        tensors[name] = torch.frombuffer(mapped, dtype=dtype, count=count, offset=8 + length + begin).view(entry["shape"])
    return tensors, metadata


def task_module(symbols):
    module = types.ModuleType("task")
    for symbol in symbols.split():
        name, value = symbol.split("=")
        setattr(module, name, int(value))
    return module


def load(path):
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "kernel"):
        sys.exit("runner: the program has no function kernel")
    return module.kernel


def main():
    program = sys.argv[1]
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    calls = int(options["--calls"])
    inputs, metadata = tensors_of(options["--inputs"], False)
    outputs, _ = tensors_of(options["--outputs"], True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    sys.modules["task"] = task_module(metadata["symbols"])
    kernel = load(program)
    params = {name: inputs[name].to(device) for name in metadata["params"].split()}

    def argument(name, call):
        if name in params:
            return params[name]
        return (outputs if name in outputs else inputs)[name][call].to(device)

    start = time.perf_counter_ns()
    for call in range(calls):
        arguments = {name: argument(name, call) for name in metadata["arguments"].split()}
        kernel(*arguments.values())
        if device != "cpu":
            torch.cuda.synchronize()
            for name in outputs:
                outputs[name][call].copy_(arguments[name])
    print("call_ns", (time.perf_counter_ns() - start) // calls)  # shown beside KForge's own figure, never used


main()
