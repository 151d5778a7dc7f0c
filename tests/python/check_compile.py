"""torch.compile(backend="kforge") on networks as people have them: python3 check_compile.py. Needs PyTorch 2."""

import os
import sys

import torch

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "python"), HERE]
import networks  # noqa: E402

import kforge  # noqa: E402
from kforge import compile_backend  # noqa: E402

OPTIONS = {"budget": "8s", "options": ["--baseline", "none", "--attempts", "1", "--rounds", "3"]}


class Partly(torch.nn.Module):
    """An operator in the middle that ONNX does not have, and one that changes its input."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8)
        self.second = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = torch.special.i1(torch.relu(self.first(x)))
        return torch.relu(self.second(y).add_(1))


def compiled(module, *inputs):
    module = module.eval()
    with torch.no_grad():
        want = module(*inputs)
        fast = torch.compile(module, backend="kforge", dynamic=False, fullgraph=True, options=OPTIONS)
        got = fast(*inputs)
        assert torch.allclose(got, want, atol=1e-4 * float(want.abs().max()), rtol=1e-3), (got - want).abs().max()
        assert torch.equal(fast(*inputs), got)
    record = compile_backend.taken_over()[-1]
    print(f"{type(module).__name__}: {record['taken']} of {record['operators']} operators in {len(record['kernels'])} kernels")
    return fast, record


def main():
    torch.manual_seed(0)
    _, record = compiled(networks.Transformer(), torch.randn(2, 16, 64))
    assert record["taken"] == record["operators"] and len(record["kernels"]) == 1, record
    _, record = compiled(networks.ResNet18(width=8, classes=10), torch.randn(1, 3, 32, 32))
    assert record["taken"] == record["operators"], record
    _, record = compiled(Partly(), torch.randn(4, 8))
    assert "special_i1" in record["left"] and 0 < record["taken"] < record["operators"], record

    # With gradients wanted nothing is taken over, and nothing breaks.
    module = Partly()
    fast = torch.compile(module, backend="kforge", dynamic=False, options=OPTIONS)
    fast(torch.randn(4, 8)).sum().backward()
    assert module.first.weight.grad is not None
    assert "gradients" in compile_backend.taken_over()[-1]["left"]["graph"]
    assert "kforge" in torch._dynamo.list_backends()
    assert kforge.results(limit=1) is not None
    print("all hold")


if __name__ == "__main__":
    main()
