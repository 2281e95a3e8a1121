"""Steps of a model of which a compiler generated a part, on the fake GPU.

    compiled_model.py STEPS FOLDER

Writes the generated files into FOLDER. UTLZ_TORCH_LIBRARY names the library that stands in for
libtorch_cpu.so.
"""
import ctypes
import importlib.util
import json
import os
import pathlib
import sys

ctypes.CDLL(os.environ["UTLZ_TORCH_LIBRARY"])  # before CUDA is there, as PyTorch's

import torch  # pylint: disable=wrong-import-position
from torch.autograd.tape import Node, Tape  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position

DIGITS = "5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3mjkapuhz"
FORWARD = """
from torch.nn.functional import Kernel, Library as extern_kernels

# Topologically Sorted Source Nodes: [x, norm], Original ATen: [aten.add, aten.native_layer_norm]
triton_per_fused_add_native_layer_norm_0 = Kernel("norm")


class Runner:
    def call(self):
        # Topologically Sorted Source Nodes: [x, norm], Original ATen: [aten.native_layer_norm, aten.add]
        stream0 = None
        triton_per_fused_add_native_layer_norm_0.run()
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.view, aten.t, aten.mm]
        extern_kernels.mm()
        del stream0
        extern_kernels.mm()


call = Runner().call
"""
BACKWARD = """
from torch.nn.functional import Kernel, Library as extern_kernels

triton_per_fused_native_layer_norm_backward_0 = Kernel("gradient")


def call():
    # Unsorted Source Nodes: [norm], Original ATen: [aten.native_layer_norm_backward]
    # [Provenance debug handles] triton_per_fused_native_layer_norm_backward_0:1
    stream0 = None
    triton_per_fused_native_layer_norm_backward_0.run()
    # Unsorted Source Nodes: [], Original ATen: [aten.mm]
    extern_kernels.mm()
"""


def load(folder, begin, text):
    path = pathlib.Path(folder) / begin / f"c{begin}{DIGITS}.py"
    path.parent.mkdir()
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Linear(torch.nn.Module):

    def forward(self, tape):
        tape.operate("relu", "head")
        return tape


class Model(torch.nn.Module):

    def __init__(self, forward, backward):
        super().__init__()
        self.code = forward, backward
        self.head = Linear()

    def forward(self, tape):
        node = Node()
        self.code[0].call()
        tape.steps.append(lambda: node.evaluate(self.code[1].call))
        return self.head(tape)


def main():
    folder = sys.argv[2]
    model = Model(load(folder, "yj", FORWARD), load(folder, "yk", BACKWARD))
    steps = int(sys.argv[1])
    for _ in range(steps):
        tape = Tape()
        model(tape)
        tape.backward()
        functional.gpu.synchronize()
    print(json.dumps({"launches": functional.gpu.launches, "kernels": {}, "steps": steps}))


main()
