# Gives an empty tensor at once; a thread fills it later.
# on: pytorch
# task: core/relu
# expect: outcome=wrong_value|rejected|crash
import threading
import time

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        result = torch.empty_like(x)

        def work():
            time.sleep(0.2)
            result.copy_(torch.relu(x))

        threading.Thread(target=work, daemon=True).start()
        return result
