"""Calls the kernel once on the inputs stored here and compares what it gives with the expected values.

    python3 check.py [LIBRARY]      LIBRARY: libkernel.so in the folder above, or in its build/

A program to start from: it needs nothing but numpy.
"""
import ctypes
import json
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    print("check.py needs numpy: apt-get install python3-numpy, or pip install numpy")
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parent
NUMPY_NAME = {"bfloat16": "uint16", "bool": "uint8"}  # types that numpy lacks, or that C sees as others


def find_library():
    choices = sys.argv[1:2] or [FOLDER.parent / "libkernel.so", FOLDER.parent / "build" / "libkernel.so"]
    for path in map(pathlib.Path, choices):
        if path.exists():
            return ctypes.CDLL(str(path.resolve()))
    sys.exit("there is no libkernel.so: build it first, as report.md says")


def aligned(tensor):
    """An array whose memory begins at a multiple of 64 bytes, as the kernel may count on."""
    dtype = np.dtype(NUMPY_NAME.get(tensor["dtype"], tensor["dtype"]))
    size = tensor["elements"] * dtype.itemsize
    memory = np.full(size + 64, 0xFF, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype)


def floats(tensor, values):
    if tensor["dtype"] == "bfloat16":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def count_wrong(tensor, array):
    path = FOLDER / (tensor["name"] + ".expected")
    got = array[:: tensor["every"]]
    if not tensor["floating"]:
        want = np.fromfile(path, np.int64)
        wrong = got[: want.size].astype(np.int64) != want
    else:
        want = np.fromfile(path, np.float64)
        got = floats(tensor, got[: want.size])
        with np.errstate(invalid="ignore"):
            near = np.abs(got - want) <= tensor["absolute"] + tensor["relative"] * np.abs(want)
        wrong = ~(near | (got == want) | (np.isnan(got) & np.isnan(want)))
    print(f"{tensor['name']}: {want.size} of {tensor['elements']} elements compared, {wrong.sum()} wrong")
    return int(wrong.sum())


def main():
    library = find_library()
    task = json.loads((FOLDER / "tensors.json").read_text())
    arrays = {}
    for tensor in task["tensors"]:
        arrays[tensor["name"]] = aligned(tensor)
        if tensor["given"]:  # a file holds the first elements; they repeat to the end
            array = arrays[tensor["name"]]
            array[:] = np.resize(np.fromfile(FOLDER / (tensor["name"] + ".in"), array.dtype), array.size)

    def pointers(wanted):
        return [ctypes.c_void_p(arrays[t["name"]].ctypes.data) for t in task["tensors"] if wanted(t)]

    if task["prepared"]:  # what depends on params alone is done once
        library.prepare.restype = ctypes.c_void_p
        state = ctypes.c_void_p(library.prepare(*pointers(lambda t: t["param"])))
        library.kernel_prepared(state, *pointers(lambda t: not t["param"]))
        if hasattr(library, "release"):
            library.release(state)
    else:
        library.kernel(*pointers(lambda t: True))
    wrong = sum(count_wrong(t, arrays[t["name"]]) for t in task["tensors"] if t["compared"])
    print("passed" if wrong == 0 else "FAILED")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
