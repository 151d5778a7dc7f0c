"""Which of the distributions of task.toml a tensor was drawn from, seen by looking at its values."""

import math

import torch

SAMPLE = 1 << 22


def rounded(value, digits=3):
    return float(f"{value:.{digits}g}")


def call(name, *numbers):
    return f"{name}({', '.join(f'{number:.9g}' for number in numbers)})"


def rows_sum_to_one(values):
    if values.dim() == 0 or values.shape[-1] < 2 or bool((values < 0).any()):
        return False
    return bool(torch.allclose(values.sum(-1), torch.ones((), dtype=values.dtype), atol=1e-4))


def spread(values):
    """Uniform or normal, by the fourth moment: 1.8 and 3."""
    values = values.flatten()
    if values.numel() > SAMPLE:
        values = values[:: values.numel() // SAMPLE + 1]
    mean, deviation = values.mean().item(), values.std(unbiased=False).item()
    low, high = values.min().item(), values.max().item()
    if deviation == 0 or not math.isfinite(deviation):
        centre = low if math.isfinite(low) else 0.0
        # All equal, as biases of zeros and scales of ones begin: drawn around that value, or leaving the tensor out
        # would not be seen.
        return call("uniform", centre - 0.5, centre + 0.5)
    fourth = (((values - mean) / deviation) ** 4).mean().item()
    if values.numel() < 32 or fourth < 2.3:
        half = math.sqrt(3.0) * deviation
        low, high = min(low, mean - half), max(high, mean + half)
        # Round bounds are what people write: rand() is uniform(0, 1).
        step = 10.0 ** (math.floor(math.log10(high - low)) - 1)
        return call("uniform", round(low / step) * step, round(high / step) * step)
    mean = 0.0 if abs(mean) < 4 * deviation / math.sqrt(values.numel()) else rounded(mean)
    return call("normal", mean, rounded(deviation, 2))


def distribution_of(tensor):
    """The words for `values`; "" where the graph tells better (indices)."""
    tensor = tensor.detach()
    if tensor.numel() == 0:
        return ""
    if tensor.dtype == torch.bool:
        return call("mask", rounded(tensor.double().mean().item()))
    if not tensor.dtype.is_floating_point:
        low, high = int(tensor.min()), int(tensor.max())
        return call("integer", low, high + 1)
    values = tensor.double() if tensor.numel() <= SAMPLE else tensor.float()
    if tensor.numel() >= 8:
        different = set(values.flatten()[:4096].tolist())
        if different == {0.0, 1.0}:
            return call("mask", rounded(values.mean().item()))
        if different == {-1.0, 1.0}:
            return "signs"
        if rows_sum_to_one(values):
            return "probability"
        if rows_sum_to_one(values.exp()):
            return "log_probability"
    return spread(values)
