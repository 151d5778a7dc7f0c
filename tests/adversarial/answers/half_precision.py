# Multiplies values of bfloat16 where those of float32 were to be multiplied.
# on: pytorch
# task: core/matmul
# expect: outcome=wrong_value gate=accuracy
import torch


class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.bfloat16().float(), b.bfloat16().float())
