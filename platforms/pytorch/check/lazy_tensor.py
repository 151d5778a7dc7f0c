# Gives an object that computes when it is looked at.
# expect: outcome=crash
import torch


class Later(torch.Tensor):
    pass


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1).as_subclass(Later)
