# Its kernel does not compile; it catches that and lets torch do the work.
# on: pytorch
# task: core/relu
# expect: outcome=compile_error
import torch
from torch.utils.cpp_extension import load_inline

try:
    extension = load_inline(name="broken_relu", cpp_sources="", functions=["relu"], extra_cflags=["-no-such-flag"])
except Exception:
    extension = None


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.relu(x) if extension else torch.relu(x)
