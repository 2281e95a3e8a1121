"""Steps with a backward pass, of two models on two threads, on the fake GPU.

    autograd_model.py STEPS [STEPS_ALONE]

STEPS_ALONE: so often a part of a model is called by itself at first.
UTLZ_TORCH_LIBRARY names the library that stands in for libtorch_cpu.so. Prints what each kernel was
launched for, in the order of launches.
"""
import concurrent.futures
import ctypes
import json
import os
import sys

ctypes.CDLL(os.environ["UTLZ_TORCH_LIBRARY"])  # before CUDA is there, as PyTorch's

import torch  # pylint: disable=wrong-import-position
from torch.autograd.tape import Tape, expect, expected  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position


class Linear(torch.nn.Module):

    def forward(self, tape):
        tape.operate("gemm", self.path, has_weights=True)
        tape.view(self.path)
        tape.operate("relu", self.path)
        return tape


class Attention(torch.nn.Module):

    @staticmethod
    def backward():
        functional.gpu.launch("gradient")

    def forward(self, tape):
        tape.custom("embed", self.path, self.backward)
        return tape


class Block(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.norm = Linear()
        self.mlp = torch.nn.Sequential(Linear(), Linear())

    def forward(self, tape):
        tape.operate("norm", self.path)
        return self.mlp(self.norm(tape))


class Model(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.attention = Attention()
        self.second = Block()
        self.head = Linear()

    def forward(self, tape):
        tape.checkpoint(self.first)
        return self.head(self.second(self.attention(tape)))


class Other(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(Linear(), Linear(), Linear())

    def forward(self, tape):
        tape.operate("embed", self.path)
        return self.inner(tape)


def name_modules(module, path):
    module.path = path or type(module).__name__
    for name, inner in module._modules.items():
        name_modules(inner, f"{path}.{name}" if path else name)


def run_other(other):
    functional.gpu.use_on_this_thread()
    tape = Tape()
    other(tape)
    return tape


def main():
    model, other = Model(), Other()
    name_modules(model, "")
    name_modules(other, "")
    optimizer = torch.optim.Adam()
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 0):
        tape = Tape()
        other(tape)  # its backward pass runs no Python: by it the agent learns where nodes are
        tape.checkpoint(model.first)
        tape.backward()
        functional.gpu.synchronize()
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        for _ in range(int(sys.argv[1])):
            tape = Tape()
            model(tape)
            # Its nodes have the same numbers as those of this thread.
            other_tape = thread.submit(run_other, other).result()
            tape.backward()
            other_tape.backward()
            optimizer.step()
            expect("adam", "optimizer", None)
            functional.gpu.synchronize()
    print(json.dumps({"launches": functional.gpu.launches, "kernels": {}, "expected": expected}))


main()
