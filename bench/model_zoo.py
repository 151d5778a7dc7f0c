#!/usr/bin/env python3
"""Whole models as ONNX files, with random weights, for bench/models.py.

    bench/model_zoo.py FOLDER [--batch 1 8] [NAME]...      # NAME_bBATCH.onnx; what is there already stays

Needs torch (Debian's python3-torch will do) and nothing else: the models are written out here. Shapes are those of
the published models, and weights are drawn so that values neither vanish nor explode through the layers.
"""
import argparse
from pathlib import Path

import torch
from torch import nn


def normed_conv(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    nn.init.kaiming_normal_(conv.weight, mode="fan_in")
    norm = nn.BatchNorm2d(outputs)
    nn.init.normal_(norm.running_mean, 0, 0.1)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return nn.Sequential(conv, norm, *([activation()] if activation else []))


class ResidualPair(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            normed_conv(inputs, outputs, 3, stride, activation=nn.ReLU), normed_conv(outputs, outputs, 3)
        )
        same = stride == 1 and inputs == outputs
        self.skip = nn.Identity() if same else normed_conv(inputs, outputs, 1, stride)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def classifier(channels):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]


def resnet18():
    layers = [normed_conv(3, 64, 7, 2, activation=nn.ReLU), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [ResidualPair(channels, width, stride), ResidualPair(width, width, 1)]
        channels = width
    return nn.Sequential(*layers, *classifier(channels))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        wide = [] if expand == 1 else [normed_conv(inputs, hidden, 1, activation=nn.ReLU6)]
        depthwise = normed_conv(hidden, hidden, 3, stride, groups=hidden, activation=nn.ReLU6)
        self.body = nn.Sequential(*wide, depthwise, normed_conv(hidden, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


def mobilenet_v2():
    layers, channels = [normed_conv(3, 32, 3, 2, activation=nn.ReLU6)], 32
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expand, width, count, stride in stages:
        for i in range(count):
            layers.append(InvertedResidual(channels, width, stride if i == 0 else 1, expand))
            channels = width
    return nn.Sequential(*layers, normed_conv(channels, 1280, 1, activation=nn.ReLU6), *classifier(1280))


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = self.qkv(x).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = split[0], split[1], split[2]
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        if self.causal:
            later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, tokens, width))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads, causal, gelu):
        super().__init__()
        self.before, self.attention = nn.LayerNorm(width), Attention(width, heads, causal)
        self.between = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate=gelu), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.mlp(self.between(x))


class VitTiny(nn.Module):
    def __init__(self, width=192, depth=12, heads=3, patch=16, image=224):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.position = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.Sequential(*[TransformerBlock(width, heads, False, "none") for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


class Lstm(nn.Module):
    def __init__(self, width=256, layers=2):
        super().__init__()
        self.cells, self.head = nn.LSTM(width, width, layers), nn.Linear(width, 1000)

    def forward(self, x):
        return self.head(self.cells(x)[0])


IMAGE = (3, 224, 224)
MODELS = {  # how it is made, and the shape of its input at a batch
    "resnet18": (resnet18, lambda batch: (batch, *IMAGE)),
    "mobilenet_v2": (mobilenet_v2, lambda batch: (batch, *IMAGE)),
    "gpt2_block": (lambda: TransformerBlock(768, 12, True, "tanh"), lambda batch: (batch, 256, 768)),
    "lstm": (Lstm, lambda batch: (64, batch, 256)),
    "vit_tiny": (VitTiny, lambda batch: (batch, *IMAGE)),
}


def export(name, batch, folder):
    path = Path(folder) / f"{name}_b{batch}.onnx"
    if path.exists():
        return path
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make().eval()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    old_exporter = {"dynamo": False} if torch.__version__ >= "2.5" else {}
    torch.onnx.export(model, (torch.randn(shape(batch)),), str(part), opset_version=17, **old_exporter)
    part.replace(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}; all when none is given")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in MODELS]
    if unknown:
        parser.error(f"no model '{unknown[0]}'; there are {', '.join(MODELS)}")
    for name in given.names or MODELS:
        for batch in given.batch:
            path = export(name, batch, given.folder)
            print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
