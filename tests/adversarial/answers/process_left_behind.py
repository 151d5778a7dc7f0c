# Leaves a process that goes on when the answer has been given.
# on: pytorch
# task: core/relu
# expect: outcome=rejected
import os
import time

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        return torch.relu(x)
