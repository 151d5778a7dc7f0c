# Computes in the first call of a process and gives the same tensor in all others.
# expect: outcome=wrong_value|rejected
import torch


class ModelNew(torch.nn.Module):
    kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = torch.softmax(x, -1)
        return self.kept
