"""Judging kernels, and what was judged."""

from . import program
from .progress import Progress


class Report(dict):
    """The report of `kforge eval` (docs/cli.md lists its fields), with one line to print."""

    @property
    def passed(self):
        return self["outcome"] == "passed"

    def __repr__(self):
        if not self.passed:
            return f"<{self['task']}: {self['outcome']} at {self['gate']}: {self['reason']}>"
        speedup = self.get("speedup")
        words = f", {speedup['value']:.2f}x [{speedup['lo']:.2f}, {speedup['hi']:.2f}] over {speedup['against']}" if speedup else ""
        return f"<{self['task']}: verified{words}>"


def evaluate(task, kernel, on="cpu", shapes="bench", precision="fp32", check=False, progress=None, options=()):
    """Judges a kernel: `kforge eval`. `options` are further words of its command line. A kernel that fails is a report,
    not an error."""
    words = ["eval", task, "--kernel", kernel, "--on", on, "--shapes", shapes, "--precision", precision, *options]
    if check:
        words.append("--check")
    return Report(program.run(words, Progress(progress), accept=(0, 1)))


def results(task=None, limit=20):
    """The stored results, newest first: a data frame where pandas is installed, else a list of dicts."""
    words = ["results", "--limit", limit]
    if task:
        words += ["--task", task]
    rows = program.run(words)["results"]
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.json_normalize(rows)
