# Computes in its argument's own memory and gives that back: the caller's data is gone.
# on: pytorch
# task: core/relu
# expect: outcome=crash
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.data.relu_()
