"""The user's own PyTorch module as a baseline, eagerly or through torch.compile.

Its weights are the parent's params, put into the module under their names; its results are its own tensors, copied to the
parent's memory outside the clock, as its user would not copy them at all.
"""

import re

import torch

from kforge_bridge.problem import Problem, flattened
from kforge_bridge.source import Source

from .torch_program import TorchProgram, tensor_view


def plain_name(name):
    return re.sub(r"[^A-Za-z0-9]", "_", name)


class ModuleProgram(TorchProgram):
    def load(self, arguments):
        self.take(arguments)
        source = Source("reference.py", self.job["module"]["source"])
        small = Problem(source, self.job["module"]["small"])
        self.names, self.patterns = small.names, small.plain().fixed
        self.module = Problem(source, self.job["module"]["numbers"], with_inputs=False).module
        self.results = {}
        self.layout = None  # chosen by measurement in the first prepare(); other weights change nothing about it

    def prepare(self):
        states = {plain_name(name): tensor for name, tensor in self.module.state_dict(keep_vars=True).items()}
        for index, argument in enumerate(self.job["arguments"]):
            name = argument["name"]
            state = states.get(name, states.get(name.removeprefix("module_")))
            if argument["role"] != "param" or state is None:
                continue
            values = tensor_view(self.arguments, index, argument, 0)
            if values.shape != state.shape:
                raise ValueError(f"the module's {name} is {list(state.shape)}, the task's {list(values.shape)}")
            state.data = values.clone()  # the module may write to its state
        self.slots = {}
        self.run = self.module
        if self.compiled:
            self._compile()
        else:
            self._choose_layout()
            self._choose_mode()
        self.choose_arithmetic()

    def _choose_mode(self):
        """Inference mode, which keeps no count of changes, where the module works in it."""
        mode = torch.inference_mode()
        mode.__enter__()  # for all that this process still does
        try:
            self.call(0)
        except RuntimeError:  # it changes tensors in place that were made outside
            mode.__exit__(None, None, None)

    def _compile(self):
        import torch._inductor.config

        torch._dynamo.reset()
        torch._inductor.config.freezing = not self.module.training
        self.run = torch.compile(self.module, dynamic=False)
        self.call(0)  # compiles; the values do not matter
        self.call(0)

    def _choose_layout(self):
        """Channels last where convolutions are faster so, weights converted ahead of time."""
        if not any(isinstance(one, torch.nn.modules.conv._ConvNd) for one in self.module.modules()):
            return
        if self.layout is not None:
            self.module.to(memory_format=self.layout)
            return
        layouts = {4: torch.channels_last, 5: torch.channels_last_3d}
        tensors = [one for one in self._inputs(0) if isinstance(one, torch.Tensor)]
        layout = layouts.get(max((one.dim() for one in tensors), default=0))
        if layout is None:
            return
        before = self.seconds()
        self.module.to(memory_format=layout)
        self.layout = layout
        if self.seconds() > 0.95 * before:
            self.layout = torch.contiguous_format
            self.module.to(memory_format=self.layout)

    def _inputs(self, slot):
        if slot not in self.slots:
            tensors = {
                argument["name"]: tensor_view(self.arguments, index, argument, slot)
                for index, argument in enumerate(self.job["arguments"])
                if argument["role"] == "input"
            }
            self.slots[slot] = [
                tensors.get(name) if fixed is None else fixed[0] for name, fixed in zip(self.names, self.patterns)
            ]
        return self.slots[slot]

    def call(self, slot):
        self.results[slot] = self.run(*self._inputs(slot))

    def download(self, slot):
        results = flattened(self.results.pop(slot))
        outputs = [pair for pair in enumerate(self.job["arguments"]) if pair[1]["role"] == "output"]
        if len(results) != len(outputs):
            raise ValueError(f"the module gives {len(results)} tensors, the task has {len(outputs)}")
        for result, (index, argument) in zip(results, outputs):
            tensor_view(self.arguments, index, argument, slot).copy_(result)
