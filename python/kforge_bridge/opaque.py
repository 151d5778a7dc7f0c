"""A module that no exporter takes, as its own reference.

It is run as a new one every time: what it keeps from one call to the next does not reach the result. What it draws at
random is drawn from another seed in float64 than in float32, so that the difference between the two, which every program
is allowed to have, covers it.
"""

import contextlib
import copy
import os

import torch

from .problem import SEED

HELD = {"float64": torch.float64, "float32": torch.float32, "int64": torch.int64}


def plain_tensors(module):
    """(owner, attribute, name) of tensors that a module holds and its state does not list."""
    for prefix, owner in module.named_modules():
        for attribute, value in vars(owner).items():
            if isinstance(value, torch.Tensor):
                yield owner, attribute, f"{prefix}.{attribute}".lstrip(".")


def same(one, another):
    return all(
        a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all()) for a, b in zip(one, another)
    )


def other_values(tensor):
    """What the tensor might have been."""
    if tensor.dtype == torch.bool:
        return ~tensor
    if not tensor.dtype.is_floating_point:
        return torch.zeros_like(tensor) if bool((tensor != 0).any()) else tensor
    return tensor.roll(1).mul(1.5).add(0.25)


def result(module, tensors):
    torch.manual_seed(SEED)
    return module(*[one.clone() for one in tensors])


def matters(problem, name, tensor):
    """Whether the result changes with a tensor that is no parameter."""
    tensors = problem.tensors()
    before = result(copy.deepcopy(problem.plain()), tensors)
    other = copy.deepcopy(problem.plain())
    put(other.module, name, other_values(tensor.detach()))
    try:
        return not same(before, result(other, tensors))
    except Exception:  # it cannot be anything else: then it is part of the computation
        return True


def put(module, name, values):
    """Gives the tensor of this name these values, whether it is a parameter, a buffer or a plain attribute."""
    owner, _, attribute = name.rpartition(".")
    owner = module.get_submodule(owner) if owner else module
    old = getattr(owner, attribute)
    if tuple(old.shape) != tuple(values.shape):
        raise ValueError(f"the module's {name} is {list(old.shape)}, the task's {list(values.shape)}")
    if isinstance(old, torch.nn.Parameter):
        old.data = values
    else:
        setattr(owner, attribute, values)


def held_tensors(problem, known):
    """(name, tensor, is it a parameter) of what a program must be given besides the inputs. `known` keeps, by name, which of the
    others matter: it is found out at the first, small sizes."""

    def wanted(name, tensor):
        if name not in known:
            known[name] = matters(problem, name, tensor)
        return known[name]

    for name, tensor, is_parameter in problem.states():
        if is_parameter or wanted(name, tensor):
            yield name, tensor, is_parameter
    for owner, attribute, name in list(plain_tensors(problem.module)):
        tensor = getattr(owner, attribute)
        if wanted(name, tensor):
            yield name, tensor, False


@contextlib.contextmanager
def default_dtype(dtype):
    """Tensors that a module makes for itself have it."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def read_tensor(folder, described):
    import numpy

    held = numpy.fromfile(os.path.join(folder, described["file"]), dtype=described["held"])
    tensor = torch.from_numpy(held).reshape(described["shape"])
    wanted = getattr(torch, described["dtype"])
    if tensor.dtype.is_floating_point:
        return tensor
    return tensor.to(wanted)


class OpaqueModule:
    def __init__(self, problem):
        self.plain = problem.plain()
        self.names = problem.input_names()
        self.dtypes = [one.dtype for one in problem.tensors()]
        self.narrow_only = ""  # why it cannot run in float64

    def run(self, described, folder, wide):
        """Results on tensors that are named as the module's arguments ("input") or as what it holds ("state")."""
        if wide and not self.narrow_only:
            try:
                return self._run(described, folder, torch.float64, SEED), True
            except RuntimeError as error:  # a module that makes float32 tensors of its own
                self.narrow_only = str(error)
        # Without a wider truth the same arithmetic is both: what it is worth is told by inputs off by one rounding.
        return self._run(described, folder, torch.float32, SEED + 1, bool(self.narrow_only) and not wide), False

    def _run(self, described, folder, dtype, seed, shaken=False):
        def float_of(tensor):
            if not tensor.dtype.is_floating_point:
                return tensor
            tensor = tensor.to(dtype)
            if shaken:
                signs = torch.randint(-1, 2, tensor.shape, generator=torch.Generator().manual_seed(seed))
                tensor = tensor * (1 + signs * torch.finfo(dtype).eps)
            return tensor

        plain = copy.deepcopy(self.plain)
        if dtype == torch.float64:
            plain = plain.double()
            for owner, attribute, _ in list(plain_tensors(plain.module)):
                setattr(owner, attribute, float_of(getattr(owner, attribute)))
        arguments = {}
        for one in described:
            tensor = float_of(read_tensor(folder, one))
            if one["kind"] == "input":
                arguments[one["name"]] = tensor
            else:
                put(plain.module, one["name"], tensor)
        with default_dtype(dtype):
            torch.manual_seed(seed)
            outputs = plain(*[arguments[name] for name in self.names])
        return [one.to(dtype) if one.dtype.is_floating_point else one.to(torch.int64) for one in outputs]
