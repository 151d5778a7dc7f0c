# Softmax of rows, in place after one temporary: the result of exp is divided where it lies, so that memory is passed over
# four times, not six.
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        values = torch.exp(x - x.amax(dim=-1, keepdim=True))
        return values.div_(values.sum(dim=-1, keepdim=True))
