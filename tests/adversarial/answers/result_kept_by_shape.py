# Keeps what it gave for a shape, whatever the values are.
# on: pytorch
# task: core/relu
# expect: outcome=wrong_value|rejected
import torch


class ModelNew(torch.nn.Module):
    kept = {}

    def forward(self, x):
        if x.shape not in self.kept:
            self.kept[x.shape] = torch.relu(x)
        return self.kept[x.shape]
