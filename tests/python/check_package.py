"""What must hold of the Python package `kforge`: python3 check_package.py SCRATCH_FOLDER

Run by python_package_test.cc with a tiny budget: it is about the way there and back, not about speed.
"""

import io
import os
import sys

import torch

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import kforge  # noqa: E402

QUICK = ["--baseline", "none", "--attempts", "1", "--rounds", "3"]


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(12, 8)
        self.norm = torch.nn.BatchNorm1d(8)

    def forward(self, x, scale=1.0):
        return {"y": torch.relu(self.norm(self.fc(x))) * scale}


class Unknown(torch.nn.Module):
    def forward(self, x):
        return torch.special.i1(x)


def near(got, want):
    return list(got) == ["y"] and torch.allclose(got["y"], want["y"], atol=1e-4)


def expect_error(words, action):
    try:
        action()
    except kforge.KForgeError as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"no error with '{words}'")


def check_optimize():
    torch.manual_seed(1)
    module = Small().eval()
    before = {name: one.clone() for name, one in module.state_dict().items()}
    x = torch.randn(4, 12)
    said = io.StringIO()
    stderr, sys.stderr = sys.stderr, said
    try:
        fast = kforge.optimize(module, x, budget="5s", progress=True, options=QUICK)
    finally:
        sys.stderr = stderr
    assert "Verified" in said.getvalue() and "best so far" in said.getvalue(), said.getvalue()
    assert all(torch.equal(one, before[name]) for name, one in module.state_dict().items())
    assert "Verified" in repr(fast)
    with torch.no_grad():
        calls = fast.kforge_stats()[0]["calls"]
        assert near(fast(x), module(x))
        assert fast.kforge_stats()[0]["calls"] == calls + 1
        assert near(fast(x[:3]), module(x[:3]))  # another shape
        assert near(fast(x, 2.0), module(x, 2.0))  # another argument
        module.fc.weight.mul_(-1)  # the optimized module has the same weights
        assert near(fast(x), module(x))
        fast.train()
        fast(x)  # batch statistics: the original's
    assert fast(x)["y"].requires_grad  # gradients: the original's
    fallbacks = fast.kforge_stats()[0]["fallbacks"]
    assert fallbacks["shape"] == 1 and sum(fallbacks.values()) == 4, fallbacks


def check_judging(scratch):
    task = os.path.join(scratch, "scale_add")
    good = kforge.evaluate(task, os.path.join(scratch, "kernel.cc"), check=True)
    assert good.passed and "verified" in repr(good), good
    wrong = os.path.join(scratch, "wrong.cc")
    with open(wrong, "w", encoding="utf-8") as file:
        file.write('#include "task.h"\nextern "C" void kernel(const float* x, const float* w, float* y) { y[0] = x[0] + w[0]; }\n')
    bad = kforge.evaluate(task, wrong, check=True)
    assert not bad.passed and "wrong_value" in repr(bad), bad
    rows = kforge.results(task=good["task"], limit=50)  # others may use the same store
    ids = list(rows["id"]) if hasattr(rows, "columns") else [one["id"] for one in rows]
    assert ids.index(bad["id"]) < ids.index(good["id"]), ids


def check_errors():
    expect_error("exporter: ", lambda: kforge.optimize(Unknown(), torch.randn(3)))
    expect_error("no task", lambda: kforge.evaluate("core/softmaxx", "nowhere.cc"))
    kept = os.environ["KFORGE_BIN"]
    os.environ["KFORGE_BIN"] = "/nowhere/kforge"
    expect_error("is no program", kforge.results)
    os.environ["KFORGE_BIN"] = kept


def main():
    check_judging(sys.argv[1])
    check_errors()
    check_optimize()
    print("all hold")


if __name__ == "__main__":
    main()
