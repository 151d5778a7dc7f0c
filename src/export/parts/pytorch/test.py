"""Tests the export: python3 test.py. Needs PyTorch; exit code 77 where it is missing or the processor lacks something.

The kernel against stored values of KForge's oracle, ModelNew against the original module as KernelBench does it (seed
42, five inputs), what falls back, what follows changed weights; then both are timed, wrapper included.
"""

import copy
import json
import os
import sys
import time

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import model_new  # noqa: E402

package = model_new.package
runtime = package.runtime
SEED, TRIALS, TOLERANCE = 42, 5, 1e-4


def build(Model):
    torch.manual_seed(SEED)
    arguments = package.get_init_inputs()
    torch.manual_seed(SEED)
    if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
        return Model(*arguments[0], **arguments[1])
    return Model(**arguments) if isinstance(arguments, dict) else Model(*arguments)


def check_stored():
    """One call on stored inputs and params, compared with what the oracle says."""
    with open(os.path.join(runtime.HERE, "test", "tensors.json"), encoding="utf-8") as file:
        expected = {one["name"]: one for one in json.load(file)["tensors"]}
    manifest = runtime.MANIFEST
    instance = runtime.Instance([], None, (False, True))
    inputs = [runtime.stored(one) for one in manifest["inputs"]]
    outputs = instance.call(inputs, [runtime.stored(one) for one in manifest["params"]])
    for number, output in zip(manifest["outputs"], outputs):
        one = expected[manifest["tensors"][number]["c_name"]]
        if not one["compared"]:
            continue
        with open(os.path.join(runtime.HERE, "test", one["name"] + ".expected"), "rb") as file:
            want = torch.frombuffer(bytearray(file.read()), dtype=torch.float64 if one["floating"] else torch.int64)
        got = output.reshape(-1)[:: one["every"]][: len(want)]
        if one["floating"]:
            near = (got.double() - want).abs() <= one["absolute"] + one["relative"] * want.abs()
            wrong = ~(near | (got.double() == want) | (got.isnan() & want.isnan()))
        else:
            wrong = got.to(torch.int64) != want
        print(f"{one['name']}: {len(want)} elements compared with the oracle, {int(wrong.sum())} wrong")
        assert not wrong.any()


def check_module():
    """KernelBench's own check."""
    original, new = build(package.Model), build(package.ModelNew)
    torch.manual_seed(SEED)
    seeds = [torch.randint(0, 2**32 - 1, (1,)).item() for _ in range(TRIALS)]
    worst = 0.0
    with torch.no_grad():
        for seed in seeds:
            torch.manual_seed(seed)
            inputs = package.get_inputs()
            torch.manual_seed(seed)
            want = runtime.flattened(original(*inputs))
            torch.manual_seed(seed)
            got = runtime.flattened(new(*inputs))
            assert [one.shape for one in got] == [one.shape for one in want]
            for a, b in zip(got, want):
                worst = max(worst, float((a.double() - b.double()).abs().max()) if a.numel() else 0.0)
                assert torch.allclose(a, b, atol=TOLERANCE, rtol=TOLERANCE, equal_nan=True), f"differs by {worst:.2e}"
    stats = new.kforge_stats()
    print(f"ModelNew agrees with the original on {TRIALS} inputs, worst difference {worst:.2e}: {stats}")
    assert stats["calls"] >= TRIALS, "the kernel was never called: " + str(stats)
    return original, new


def check_fallbacks(original, new):
    inputs = [one for one in package.get_inputs()]
    floats = [n for n, one in enumerate(inputs) if isinstance(one, torch.Tensor) and one.is_floating_point()]
    if not floats or inputs[floats[0]].dim() == 0:
        return
    first = floats[0]
    calls = new.kforge_stats()["calls"]
    with torch.enable_grad():
        tracked = [one.clone().requires_grad_() if n == first else one for n, one in enumerate(inputs)]
        new(*tracked)
    with torch.no_grad():
        spread = torch.empty(inputs[first].shape + (2,))[..., 0].to(inputs[first].dtype)
        strided = [spread.copy_(one) if n == first else one for n, one in enumerate(inputs)]
        if not strided[first].is_contiguous():
            new(*strided)
    fallbacks = new.kforge_stats()["fallbacks"]
    print(f"fell back to the original: {fallbacks}")
    assert "gradients" in fallbacks and new.kforge_stats()["calls"] == calls


def check_changed_weights(new):
    weights = [one for one in new.parameters() if one.is_floating_point() and one.numel()]
    if not weights:
        return
    changed, inputs = copy.deepcopy(new), package.get_inputs()
    with torch.no_grad():
        for one in changed.parameters():
            one.mul_(0.5)
        want = runtime.flattened(package.Model.forward(changed, *inputs))
        got = runtime.flattened(changed(*inputs))
    assert all(torch.allclose(a, b, atol=1e-3, rtol=1e-3, equal_nan=True) for a, b in zip(got, want))
    print("changed weights are followed")


def time_both(original, new):
    """In turns, wrapper included: medians of the same rounds."""
    inputs, times = package.get_inputs(), {original: [], new: []}
    with torch.no_grad():
        for module in times:
            module(*inputs)
        start = time.perf_counter()
        while len(times[new]) < 5 or (time.perf_counter() - start < 2 and len(times[new]) < 200):
            for module, taken in times.items():
                begin = time.perf_counter()
                module(*inputs)
                taken.append(time.perf_counter() - begin)
    before, after = (sorted(taken)[len(taken) // 2] * 1e6 for taken in times.values())
    print(f"original {before:.1f} us, ModelNew {after:.1f} us with its wrapper: {before / after:.2f} times as fast")


def main():
    print(runtime.MANIFEST["verdict"])
    for caveat in runtime.MANIFEST["caveats"]:
        print("- " + caveat)
    if problem := runtime._library.why_not():
        print("skipped: " + problem)
        return 77 if "lacks" in problem else 1
    check_stored()
    original, new = check_module()
    check_fallbacks(original, new)
    check_changed_weights(new)
    time_both(original, new)
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
