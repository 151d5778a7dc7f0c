"""What KForge may ask: each method is a request, its result the answer."""

import os
import time

import torch

from . import exporters
from .distribution import distribution_of
from .problem import SEED, Problem
from .source import Source

TYPES = {
    torch.float32: "float32", torch.float64: "float64", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.uint8: "uint8",
    torch.bool: "bool",
}  # fmt: skip

# Small inputs are drawn again until there is enough to see what they are like.
ENOUGH = 1 << 16
MOST_DRAWS = 256


def tensor_facts(name, tensor, **more):
    if tensor.dtype not in TYPES:
        raise TypeError(f"'{name}' has elements of type {tensor.dtype}, which KForge does not know")
    return {"name": name, "dtype": TYPES[tensor.dtype], "shape": list(tensor.shape), **more}


def write_tensor(path, tensor):
    data = tensor.detach().contiguous()
    if data.dtype == torch.bfloat16:
        data = data.view(torch.int16)
    data.numpy().tofile(path)


class Requests:
    def __init__(self, path):
        torch.set_num_threads(max(1, len(os.sched_getaffinity(0))))
        torch.set_grad_enabled(False)
        self.source = Source(path)
        self.kept = None  # the problem made last, by its numbers

    def _problem(self, values):
        key = tuple(sorted(values.items()))
        if self.kept is None or self.kept[0] != key:
            self.kept = None  # not two of them in memory at once
            self.kept = (key, Problem(self.source, values))
        return self.kept[1]

    def hello(self):
        """What is here, and what can be set in the file."""
        return {"torch": torch.__version__, "exporters": exporters.available(), "constants": self.source.constants}

    def describe(self, values):
        """Builds the module and calls it once."""
        problem = self._problem(values)
        outputs = problem.plain()(*problem.tensors())
        if not outputs:
            raise TypeError("forward returns no tensor")
        names = problem.input_names()
        return {
            "inputs": [tensor_facts(*pair) for pair in zip(names, problem.tensors())],
            "states": [tensor_facts(name, one, parameter=is_parameter) for name, one, is_parameter in problem.states()],
            "outputs": [tensor_facts(f"output_{i}", one) for i, one in enumerate(outputs)],
        }

    def facts(self, values):
        """What a reader of results must know about the module."""
        problem = self._problem(values)
        plain, tensors = problem.plain(), problem.tensors()
        first = plain(*[one.clone() for one in tensors])
        again = plain(*[one.clone() for one in tensors])
        other = plain(*[
            one for one in problem.new_arguments(SEED + 1) if isinstance(one, torch.Tensor)
        ])
        same = all(torch.equal(a, b) or bool((a.isnan() & b.isnan()).any()) for a, b in zip(first, again))
        constant = all(torch.equal(a, b) for a, b in zip(first, other))
        return {
            "dropouts": problem.dropouts,
            "batch_statistics": problem.uses_batch_statistics(),
            "random": not same,
            "constant": constant,
            "plain_values": problem.plain_values(),
            "doc": (type(problem.module).__doc__ or "").strip(),
        }

    def distributions(self, values, small):
        """Of the parameters at the numbers that count, since initialisers look at sizes, and of the inputs."""
        states = Problem(self.source, values, with_inputs=False)
        problem = self._problem(small)
        drawn = [[one] for one in problem.tensors()]
        for seed in range(SEED + 3, SEED + 3 + MOST_DRAWS):
            if min([sum(one.numel() for one in tensors) for tensors in drawn], default=ENOUGH) >= ENOUGH:
                break
            more = [one for one in problem.new_arguments(seed) if isinstance(one, torch.Tensor)]
            for tensors, one in zip(drawn, more):
                tensors.append(one)
        return {
            "inputs": {
                name: distribution_of(torch.stack(tensors)) for name, tensors in zip(problem.input_names(), drawn)
            },
            "states": {name: distribution_of(one) for name, one, is_parameter in states.states() if is_parameter},
        }

    def export(self, values, exporter, file):
        exporters.export(self._problem(values), exporter, file)
        return {"bytes": os.path.getsize(file)}

    def sample(self, values, prefix, states):
        """Inputs, these states and outputs in float32 and, where the module can, in float64, one file each."""
        problem = self._problem(values)
        tensors = problem.new_arguments(SEED + 2)
        problem.arguments = tensors
        tensors = problem.tensors()
        for number, one in enumerate(tensors):
            write_tensor(f"{prefix}input_{number}", one)
        for number, (_, one, _) in enumerate(problem.states()):
            if number in states:
                write_tensor(f"{prefix}state_{number}", one)
        outputs = problem.plain()(*[one.clone() for one in tensors])
        for number, one in enumerate(outputs):
            write_tensor(f"{prefix}output_{number}", one)
        answer = {"outputs": [tensor_facts(f"output_{i}", one) for i, one in enumerate(outputs)], "wide": []}
        self.kept = None  # the module is changed below
        try:
            wide = problem.plain().double()
            outputs = wide(*[one.double() if one.dtype.is_floating_point else one.clone() for one in tensors])
            for number, one in enumerate(outputs):
                write_tensor(f"{prefix}wide_{number}", one)
            answer["wide"] = [tensor_facts(f"wide_{i}", one) for i, one in enumerate(outputs)]
        except Exception as error:  # modules that make float32 tensors of their own
            answer["why_not_wide"] = f"{type(error).__name__}: {str(error).strip()[:300]}"
        return answer

    def time(self, values, seconds):
        """Seconds of one call: the median of as many as fit, after one that does not count."""
        problem = self._problem(values)
        plain, tensors = problem.plain(), problem.tensors()
        start = time.perf_counter()
        plain(*tensors)
        taken = []
        while len(taken) < 3 or (len(taken) < 15 and time.perf_counter() - start < seconds):
            begin = time.perf_counter()
            plain(*tensors)
            taken.append(time.perf_counter() - begin)
            if time.perf_counter() - start > 10 * seconds:
                break
        return {"seconds": sorted(taken)[len(taken) // 2]}
