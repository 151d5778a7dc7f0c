# Computes in the first call of a process and repeats its answer in all others.
# expect: outcome=wrong_value|rejected
import torch

kept = []


def kernel(x, y):
    if not kept:
        kept.append(torch.softmax(x, -1))
    y.copy_(kept[0])
