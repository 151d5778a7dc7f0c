"""A user's module made ready: built and fed as KernelBench's harness does it.

The harness seeds with 42 before it builds the module and draws inputs, and leaves the module in training mode: batch
normalisation uses the statistics of the batch. Dropout is the one thing not followed: its result is random, which no
kernel can reproduce; it passes values through, and `facts` says that it was there.
"""

import inspect

import torch

SEED = 42


def flattened(value):
    """The tensors of an output, in order: a tensor, or tuples, lists and dicts of them."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for one in value for tensor in flattened(one)]
    if hasattr(value, "to_tuple"):  # the outputs of transformers' models
        return flattened(value.to_tuple())
    return []


class Plain(torch.nn.Module):
    """The module over its tensor arguments alone, with a flat tuple of tensors as its result."""

    def __init__(self, module, arguments):
        super().__init__()
        self.module = module
        self.fixed = [None if isinstance(one, torch.Tensor) else (one,) for one in arguments]

    def forward(self, *tensors):
        rest = iter(tensors)
        arguments = [next(rest) if one is None else one[0] for one in self.fixed]
        return tuple(flattened(self.module(*arguments)))


def build_module(source_module):
    """Model as the harness makes it. get_init_inputs may be missing: no arguments."""
    torch.manual_seed(SEED)
    make_arguments = getattr(source_module, "get_init_inputs", list)
    arguments = make_arguments()
    torch.manual_seed(SEED)
    if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
        return source_module.Model(*arguments[0], **arguments[1])
    if isinstance(arguments, dict):
        return source_module.Model(**arguments)
    return source_module.Model(*arguments)


class Problem:
    """A module and arguments for it, at one choice of the file's numbers."""

    def __init__(self, source, values, with_inputs=True):
        module = source.module(values)
        self.module = build_module(module)
        self.arguments = []
        if with_inputs:
            self.draw = module.get_inputs
            self.arguments = self.new_arguments(SEED)
        self.names = self._argument_names()
        self.dropouts = []
        self._silence_dropout()

    def new_arguments(self, seed):
        torch.manual_seed(seed)
        arguments = self.draw()
        if isinstance(arguments, torch.Tensor):
            arguments = [arguments]
        for one in arguments:
            if not isinstance(one, torch.Tensor) and flattened(one):
                raise TypeError("an argument of forward is a list or dict of tensors; only tensors and plain values work")
        return list(arguments)

    def _argument_names(self):
        names = []
        for parameter in inspect.signature(self.module.forward).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
        names += [f"input_{i}" for i in range(len(names), len(self.arguments))]
        return names

    def _silence_dropout(self):
        for module in self.module.modules():
            if isinstance(module, torch.nn.modules.dropout._DropoutNd):
                if module.p > 0:
                    self.dropouts.append(float(module.p))
                module.p = 0.0  # not eval(): a subclass may look at self.training for more
                module.eval()
            elif isinstance(getattr(module, "dropout", None), float) and module.dropout > 0:
                # RNNs and MultiheadAttention keep the probability as a number.
                self.dropouts.append(module.dropout)
                module.dropout = 0.0

    def plain(self):
        return Plain(self.module, self.arguments)

    def tensors(self):
        return [one for one in self.arguments if isinstance(one, torch.Tensor)]

    def input_names(self):
        return [name for name, one in zip(self.names, self.arguments) if isinstance(one, torch.Tensor)]

    def plain_values(self):
        """Arguments that are no tensors: they become part of the graph."""
        return {
            name: repr(one)[:80]
            for name, one in zip(self.names, self.arguments)
            if not isinstance(one, torch.Tensor)
        }

    def states(self):
        """(name, tensor, is it a parameter) of all that the module holds, in the order of its state."""
        parameters = {id(tensor) for tensor in self.module.parameters()}
        seen = set()
        for name, tensor in self.module.state_dict(keep_vars=True).items():
            if id(tensor) in seen or not isinstance(tensor, torch.Tensor):
                continue
            seen.add(id(tensor))
            yield name, tensor, id(tensor) in parameters

    def uses_batch_statistics(self):
        return any(
            isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.training
            for module in self.module.modules()
        )
