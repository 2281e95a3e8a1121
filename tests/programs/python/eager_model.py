"""Steps of a small model whose modules launch kernels on the fake GPU.

    eager_model.py STEPS [BLOCKS [LOAD_MS]]

Prints how many kernels each layer and each line launched.
"""
import json
import sys
import time

import torch
from torch.nn import functional


class Linear(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.path = None

    def forward(self, value):
        functional.launch("gemm", self.path)
        return value


class Relu(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.path = None

    def forward(self, value):
        functional.launch("relu", self.path)
        return value


class Block(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.path = None
        self.attn = Linear()
        self.mlp = torch.nn.Sequential(Linear(), Relu(), Linear())

    def forward(self, value):
        functional.launch("norm", self.path)
        value = self.attn(value)
        return self.mlp(value)


class Model(torch.nn.Module):

    def __init__(self, blocks):
        super().__init__()
        self.path = None
        self.blocks = torch.nn.ModuleList(Block() for _ in range(blocks))
        self.head = Linear()
        # A hook has the head's call go through the function that keeps its module in a cell.
        self.head.register_forward_hook(lambda module, inputs, output: None)

    def forward(self, value):
        functional.launch("embed", self.path)
        for block in self.blocks:
            value = block(value)
        return self.head(value)


def name_modules(module, path):
    module.path = path
    for name, inner in module._modules.items():
        name_modules(inner, f"{path}.{name}" if path else name)


def load_data(seconds):
    time.sleep(seconds)  # the GPU is idle meanwhile: that is what is to be seen


def main():
    steps = int(sys.argv[1])
    model = Model(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    load_s = (float(sys.argv[3]) if len(sys.argv) > 3 else 5) / 1e3
    name_modules(model, "")
    optimizer = torch.optim.Adam()
    for _ in range(steps):
        load_data(load_s)
        model(0)
        optimizer.step()
        functional.gpu.synchronize()
    print(json.dumps({"launches": functional.gpu.launches, "kernels": {}, "steps": steps,
                      "layers": functional.by_layer, "lines": functional.by_line}))


main()
