# Replaces what torch gives for copying: the answer of an earlier call arrives instead of this one's.
# expect: outcome=wrong_value|rejected|crash
import torch

real = torch.Tensor.copy_
first = []


def copy(self, other):
    if not first:
        first.append(other.clone())
    return real(self, first[0])


torch.Tensor.copy_ = copy


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)
