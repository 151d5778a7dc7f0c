"""The contender's side of src/runner/protocol.h."""

import mmap
import os
import socket
import struct
import time
import traceback

VERSION = 1
CONTROL_FD = 3
READY, SETUP, LOAD, PREPARE, CALL, EXIT, UPLOAD, DOWNLOAD, DONE, ERROR = 1, 2, 3, 4, 5, 6, 8, 9, 10, 11
OUTPUTS = 2  # the writable arena
HAS_PREPARE, HAS_TRANSFERS = 1, 2

HEADER = struct.Struct("<IIQQ")  # type, payload bytes, value, nanoseconds
COUNTS = struct.Struct("<II")  # arguments, slots
ROW = struct.Struct("<IIQQQQQ")  # arena, is_param, offset, stride, pages_bytes, data_offset, data_bytes
MAX_ARGUMENTS = 1024
MAX_PACKET = HEADER.size + COUNTS.size + MAX_ARGUMENTS * ROW.size  # a set-up with all its rows
MAX_TEXT = 8000


class Arguments:
    """Where the parent put every tensor: memory(argument, slot) gives a memoryview of its bytes."""

    def __init__(self, payload, fds):
        count, self.slots = COUNTS.unpack_from(payload)
        if count > MAX_ARGUMENTS or len(payload) != COUNTS.size + count * ROW.size:
            raise ValueError(f"the set-up message has {count} arguments and {len(payload)} bytes")
        self.rows = [ROW.unpack_from(payload, COUNTS.size + i * ROW.size) for i in range(count)]
        self.arenas = []
        for arena, fd in enumerate(fds):
            access = mmap.PROT_READ | (mmap.PROT_WRITE if arena == OUTPUTS else 0)
            self.arenas.append(mmap.mmap(fd, os.fstat(fd).st_size, mmap.MAP_SHARED, access))
            os.close(fd)

    def __len__(self):
        return len(self.rows)

    def is_param(self, argument):
        return bool(self.rows[argument][1])

    def place(self, argument, slot):
        arena, is_param, offset, stride, _, data_offset, data_bytes = self.rows[argument]
        return self.arenas[arena], offset + (0 if is_param else slot * stride) + data_offset, data_bytes


def _reply(channel, kind, value=0, nanoseconds=0, text=""):
    body = text.encode("utf-8", "replace")[:MAX_TEXT]
    channel.send(HEADER.pack(kind, len(body), value, nanoseconds) + body)


def _receive(channel, buffer):
    """The next packet as a view into `buffer`, and the files that came with it."""
    size, parts, _, _ = channel.recvmsg_into([buffer], socket.CMSG_SPACE(3 * struct.calcsize("i")))
    fds = []
    for level, kind, data in parts:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += [fd for (fd,) in struct.iter_unpack("i", data[: len(data) // 4 * 4])]
    return buffer[:size], fds


def _explain(error):
    """One line a person can use, and the last line of code it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {str(error).strip()[:2000]}{where}"


def serve(make_program, import_library=lambda: None):
    """Answers the parent until it says exit or goes away. `make_program` is called when the task is to be loaded;
    `import_library`, which takes seconds, before the parent is told that this process is ready: it starts processes ahead
    of their turn."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=CONTROL_FD)
    os.set_inheritable(CONTROL_FD, False)
    try:
        import_library()
    except Exception:  # fails again, and is told, when the task is loaded
        pass
    _reply(channel, READY, VERSION)
    arguments = program = None
    buffer = memoryview(bytearray(MAX_PACKET))
    while True:
        packet, fds = _receive(channel, buffer)
        if not packet:
            return 0
        kind, length, _, _ = HEADER.unpack_from(packet)
        payload = packet[HEADER.size : HEADER.size + length]
        value = 0
        start = time.perf_counter_ns()
        try:
            if kind == SETUP:
                arguments = Arguments(payload, fds)
            elif kind == LOAD:
                program = make_program()
                program.load(arguments)
                # Results of its own, to be copied to the parent's memory outside the clock.
                value = HAS_PREPARE | (HAS_TRANSFERS if hasattr(program, "download") else 0)
            elif kind == PREPARE:
                program.prepare()
            elif kind == CALL:
                for (slot,) in struct.iter_unpack("<I", payload):
                    program.call(slot)
            elif kind == UPLOAD:
                pass  # inputs are used where they lie
            elif kind == DOWNLOAD:
                for (slot,) in struct.iter_unpack("<I", payload):
                    program.download(slot)
            elif kind == EXIT:
                return 0
            else:
                raise ValueError(f"message type {kind} is unknown")
        except Exception as error:  # whatever a library throws makes the baseline absent, with this reason
            _reply(channel, ERROR, 0, time.perf_counter_ns() - start, _explain(error))
        else:
            _reply(channel, DONE, value, time.perf_counter_ns() - start)
