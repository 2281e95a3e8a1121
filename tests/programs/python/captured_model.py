"""A model whose steps are captured into CUDA graphs and replayed, on the fake GPU.

    captured_model.py STEPS REPLAYS [before|during|after|TIMES]
    captured_model.py told

STEPS are run without a graph first. The last argument has another client of CUPTI in the process,
which subscribes to its callbacks before the capture, during it or after it, and keeps that; or it
says how many times the steps are captured and replayed.
UTLZ_CAPTURES_LIBRARY names the library that captures. Prints what each kernel was launched or
captured for, in the order in which they run, and when it captured.

`told` does what lines of standard input say, and answers each with what was launched: steps, capture
(which replays the graph ever after), replay, endless (which launches until it is killed) or quit.
"""
import ctypes
import json
import os
import sys
import time

captures = ctypes.CDLL(os.environ["UTLZ_CAPTURES_LIBRARY"])  # before CUDA is there, as PyTorch's

import torch  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position


class Linear(torch.nn.Module):

    def forward(self, value):
        functional.launch("gemm", self.path)
        return value


class Block(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.attn = Linear()
        self.mlp = torch.nn.Sequential(Linear(), Linear())

    def forward(self, value):
        functional.launch("norm", self.path)
        return self.mlp(self.attn(value))


class Model(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(2))
        self.head = Linear()

    def forward(self, value):
        functional.launch("embed", self.path)
        for block in self.blocks:
            value = block(value)
        return self.head(value)


def name_modules(module, path):
    module.path = path or type(module).__name__
    for name, inner in module._modules.items():
        name_modules(inner, f"{path}.{name}" if path else name)


def subscribe():
    subscriber = ctypes.c_void_p()
    functional.gpu.check(captures.captures_subscribe(ctypes.byref(subscriber)))
    return subscriber


def capture(model, client):
    """The graph, and the other client's subscription."""
    subscriber = subscribe() if client == "before" else None
    graph = functional.Graph(captures)
    graph.begin()
    model(0)
    if client == "during":
        subscriber = subscribe()
    model(0)
    graph.end()
    return graph, subscribe() if client == "after" else subscriber


def launch_endlessly(model):
    print("{}", flush=True)
    while True:
        model(0)
        functional.gpu.synchronize()
        functional.in_order.clear()


def do_as_told(model):
    graph = None
    print("{}", flush=True)
    for line in sys.stdin:
        functional.in_order.clear()
        if line == "quit\n":
            break
        if line == "endless\n":
            launch_endlessly(model)
        if line == "capture\n":
            graph, _ = capture(model, "")
        for _ in range(20):
            if line == "steps\n":
                model(0)
            if line == "replay\n":
                graph.replay()
            functional.gpu.synchronize()
        time.sleep(0.1)
        print(json.dumps({"launched": functional.in_order}), flush=True)


def main():
    if sys.argv[1] == "told":
        model = Model()
        name_modules(model, "")
        do_as_told(model)
        return
    steps, replays = int(sys.argv[1]), int(sys.argv[2])
    client = sys.argv[3] if len(sys.argv) > 3 else "1"
    times = int(client) if client.isdigit() else 1
    model = Model()
    name_modules(model, "")
    for _ in range(steps):
        model(0)
        functional.gpu.synchronize()
    time.sleep(0.1)  # the agent names what it saw every few milliseconds
    eager, captured_at_ns = list(functional.in_order), []
    for _ in range(times):
        functional.in_order.clear()
        captured_at_ns.append([time.time_ns()])
        graph, subscriber = capture(model, client)
        captured_at_ns[-1].append(time.time_ns())
        for _ in range(replays):
            time.sleep(0.002)  # the GPU is idle before a replay
            graph.replay()
            functional.gpu.synchronize()
    if subscriber is not None:
        functional.gpu.check(captures.captures_unsubscribe(subscriber))
    captured = functional.in_order
    print(json.dumps({"launches": len(eager) + times * replays * len(captured), "kernels": {},
                      "eager": eager, "captured": captured, "replays": replays,
                      "captured_at_ns": captured_at_ns}))


main()
