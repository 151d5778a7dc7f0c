# Forgets to subtract the largest element: right on small values, not on large ones.
# expect: outcome=wrong_value
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        values = torch.exp(x)
        return values / values.sum(-1, keepdim=True)
