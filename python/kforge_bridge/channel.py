"""One request, one answer, each a line of JSON on file descriptor 3.

A request is {"do": NAME, ...}; the answer is what the function of that name gives, or {"error": ..., "line": ...} with
the line of the user's own file at which it went wrong. Whatever the user's program prints is dropped.
"""

import faulthandler
import json
import os
import sys
import traceback

CHANNEL_FD = 3
ERROR_LIMIT = 2000
# Before the other side gives up: where a module is that does not come back is told by its last words.
LAST_WORDS_SECONDS = 3


def line_of_model(source):
    """Where a wrong call of Model or of its forward leads to: the mistake has no frame in the file itself."""
    try:
        with open(source, encoding="utf-8") as file:
            return next((number for number, line in enumerate(file, 1) if line.startswith("class Model")), 0)
    except OSError:
        return 0


def explain(error, source):
    """What went wrong in one text, and the last line of the user's file that led there (0: none)."""
    if isinstance(error, SyntaxError) and error.filename == source:
        return {"error": f"{type(error).__name__}: {error.msg}", "kind": type(error).__name__, "line": error.lineno or 0}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source]
    text = str(error).strip() or "no message"
    return {
        "error": f"{type(error).__name__}: {text[:ERROR_LIMIT]}",
        "kind": type(error).__name__,
        "line": frames[-1].lineno if frames else line_of_model(source) if isinstance(error, TypeError) else 0,
    }


def serve(start):
    """Answers until the other side closes the channel."""
    os.set_inheritable(CHANNEL_FD, False)
    # What is printed is kept up to a limit and refused beyond it, which would look like a mistake of the module's.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # descriptor 2 stays for the last words of a crash
    requests = None
    for line in os.fdopen(CHANNEL_FD, "rb", closefd=False):
        try:
            request = json.loads(line)
            limit = request.pop("limit", 0)
            if limit > LAST_WORDS_SECONDS:
                faulthandler.dump_traceback_later(limit - LAST_WORDS_SECONDS, file=2)
            if requests is None:
                requests = start()
            answer = getattr(requests, request.pop("do"))(**request)
        except KeyboardInterrupt:
            return 130
        except BaseException as error:  # a user's program may even call sys.exit
            answer = explain(error, sys.argv[1])
        faulthandler.cancel_dump_traceback_later()
        data = json.dumps(answer).encode() + b"\n"
        while data:
            data = data[os.write(CHANNEL_FD, data) :]
    return 0
