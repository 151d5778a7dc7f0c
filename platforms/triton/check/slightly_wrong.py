# Forgets to subtract the largest element: right on small values, not on large ones.
# expect: outcome=wrong_value
import torch


def kernel(x, y):
    values = torch.exp(x)
    y.copy_(values / values.sum(-1, keepdim=True))
