#!/usr/bin/env python3
"""Writes the graphs of this folder: small modules as PyTorch's two exporters take them apart.

    export.py legacy OPSET FOLDER     the exporter that traces (every PyTorch)
    export.py dynamo OPSET FOLDER     the newer one (PyTorch 2.x with onnxscript)
    export.py strip FOLDER            takes out where the code lay (any Python with onnx)

The files here are from `legacy 14` and `legacy 17` of PyTorch 1.13 and `dynamo 18` and `dynamo 23` of 2.15.
"""

import math
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def modules():
    rows, image = torch.randn(3, 8), torch.randn(2, 6, 4, 5)
    heads = tuple(torch.randn(2, 3, 4, 8) for _ in range(3))
    found = {
        "gelu": (nn.GELU(), rows),
        "gelu_tanh": (nn.GELU(approximate="tanh"), rows),
        "gelu_by_hand": (
            Function(lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))),
            rows,
        ),
        "mish": (nn.Mish(), rows),
        "mish_by_hand": (Function(lambda x: x * torch.tanh(F.softplus(x))), rows),
        "silu": (nn.SiLU(), rows),
        "silu_by_hand": (Function(lambda x: torch.sigmoid(x) * x), rows),
        "hardswish": (nn.Hardswish(), rows),
        "hardswish_by_hand": (Function(lambda x: x * torch.clamp((x + 3) / 6, 0, 1)), rows),
        "hardswish_of_relu6": (Function(lambda x: x * F.relu6(x + 3) / 6), rows),
        "softplus": (nn.Softplus(), rows),
        "softplus_by_hand": (Function(lambda x: torch.log(1 + torch.exp(x))), rows),
        "groupnorm": (nn.GroupNorm(3, 6), image),
        "groupnorm_rows": (nn.GroupNorm(2, 6), image[:, :, :, 0].contiguous()),
        "groupnorm_volume": (nn.GroupNorm(3, 6, eps=1e-3), image.unsqueeze(-1).repeat(1, 1, 1, 1, 2)),
        "groupnorm_plain": (nn.GroupNorm(3, 6, affine=False), image),
        "instancenorm": (nn.InstanceNorm2d(6, affine=True), image),
        "instancenorm_plain": (nn.InstanceNorm2d(6), image),
        "layernorm": (nn.LayerNorm(8), rows),
        "layernorm_image": (nn.LayerNorm((6, 4, 5)), image),
        "layernorm_plain": (nn.LayerNorm(8, elementwise_affine=False), rows),
        "rmsnorm_by_hand": (RmsNorm(8), rows),
        "rmsnorm_of_channels": (
            Function(lambda x: x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)),
            image,
        ),
        "attention_by_hand": (
            Function(lambda q, k, v: torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(8), -1) @ v),
            heads,
        ),
    }
    if hasattr(nn, "RMSNorm"):
        found["rmsnorm"] = (nn.RMSNorm(8, eps=1e-5), rows)
    if hasattr(F, "scaled_dot_product_attention"):
        found["attention"] = (Function(F.scaled_dot_product_attention), heads)
        found["attention_causal"] = (
            Function(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
            heads,
        )
    return found


def strip(path):
    """Exporters note where the code lay; none of that belongs in a test."""
    import onnx

    model = onnx.load(path)
    for field in ("doc_string", "metadata_props"):
        model.ClearField(field)
    for one in [model.graph, *model.graph.node, *model.graph.input, *model.graph.output, *model.graph.initializer]:
        for field in ("doc_string", "metadata_props"):
            if field in one.DESCRIPTOR.fields_by_name:
                one.ClearField(field)
    model.graph.ClearField("value_info")
    onnx.save(model, path)


def main():
    if sys.argv[1] == "strip":
        for name in os.listdir(sys.argv[2]):
            strip(os.path.join(sys.argv[2], name))
        return
    exporter, opset, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    torch.manual_seed(1)
    os.makedirs(folder, exist_ok=True)
    for name, (module, inputs) in modules().items():
        for parameter in module.parameters():
            parameter.data = torch.rand_like(parameter) + 0.25
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        options = {"dynamo": True, "external_data": False} if exporter == "dynamo" else {}
        path = os.path.join(folder, name + ".onnx")
        try:
            torch.onnx.export(module.eval(), inputs, path, opset_version=opset, **options)
        except Exception as error:  # PyTorch 1.13 writes a layer normalisation without its scale, and says so itself
            print(f"{name}: {error}", file=sys.stderr)
            if os.path.exists(path):
                os.remove(path)


main()
