"""Calls a Rust kernel as KForge asks: runner.py LIBRARY --calls N --inputs FILE --outputs FILE.

The library has one function, kernel(symbols, tensors...): a pointer to the dimensions and tunables as i64, in the order of the inputs' "symbols", then a
pointer for each tensor in the task's order. Both files are mapped; results are written in place.
"""
import ctypes
import json
import mmap
import sys
import time


def mapped(path, writable):
    with open(path, "r+b" if writable else "rb") as file:
        flags = (mmap.MAP_SHARED if writable else mmap.MAP_PRIVATE) | mmap.MAP_POPULATE
        memory = mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    length = int.from_bytes(memory[:8], "little")
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return memory, json.loads(memory[8 : 8 + length]), base + 8 + length


def main():
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    calls = int(options["--calls"])
    in_memory, in_header, in_data = mapped(options["--inputs"], False)
    out_memory, out_header, out_data = mapped(options["--outputs"], True)
    about = in_header["__metadata__"]
    params = about["params"].split()
    values = [int(word.split("=")[1]) for word in about["symbols"].split()]
    symbols = (ctypes.c_int64 * len(values))(*values)
    places = []  # of each argument: its address in the first call, and the distance to the next call's
    for name in about["arguments"].split():
        # One that is updated in place is in both files: the outputs' has its values, too.
        header, data = (out_header, out_data) if name in out_header else (in_header, in_data)
        begin, end = header[name]["data_offsets"]
        places.append((data + begin, 0 if name in params else (end - begin) // calls))
    kernel = ctypes.CDLL(sys.argv[1]).kernel
    kernel.restype = None
    start = time.monotonic_ns()
    for call in range(calls):
        kernel(symbols, *(ctypes.c_void_p(at + call * step) for at, step in places))
    print("call_ns", (time.monotonic_ns() - start) // calls)


main()
