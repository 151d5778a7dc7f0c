# Leaves the last row as it was.
# expect: outcome=wrong_value gate=memory
import torch


def kernel(x, y):
    y[:-1].copy_(torch.softmax(x[:-1], -1))
