"""Decodes without end, and every few seconds begins something that was not there before.

Each of these things runs about once in 20 ms for a moment and never again, and has a kernel or a
graph of its own. Prints what began when and ended when, in ns of CLOCK_REALTIME.
"""

import argparse
import json
import os
import time

import torch
import triton
import triton.language as tl

from gpt_decode import GptDecode

DEVICE = "cuda"


@triton.jit
def utlz_new_triton(values, block: tl.constexpr):
    offsets = tl.arange(0, block)
    tl.store(values + offsets, tl.load(values + offsets) * 2)


def things():
    """(name, a part of its kernel's name or None, what to prepare, which returns what to run)."""
    values = torch.rand(1024, device=DEVICE)
    matrix = torch.rand(512, 512, device=DEVICE)

    def graph():
        # Of a kernel that has run before, so that nothing is loaded.
        values.mul_(0.5)
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            for _ in range(7):
                values.mul_(0.5)
        return captured.replay

    yield "another operation of PyTorch", "DeviceScanKernel", lambda: lambda: values.cumprod(0)
    yield "one that it compiles at run time", "bessel_j0", lambda: lambda: torch.special.bessel_j0(
        values)
    yield "a product of another type", None, lambda: lambda: matrix.double() @ matrix.double()
    yield "a kernel of Triton", "utlz_new_triton", lambda: lambda: utlz_new_triton[(1,)](
        values, block=1024)
    yield "a graph of known kernels", None, graph


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("eager", "graph"), default="eager")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--quiet", type=float, default=8, help="seconds before the first")
    parser.add_argument("--pause", type=float, default=3.3, help="seconds from one to the next")
    parser.add_argument("--moment", type=float, default=1.5, help="seconds that each goes on for")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    decode = GptDecode(arguments)
    torch.ones(1024, device=DEVICE).mul_(0.5)

    def steps_for(seconds, also=None):
        end, count = time.monotonic() + seconds, 0
        next_also = time.monotonic()
        while time.monotonic() < end:
            decode.step()
            if also and time.monotonic() >= next_also:
                also()
                count += 1
                next_also += 0.02
            torch.cuda.synchronize()
        return count

    steps_for(0.5)
    print(json.dumps({"pid": os.getpid()}), flush=True)
    steps_for(arguments.quiet)
    begun = []
    for name, kernel, prepare in things():
        begin_ns = time.time_ns()
        act = prepare()
        count = steps_for(arguments.moment, act)
        begun.append({"name": name, "kernel": kernel, "begin_ns": begin_ns,
                      "end_ns": time.time_ns(), "count": count})
        steps_for(arguments.pause - arguments.moment)
    print(json.dumps({"begun": begun}), flush=True)


if __name__ == "__main__":
    main()
