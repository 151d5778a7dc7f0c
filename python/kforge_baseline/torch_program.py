"""PyTorch as a baseline: the graph interpreted over torch operators, eagerly or through torch.compile."""

import json
import subprocess
import sys
import time
import warnings

import torch

from . import torch_ops
from .tensors import view

TORCH_TYPES = {
    "float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16,
    "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8,
    "bool": torch.bool,
}  # fmt: skip

# Inputs are mapped read-only; torch warns that it cannot know that.
warnings.filterwarnings("ignore", message="The given NumPy array is not writable")


def tensor_view(arguments, index, argument, slot):
    tensor = torch.from_numpy(view(arguments, index, argument, slot))
    return tensor.view(torch.bfloat16) if argument["dtype"] == "bfloat16" else tensor


def constant_tensor(value):
    dtype = TORCH_TYPES.get(value["dtype"])
    if dtype is None:
        raise NotImplementedError(f"constants of type {value['dtype']} are not implemented")
    return torch.tensor(value["values"], dtype=dtype).reshape(value["shape"])


class Network(torch.nn.Module):
    """The graph as a module: params are its buffers, so that a compiler may treat them as fixed."""

    def __init__(self, graph, params, inouts):
        super().__init__()
        self.constants = {}
        for one in graph["initializers"]:
            if one["folded"]:
                self.constants[one["name"]] = constant_tensor(one)
        fixed = dict(params)
        self.steps = self.without_fixed(torch_ops.make_steps(graph, inouts), fixed)
        self.params = list(fixed)
        for number, tensor in enumerate(fixed.values()):
            self.register_buffer(f"param_{number}", tensor)

    def without_fixed(self, steps, fixed):
        """Computes now what depends on params alone, and gives the steps that are left."""
        left = []
        for step in steps:
            names = [name for name in step.node.inputs if name]
            if not names or any(name not in fixed and name not in self.constants for name in names):
                left.append(step)
                continue
            values = {**self.constants, **fixed}
            step.run(values, None)
            fixed.update((name, values[name]) for name in step.node.outputs if name)
        return left

    def forward(self, inputs, outputs):
        """`outputs` maps graph outputs to tensors that shall hold them."""
        values = dict(self.constants)
        values.update(inputs)
        for number, name in enumerate(self.params):
            values[name] = getattr(self, f"param_{number}")
        direct = torch_ops.is_eager()  # a compiler fuses the copies below into the last operator itself
        for step in self.steps:
            step.run(values, step.target(outputs) if direct else None)
        for name, target in outputs.items():
            if values[name] is not target:
                target.copy_(values[name])


def multiplies_bfloat16():
    """Asked of another process: where a virtual machine names tile registers that it does not have, this ends by a signal."""
    trial = "import torch; a = torch.ones(64, 64).bfloat16(); a @ a"
    try:
        return subprocess.run([sys.executable, "-c", trial], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class TorchProgram:
    def __init__(self, job, compiled):
        self.job = job
        self.compiled = compiled
        torch.set_num_threads(job["threads"])
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        if job.get("policy") in ("high", "bf16") and hasattr(torch, "set_float32_matmul_precision"):
            torch.set_float32_matmul_precision("high")

    def choose_arithmetic(self):
        """bfloat16 by autocast where the policy allows it and it is faster: what somebody who asks for it would run."""
        if self.job.get("policy") != "bf16" or not multiplies_bfloat16():
            return
        before = self.seconds()
        plain = self.run

        def autocast(*arguments):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return plain(*arguments)

        self.run = autocast
        try:
            if self.seconds() <= 0.95 * before:
                return
        except RuntimeError:  # an operator without that type
            pass
        self.run = plain

    def seconds(self):
        """Of a call, the best of three after one that does not count."""
        self.call(0)
        taken = []
        for _ in range(3):
            start = time.perf_counter()
            self.call(0)
            taken.append(time.perf_counter() - start)
        return min(taken)

    def take(self, arguments):
        if len(arguments) != len(self.job["arguments"]):
            raise ValueError("the parent's tensors are not those of the job")
        self.arguments = arguments

    def load(self, arguments):
        self.take(arguments)
        with open(self.job["graph"], encoding="utf-8") as file:
            self.graph = json.load(file)
        torch_ops.make_steps(self.graph)  # names an operator that is missing
        self.slots = {}

    def prepare(self):
        params = {}
        for index, argument in enumerate(self.job["arguments"]):
            if argument["role"] == "param":
                params[argument["name"]] = tensor_view(self.arguments, index, argument, 0)
        inouts = [(one["name"], one["output"]) for one in self.job["arguments"] if one["role"] == "inout"]
        self.network = Network(self.graph, params, inouts).eval()
        self.run = self.network
        if self.compiled:
            self.compile()
        self.choose_arithmetic()

    def compile(self):
        import torch._inductor.config

        torch._dynamo.reset()
        torch._inductor.config.freezing = True
        self.run = torch.compile(self.network, dynamic=False, fullgraph=True)
        self.call(0)  # compiles; the values do not matter
        self.call(0)

    def call(self, slot):
        if slot not in self.slots:
            self.slots[slot] = self.tensors_of(slot)
        inputs, outputs = self.slots[slot]
        self.run(inputs, outputs)

    def tensors_of(self, slot):
        inputs, outputs = {}, {}
        for index, argument in enumerate(self.job["arguments"]):
            role = argument["role"]
            if role == "param":
                continue
            tensor = tensor_view(self.arguments, index, argument, slot)
            if role == "output":
                outputs[argument["name"]] = tensor
            else:
                inputs[argument["name"]] = tensor
                if role == "inout":
                    outputs[argument["output"]] = tensor
        return inputs, outputs
