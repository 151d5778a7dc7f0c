"""numpy views of the parent's memory."""

import numpy

# bfloat16 has no numpy type; its bits travel as uint16.
NUMPY_TYPES = {
    "float32": numpy.float32, "float64": numpy.float64, "float16": numpy.float16, "bfloat16": numpy.uint16,
    "int8": numpy.int8, "int16": numpy.int16, "int32": numpy.int32, "int64": numpy.int64,
    "uint8": numpy.uint8, "uint16": numpy.uint16, "uint32": numpy.uint32, "uint64": numpy.uint64,
    "bool": numpy.bool_,
}  # fmt: skip


def view(arguments, index, argument, slot):
    """The tensor `argument` (an entry of the job) of one slot."""
    arena, offset, size = arguments.place(index, slot)
    dtype = numpy.dtype(NUMPY_TYPES[argument["dtype"]])
    count = size // dtype.itemsize
    return numpy.frombuffer(arena, dtype, count, offset).reshape(argument["shape"])
