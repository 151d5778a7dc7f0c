"""What kforge says while it works: one line that is rewritten, on a terminal and in a notebook; nothing elsewhere."""

import sys


def _in_notebook():
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class Progress:
    """`wanted`: None where somebody is there to see it, True always, False never."""

    def __init__(self, wanted=None):
        self.notebook = _in_notebook()
        self.shown = wanted if wanted is not None else self.notebook or sys.stderr.isatty()
        self.display = None
        self.width = 0

    def say(self, line):
        if not self.shown or not line.strip():
            return
        line = line.strip()[:160]
        if self.notebook:
            from IPython.display import display

            if self.display is None:
                self.display = display({"text/plain": line}, raw=True, display_id=True)
            else:
                self.display.update({"text/plain": line}, raw=True)
        elif sys.stderr.isatty():
            print("\r" + line.ljust(self.width), end="", file=sys.stderr, flush=True)
            self.width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def end(self):
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)
            self.width = 0
