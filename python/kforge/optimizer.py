"""kforge.optimize(): a module that calls verified kernels where they fit, and itself otherwise."""

import copy
import importlib
import os
import re
import sys

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import module_task, program
from .progress import Progress

TOLERANCE = 1e-3


def forge(task, on, budget, precision, progress, options=()):
    """A verified kernel for a task folder: the report of `kforge forge`. One that the store has already is found again."""
    out = os.path.join(os.path.dirname(task), "run")
    number = 1
    while os.path.exists(f"{out}{number}"):
        number += 1
    words = ["forge", task, "--on", on, "--precision", precision, "--out", f"{out}{number}", "-v", *options]
    if budget is not None:
        words += ["--budget", budget]
    report = program.run(words, progress, accept=(0, 1))
    if not report["best"] or report["best"]["outcome"] != "passed":
        reasons = [one["reason"] for one in report["attempts"] if one["reason"]] + report.get("notes", [])
        raise program.KForgeError(f"no verified kernel was found: {'; '.join(reasons[-2:])[:500] or report['ended']}")
    return report


def load_export(run, folder):
    """The package of `kforge export RUN --as pytorch`, imported."""
    made = program.run(["export", run, "--as", "pytorch", "--out", folder])
    package = next(one.split("/")[0] for one in made["files"] if one.endswith("/manifest.json"))
    if made["folder"] not in sys.path:
        sys.path.append(made["folder"])
    return importlib.import_module(package)


def kernel_for(module, arguments, on="cpu", budget="60s", precision="fp32", progress=None, options=()):
    """(package, report): the export of a verified kernel for a module at the sizes of its arguments."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", type(module).__name__).strip("_").lower() or "module"
    task = module_task.make_task(module, arguments, name)
    report = forge(task, on, budget, precision, progress or Progress(), options)
    package = load_export(report["run"], os.path.join(os.path.dirname(task), "export-" + report["run"]))
    return package, report


class Optimized(torch.nn.Module):
    """The original module, and kernels for it. State and mode are the original's."""

    def __init__(self, module):
        super().__init__()
        self.original = module
        object.__setattr__(self, "kernels", [])  # (runtime of the export, its instance)
        object.__setattr__(self, "reports", [])
        self.train(module.training)

    def add(self, package, arguments, report):
        """Why the kernel was not taken; None: it was."""
        runtime = package.runtime
        instance = runtime.attach(self.original, type(self.original).forward)
        if instance.unusable is not None:
            return instance.unusable
        example = [one.detach().clone() if isinstance(one, torch.Tensor) else one for one in arguments]
        tensors = [one for one in example if isinstance(one, torch.Tensor)]
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            want, structure = tree_flatten(copy.deepcopy(self.original)(*example))  # its running statistics stay as they are
            if not all(isinstance(one, torch.Tensor) for one in want):
                return "the module's result holds more than tensors"
            got = instance.call(tensors, instance.params_of(self.original))
        if len(want) != len(got) or not all(near(a, b) for a, b in zip(got, want)):
            return "it differs from the module on the example"
        instance.fixed = [None if isinstance(one, torch.Tensor) else (one,) for one in arguments]
        instance.structure = structure
        self.kernels.append((runtime, instance))
        self.reports.append(report)
        return None

    def forward(self, *inputs, **named):
        for runtime, instance in self.kernels:
            if self._fits(instance, inputs, named):
                tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
                outputs = runtime.outputs_of(instance, tensors, instance.params_of(self.original))
                return tree_unflatten(list(outputs), instance.structure)
        if self.kernels:
            runtime, instance = self.kernels[-1]  # counts why
            return runtime.run(instance, self.original, self.original, inputs, named)
        return self.original(*inputs, **named)

    def _fits(self, instance, inputs, named):
        if named or len(inputs) != len(instance.fixed):
            return False
        tensors = []
        for given, fixed in zip(inputs, instance.fixed):
            if isinstance(given, torch.Tensor) != (fixed is None):
                return False
            if fixed is None:
                tensors.append(given)
            elif fixed[0] != given:
                return False
        return instance.why_not(self.original, tensors, instance.params_of(self.original)) is None

    def kforge_stats(self):
        """What each kernel did, the newest last."""
        return [instance.stats() for _, instance in self.kernels]

    def extra_repr(self):
        return "; ".join(f"{one['task']}: {one['headline']}" for one in self.reports) or "no kernel"


def near(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if not got.is_floating_point():
        return bool(torch.equal(got, want))
    scale = float(want.abs().max()) if want.numel() else 0.0
    return bool(torch.allclose(got, want, rtol=TOLERANCE, atol=TOLERANCE * max(scale, 1e-30), equal_nan=True))


def optimize(module, example_inputs, on="cpu", budget="60s", precision="fp32", progress=None, options=()):
    """A module that computes what `module` does, with a verified kernel at the sizes of `example_inputs`.

    budget     of the search, as for `kforge forge --budget`: "60s", "2usd"
    precision  fp32, high, bf16 or fp16: how far from the fp64 truth a value may be
    progress   None: shown where somebody is there to see it; True, False
    options    further words for `kforge forge`, such as ["--generator", "anthropic:NAME"]

    Calls that do not fit (another shape or element type, gradients wanted) go to the original module, counted by
    reason in kforge_stats(). Given what it returned, it adds a kernel for further sizes. KForgeError says why there is none.
    """
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    optimized = module if isinstance(module, Optimized) else Optimized(module)
    shown = Progress(progress)
    package, report = kernel_for(optimized.original, example_inputs, on, budget, precision, shown, options)
    refused = optimized.add(package, example_inputs, report)
    if refused is not None:
        raise program.KForgeError(f"the kernel cannot stand in for the module: {refused}")
    if shown.shown:
        program.say(report["headline"])
    return optimized
