"""The task's graph as a module, in KernelBench's form: the original that the kernel stands in for.

Made for tasks that are a graph and no Python file: operators of torch_ops.py, params with the stored values.
"""

import json
import os

import torch

from . import torch_ops
from .runtime import HERE, MANIFEST, stored


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        with open(os.path.join(HERE, "graph.json"), encoding="utf-8") as file:
            graph = json.load(file)
        self.steps = torch_ops.make_steps(graph)
        self.results = [one["name"] for one in graph["outputs"]]
        self.constants = {}
        for one in graph["initializers"]:
            if one["folded"]:
                values = torch.tensor(one["values"], dtype=getattr(torch, one["dtype"]))
                self.constants[one["name"]] = values.reshape(one["shape"])
        for one in MANIFEST["params"]:
            self.register_buffer(one["c_name"], stored(one))

    def forward(self, *inputs):
        values = dict(self.constants)
        values.update({one["name"]: getattr(self, one["c_name"]) for one in MANIFEST["params"]})
        values.update({one["name"]: tensor for one, tensor in zip(MANIFEST["inputs"], inputs)})
        for step in self.steps:
            step.run(values, None)
        results = [values[name] for name in self.results]
        return results[0] if len(results) == 1 else tuple(results)


def get_inputs():
    """The stored inputs, their rows in another order every time: every limit on their values still holds."""
    inputs = [stored(one) for one in MANIFEST["inputs"]]
    return [one[torch.randperm(len(one))] if one.dim() > 0 else one for one in inputs]


def get_init_inputs():
    return []
