"""What KForge may ask: each method is a request, its result the answer."""

import copy
import os
import time

import torch

from . import exporters
from .distribution import distribution_of
from .opaque import OpaqueModule, held_tensors
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
        self.opaque = None  # the same of a module that is itself the reference
        self.mattering = {}  # of its tensors that are no parameters: whether the result depends on them

    def _untouched(self, values):
        """A problem that nobody has called: a module may keep something of every call."""
        self.kept = None
        return Problem(self.source, values)

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
        return self._told(problem, problem.plain(), problem.states())

    @staticmethod
    def _told(problem, plain, states):
        outputs = plain(*problem.tensors())
        if not outputs:
            raise TypeError("forward returns no tensor")
        names = problem.input_names()
        return {
            "inputs": [tensor_facts(*pair) for pair in zip(names, problem.tensors())],
            "states": [tensor_facts(name, one, parameter=is_parameter) for name, one, is_parameter in states],
            "outputs": [tensor_facts(f"output_{i}", one) for i, one in enumerate(outputs)],
        }

    def facts(self, values):
        """What a reader of results must know about the module."""
        problem = self._untouched(values)
        plain, tensors = problem.plain(), problem.tensors()

        def result(module, arguments, seed):
            torch.manual_seed(seed)
            return module(*[one.clone() for one in arguments])

        def same(one, another):
            return all(torch.equal(a, b) or bool((a.isnan() & b.isnan()).any()) for a, b in zip(one, another))

        fresh = [copy.deepcopy(plain) for _ in range(3)]
        others = [one for one in problem.new_arguments(SEED + 1) if isinstance(one, torch.Tensor)]
        first = result(fresh[0], tensors, SEED)
        return {
            "dropouts": problem.dropouts,
            "batch_statistics": problem.uses_batch_statistics(),
            "random": not same(first, result(fresh[1], tensors, SEED + 1)),
            "keeps_state": not same(first, result(fresh[0], tensors, SEED)),
            "constant": all(torch.equal(a, b) for a, b in zip(first, result(fresh[2], others, SEED))),
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

    def describe_opaque(self, values):
        """As `describe`, for a module that stays the reference itself. Of tensors that are no parameters only those are
        told that its result depends on: a program must be given them."""
        problem = self._untouched(values)
        return self._told(problem, copy.deepcopy(problem.plain()), held_tensors(problem, self.mattering))

    def tables(self, values, prefix):
        """The values of the tensors of `describe_opaque` that are no parameters, one file each, by their number."""
        kept = list(held_tensors(self._untouched(values), self.mattering))
        for number, (_, one, is_parameter) in enumerate(kept):
            if not is_parameter:
                write_tensor(f"{prefix}state_{number}", one)
        return {"states": len(kept)}

    def run_opaque(self, values, wide, tensors, folder, prefix):
        """The module on these tensors, as a new one: its results, floats as they are computed and integers as int64."""
        key = tuple(sorted(values.items()))
        if self.opaque is None or self.opaque[0] != key:
            self.opaque = self.kept = None  # not two of them in memory at once
            self.opaque = (key, OpaqueModule(Problem(self.source, values)))
        outputs, is_wide = self.opaque[1].run(tensors, folder, wide)
        for number, one in enumerate(outputs):
            write_tensor(f"{prefix}output_{number}", one)
        return {"outputs": [tensor_facts(f"output_{i}", one) for i, one in enumerate(outputs)], "wide": is_wide}

    def export(self, values, exporter, file):
        exporters.export(self._problem(values), exporter, file)
        return {"bytes": os.path.getsize(file)}

    def sample(self, values, prefix, states):
        """Inputs, these states and outputs in float32 and, where the module can, in float64, one file each."""
        problem = self._problem(values)
        problem.arguments = problem.new_arguments(SEED + 2)
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
