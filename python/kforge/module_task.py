"""A live module as a task folder: graph.onnx by the user's own PyTorch, task.toml with what its tensors are like.

`kforge import` does this for files, in a sandbox and with symbolic sizes; a module that exists only in this process is
exported here, by the same exporters, at the sizes of the example.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys

import torch
from kforge_bridge import exporters
from kforge_bridge.distribution import distribution_of
from kforge_bridge.problem import Plain

from . import program


class LiveProblem:
    """What the exporters ask of a problem, for a module and arguments that are already there."""

    def __init__(self, module, arguments):
        self.module = module
        self.arguments = list(arguments)

    def plain(self):
        # The exporters look at the wrapper's own mode.
        return Plain(self.module, self.arguments).train(self.module.training)

    def tensors(self):
        return [one for one in self.arguments if isinstance(one, torch.Tensor)]

    def input_names(self):
        return [f"input_{number}" for number in range(len(self.tensors()))]

    def states(self):
        for name, tensor in self.module.state_dict(keep_vars=True).items():
            yield name, tensor, isinstance(tensor, torch.nn.Parameter)


@contextlib.contextmanager
def _silent():
    """What the exporters' C++ part prints about an operator it does not know goes past Python's own streams."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for one in (*kept, nowhere):
            os.close(one)


def _identifier(name):
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _values(name, tensor):
    """Running variances stay positive whatever they were drawn from."""
    if name.endswith("running_var") and tensor.numel():
        low, high = float(tensor.min()), float(tensor.max())
        return f"positive({max(low * 0.5, 1e-3):.6g}, {max(high * 1.5, 2e-3):.6g})"
    return distribution_of(tensor)


def _toml(description, tensors):
    lines = [f"description = {json.dumps(description)}", "", "[shapes]", "bench = {}", "small = {}", "odd = {}", "", "[tensors]"]
    for name, facts in tensors.items():
        said = ['role = "param"'] if facts["param"] else []
        if facts["values"]:
            said.append(f"values = {json.dumps(facts['values'])}")
        if said:
            lines.append(f"{name} = {{ {', '.join(said)} }}")
    return "\n".join(lines) + "\n"


def _write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def make_task(module, arguments, name):
    """The folder of a task for this module at the sizes of its arguments. An error is KForgeError with every exporter's reason."""
    problem = LiveProblem(module, arguments)
    failures = []
    for exporter in exporters.available():
        folder = os.path.join(program.home(), "python", f"making-{os.getpid()}-{id(module):x}", name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            with _silent():
                exporters.export(problem, exporter, os.path.join(folder, "graph.onnx"))
            _describe(problem, folder, name)
        except Exception as error:  # exporters raise whatever they like
            first_line = (str(error).strip() or "no message").splitlines()[0][:200]
            failures.append(f"{exporter} exporter: {type(error).__name__}: {first_line}")
            shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
            continue
        return _moved(folder, name)
    raise program.KForgeError("; ".join(failures))


def _describe(problem, folder, name):
    description = f"{type(problem.module).__name__} of a Python session"
    _write(folder, "task.toml", _toml(description, {}))
    shown = program.run(["tasks", "show", folder])
    states = {_identifier(name): (name, tensor) for name, tensor, _ in problem.states()}
    inputs = dict(zip(problem.input_names(), problem.tensors()))
    tensors = {}
    for one in shown["arguments"]:
        graph_name = one["name"]
        state = states.get(graph_name) or states.get(re.sub(r"^module_", "", graph_name))
        if state:
            tensors[graph_name] = {"param": True, "values": _values(*state)}
        elif graph_name in inputs:
            # Whole numbers index something more often than not: the graph tells better what they may be.
            floating = inputs[graph_name].dtype.is_floating_point
            tensors[graph_name] = {"param": False, "values": distribution_of(inputs[graph_name]) if floating else ""}
    _write(folder, "task.toml", _toml(description, tensors))
    program.run(["tasks", "show", folder])


def _moved(folder, name):
    """Under a name made from the content, so that the same module is the same task."""
    digest = hashlib.sha256()
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), "rb") as content:
            digest.update(content.read())
    place = os.path.join(program.home(), "python", digest.hexdigest()[:16], name)
    if not os.path.exists(os.path.join(place, "task.toml")):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        os.rename(folder, place)
    shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
    return place
