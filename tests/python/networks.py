"""Networks as people have them: a residual network and a transformer, small, after the papers' descriptions."""

import torch
import torch.nn.functional as F


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = torch.nn.BatchNorm2d(outputs)
        self.second = torch.nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = torch.nn.BatchNorm2d(outputs)
        self.shortcut = torch.nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = torch.nn.Sequential(
                torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False), torch.nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = torch.relu(self.first_norm(self.first(x)))
        return torch.relu(self.second_norm(self.second(y)) + self.shortcut(x))


class ResNet18(torch.nn.Module):
    """Four stages of two blocks; `width` channels in the first."""

    def __init__(self, width=64, classes=1000):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.norm = torch.nn.BatchNorm2d(width)
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        blocks = []
        for number in range(4):
            blocks += [Block(widths[number], widths[number + 1], 1 if number == 0 else 2)]
            blocks += [Block(widths[number + 1], widths[number + 1], 1)]
        self.blocks = torch.nn.Sequential(*blocks)
        self.head = torch.nn.Linear(8 * width, classes)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class Layer(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = torch.nn.LayerNorm(width)
        self.query_key_value = torch.nn.Linear(width, 3 * width)
        self.project = torch.nn.Linear(width, width)
        self.mlp_norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.query_key_value(self.attention_norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts[:, :, 0].transpose(1, 2), parts[:, :, 1].transpose(1, 2), parts[:, :, 2].transpose(1, 2)
        scores = torch.softmax(q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5, -1)
        x = x + self.project((scores @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Transformer(torch.nn.Module):
    def __init__(self, width=64, heads=4, layers=2):
        super().__init__()
        self.layers = torch.nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.layers(x))
