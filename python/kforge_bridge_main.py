"""The user's PyTorch, asked by KForge: python3 kforge_bridge_main.py SOURCE.py

SOURCE defines Model, get_inputs and get_init_inputs as a KernelBench problem does. Requests and answers are lines of
JSON on file descriptor 3 (kforge_bridge/channel.py); large data goes through files in the working folder. The source
is somebody else's program: KForge runs this one in its sandbox.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from kforge_bridge import channel  # noqa: E402


def main():
    source = sys.argv[1]

    def start():
        # Importing torch takes seconds and may fail: it happens when there is somebody to tell.
        from kforge_bridge.requests import Requests

        return Requests(source)

    return channel.serve(start)


if __name__ == "__main__":
    sys.exit(main())
