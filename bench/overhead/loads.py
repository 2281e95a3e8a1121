"""The loads whose slowdown is measured. Each is a function that does one step and waits for it."""

import argparse
import ctypes
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "workloads"))


def _training():
    import torch
    from gpt_train import GptTraining
    training = GptTraining(argparse.Namespace(layers=12, batch=8, compile=False))

    def step():
        training.step()
        torch.cuda.synchronize()
    return step


def _decoding(mode):
    import torch
    from gpt_decode import GptDecode
    decoding = GptDecode(argparse.Namespace(layers=12, batch=16, mode=mode))

    def step():
        decoding.step()
        torch.cuda.synchronize()
    return step


def _native(library, function, count):
    function = getattr(ctypes.CDLL(library), function)

    def step():
        status = function(count)
        if status != 0:
            raise RuntimeError(f"CUDA error {status} in {library}")
    return step


# Launches of one step, where the load knows them: for costs per launch.
LOADS = ("train", "decode", "graph", "storm", "threads", "graphs")
LAUNCHES = {"storm": 10000, "threads": 8 * 8 * 200, "graphs": 20 * 64 * 4}


def make_load(name, native_library):
    if name == "train":
        return _training()
    if name in ("decode", "graph"):
        return _decoding("eager" if name == "decode" else "graph")
    function, count = {"storm": ("LaunchStorm", 10000), "threads": ("LaunchFromThreads", 200),
                       "graphs": ("LaunchSmallGraphs", 20)}[name]
    return _native(native_library, function, count)
