"""KForge from Python: verified kernels for modules of PyTorch.

    import kforge
    fast = kforge.optimize(module, example_inputs, budget="60s")
    y = fast(*inputs)          # the kernel where it fits, the original module otherwise

`evaluate` judges a kernel, `results` lists what was judged, and torch.compile(module, backend="kforge") takes whole graphs over.
All of it runs the program `kforge`: from $KFORGE_BIN, from PATH, or from the tree this package lies in (docs/python.md).
"""

from .program import KForgeError, find_program
from .results import evaluate, results

__all__ = ["KForgeError", "evaluate", "find_program", "optimize", "results"]


def optimize(module, example_inputs, **options):
    """A module that computes the same with a verified kernel; see kforge.optimizer.optimize."""
    from .optimizer import optimize as run  # needs PyTorch

    return run(module, example_inputs, **options)


def _register_backend():
    """torch.compile(backend="kforge") without an installation, whose entry point does the same."""
    import sys

    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compile"):
        return
    from torch._dynamo.backends import registry

    from .compile_backend import kforge

    if "kforge" not in getattr(registry, "_BACKENDS", {}):
        registry.register_backend(kforge)


_register_backend()
