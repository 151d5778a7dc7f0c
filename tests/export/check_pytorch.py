"""What must hold of two PyTorch exports in one process: python3 check_pytorch.py GRAPH_EXPORT MODULE_EXPORT

The first was made from a graph alone (twice x plus w), the second from a module with batch normalisation. Run by
pytorch_export_test.cc with whichever PyTorch is there; torch.compile is tried where it exists.
"""

import copy
import io
import logging
import os
import sys

import torch

sys.dont_write_bytecode = True


def load(folder):
    """As KernelBench does it: the text is run, and does not know where it lies."""
    with open(os.path.join(folder, "model_new.py"), encoding="utf-8") as file:
        context = {}
        exec(compile(file.read(), "<string>", "exec"), context)
    return context["package"]


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def check_graph(package):
    module = package.ModelNew()
    inputs = package.get_inputs()
    x = inputs[0]
    assert torch.equal(module(x), 2 * x + module.w)
    # A slice that does not begin at a multiple of 64 bytes is copied, and counted.
    shifted = torch.empty(x.numel() + 1)[1:].view(x.shape).copy_(x)
    assert torch.equal(module(shifted), module(x)) and module.kforge_stats()["copies"] == 1
    # Weights that change are seen; so is another number of threads.
    before = module.kforge_stats()["preparations"]
    module.w.mul_(3)
    assert torch.equal(module(x), 2 * x + module.w)
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if threads > 1 else 2)
    module(x)
    torch.set_num_threads(threads)
    assert module.kforge_stats()["preparations"] == before + 2
    # Through .data nobody sees it, until told.
    module.w.data = module.w.data.clone()
    module(x)
    module.w.data.mul_(2)
    module.kforge_refresh()
    assert torch.equal(module(x), 2 * x + module.w)
    # Everything else is the original's, counted by reason.
    for arguments in ((x.double(),), (x[:2],), (torch.empty(x.shape + (2,))[..., 0].copy_(x),)):
        assert torch.allclose(module(*arguments), 2 * arguments[0] + module.w)
    wanted = {"element type": 1, "shape": 1, "strides": 1}
    assert module.kforge_stats()["fallbacks"] == wanted, module.kforge_stats()
    with torch.inference_mode():
        assert torch.equal(module(x), 2 * x + module.w)
    return module, x


def check_module(package):
    torch.manual_seed(42)
    original = package.Model(*package.get_init_inputs())
    torch.manual_seed(42)
    module = package.ModelNew(*package.get_init_inputs())
    assert list(module.state_dict()) == list(original.state_dict())
    (x,) = package.get_inputs()
    original.eval(), module.eval()
    with torch.no_grad():
        assert torch.allclose(module(x), original(x), atol=1e-4, rtol=1e-4)
    assert module.kforge_stats()["calls"] > 0, module.kforge_stats()
    module(x)  # its parameters ask for gradients
    assert module.kforge_stats()["fallbacks"] == {"gradients": 1}
    with torch.no_grad():
        module.train()
        original.train()
        assert torch.allclose(module(x), original(x), atol=1e-4, rtol=1e-4), "batch statistics are the original's"
        assert module.kforge_stats()["fallbacks"]["training mode"] == 1
        module.eval()
        original.eval()
        # A copy, a pickled one and other weights: each has a kernel made ready for itself.
        other = package.Model(*package.get_init_inputs()).eval()
        copied = copy.deepcopy(module)
        copied.load_state_dict(other.state_dict())
        file = io.BytesIO()
        torch.save(module.state_dict(), file)
        file.seek(0)
        assert torch.allclose(copied(x), other(x), atol=1e-4, rtol=1e-4)
        assert torch.allclose(module(x), original(x), atol=1e-4, rtol=1e-4)
        assert copied.kforge_stats()["calls"] > 0 and not copied.kforge_stats()["fallbacks"]
    return module, x


def check_compiled(modules):
    if not hasattr(torch, "compile"):
        return print("torch.compile: not in this PyTorch")
    with torch.no_grad():
        for module, x in modules:
            calls = module.kforge_stats()["calls"]
            compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
            assert torch.allclose(compiled(x) + 1, module(x) + 1)
            assert module.kforge_stats()["calls"] == calls + 2, module.kforge_stats()
            # Another shape is another graph, the original's, and no error.
            compiled(x[:1])
    print("torch.compile: no graph break")


def main():
    lines = Lines()
    logging.getLogger("kforge").addHandler(lines)
    graph, module = (load(folder) for folder in sys.argv[1:3])
    with torch.no_grad():
        first = check_graph(graph)
    second = check_module(module)
    assert len([one for one in lines.lines if "(shape)" in one]) == 1, "each reason is logged once"
    check_compiled([first, second])
    print("all hold")


if __name__ == "__main__":
    main()
