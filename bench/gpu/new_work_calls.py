#!/usr/bin/env python3
"""Which calls of the driver and the runtime announce new kernels, and what it costs to record them.

    new_work_calls.py show [--watch chosen|all] [--cupti libcupti.so.13]
    new_work_calls.py cost [--pairs 20] [--cupti libcupti.so.13]

`show` does what brings new kernels into a PyTorch program, one thing after another, each of them twice,
and prints the records that CUPTI gave of it: of the calls that the agent chooses for --new-work
(inject/cupti_abi.h), or of all calls. `cost` times launches of small kernels and replays of a decode
step's graph, in pairs of windows without and with the chosen calls, after kernels had been recorded
for a moment, as in a gap between two windows of the agent. Exits with 77 where there is no GPU or no
torch.
"""

import argparse
import collections
import ctypes
import importlib.util
import pathlib
import re
import shutil
import statistics
import sys
import time

from cupti_presence import WORKLOADS, Cupti, Program

SKIPPED = 77
DRIVER, RUNTIME = 4, 5  # CUpti_ActivityKind
DOMAINS = {DRIVER: 1, RUNTIME: 2}  # CUpti_CallbackDomain
HEADER = pathlib.Path(__file__).resolve().parents[2] / "inject" / "cupti_abi.h"


class ApiRecord(ctypes.Structure):
    """CUpti_ActivityAPI."""

    _fields_ = [("kind", ctypes.c_uint32), ("function", ctypes.c_uint32),
                ("start", ctypes.c_uint64), ("end", ctypes.c_uint64),
                ("process", ctypes.c_uint32), ("thread", ctypes.c_uint32),
                ("correlation", ctypes.c_uint32), ("result", ctypes.c_uint32)]


def chosen_calls():
    """As the agent has them: numbers of functions, by kind."""
    text = HEADER.read_text(encoding="utf-8")

    def numbers(name):
        return [int(number) for number in
                re.search(name + r"\[\] = \{([^}]*)\}", text).group(1).split(",")]

    return {DRIVER: numbers("kDriverNewWorkCalls"), RUNTIME: numbers("kRuntimeNewWorkCalls")}


class Calls(Cupti):
    """Records calls and counts them by name."""

    def __init__(self, name):
        super().__init__(name)
        self.seen = collections.Counter()
        self._check(self.library.cuptiActivityRegisterCallbacks(*self._buffer_callbacks()))

    def choose(self, on):
        """Returns how long the switches took, in seconds."""
        begin = time.perf_counter()
        for kind, functions in chosen_calls().items():
            enable = (self.library.cuptiActivityEnableDriverApi if kind == DRIVER else
                      self.library.cuptiActivityEnableRuntimeApi)
            for function in functions:
                if status := enable(function, ctypes.c_uint8(on)):
                    print(f"not chosen: {self.name_of(kind, function)}, CUPTI says {status}")
        return time.perf_counter() - begin

    def record_all(self):
        for kind in (DRIVER, RUNTIME):
            self._check(self.library.cuptiActivityEnable(kind))

    def take(self):
        """What was recorded since the last time, by name."""
        self._check(self.library.cuptiActivityFlushAll(1))
        seen, self.seen = self.seen, collections.Counter()
        return seen

    def name_of(self, kind, function):
        name = ctypes.c_char_p()
        self.library.cuptiGetCallbackName(DOMAINS[kind], function, ctypes.byref(name))
        return name.value.decode() if name.value else f"{kind}:{function}"

    def _buffer_callbacks(self):
        requested, _ = super()._buffer_callbacks()

        def completed(_, __, buffer, ___, valid_bytes):
            self.recorded_bytes += valid_bytes
            record = ctypes.c_void_p()
            while self.library.cuptiActivityGetNextRecord(
                    ctypes.c_void_p(buffer), ctypes.c_size_t(valid_bytes),
                    ctypes.byref(record)) == 0:
                call = ApiRecord.from_address(record.value)
                if call.kind in DOMAINS:
                    self.seen[self.name_of(call.kind, call.function)] += 1

        self.callbacks = (requested, ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
            ctypes.c_size_t)(completed))
        return self.callbacks


def things(torch):
    """What brings new kernels, by name."""
    x = torch.rand(256, 256, device="cuda")
    half, double = x.bfloat16(), x.double()
    yield "nothing new (add)", lambda: x.add_(1)
    yield "another kernel of PyTorch (erfinv)", x.erfinv
    yield "another kernel of PyTorch (sort)", x.sort
    yield "compiled at run time (bessel_j0)", lambda: torch.special.bessel_j0(x)
    yield "first product, float", lambda: x @ x
    yield "first product, bfloat16", lambda: half @ half
    yield "first product, double", lambda: double @ double
    yield "a convolution", lambda: torch.nn.functional.conv2d(
        x[None, None], torch.ones(8, 1, 3, 3, device="cuda"))
    yield "an FFT", lambda: torch.fft.fft(x)
    yield "a solver", lambda: torch.linalg.cholesky(x @ x.T + 1000 * torch.eye(256, device="cuda"))
    yield "torch.compile", torch.compile(lambda: (x * 2 + 1).relu().sum())
    if importlib.util.find_spec("cupy"):
        import cupy
        kernel = cupy.RawKernel(r'extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= 2; }',
                                "scale")
        memory = cupy.ones(32, dtype=cupy.float32)
        yield "CuPy, compiled at run time", lambda: kernel((1,), (32,), (memory,))

    def capture():
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(10):
                x.add_(1)
        graph.replay()

    yield "a graph captured, made and replayed", capture


def show(arguments):
    import torch
    torch.zeros(1, device="cuda")
    calls = Calls(arguments.cupti)
    if arguments.watch == "all":
        calls.record_all()
    else:
        print(f"{calls.choose(True) * 1e6:.0f} µs to choose them")
    print("| then | the first time | the second time |\n| --- | --- | --- |")
    for name, act in things(torch):
        columns = []
        for _ in range(2):
            calls.take()
            act()
            torch.cuda.synchronize()
            columns.append(", ".join(f"{call} {count}" if count > 1 else call
                                     for call, count in sorted(calls.take().items())) or "none")
        print(f"| {name} | {columns[0]} | {columns[1]} |", flush=True)


def median_and_spread(changes):
    changes = sorted(changes)
    edge = max(0, round(len(changes) * 0.1))
    return (f"{statistics.median(changes):+.2f} % (tenth to nine tenths {changes[edge]:+.2f} … "
            f"{changes[-1 - edge]:+.2f})")


def cost(arguments):
    sys.path.insert(0, str(WORKLOADS))
    program = Program()
    for _ in range(100):
        program.replay()
    calls = Calls(arguments.cupti)
    calls.record(lambda: [program.replay() for _ in range(50)])
    switches, windows = [], {False: [], True: []}
    for index in range(2 * arguments.pairs):
        on = (index % 2 == 1) != (index // 2 % 2 == 1)  # off, on, on, off
        switches.append(calls.choose(on))
        end = time.perf_counter() + arguments.seconds
        replays, launches = [], []
        while time.perf_counter() < end:
            replays += [program.replay()[1] for _ in range(50)]
            launches.append(program.launch())
        windows[on].append((statistics.median(replays), statistics.median(launches)))
    calls.choose(True)
    program.torch.special.bessel_j1(program.small)
    seen = calls.take()
    print(f"CUPTI {calls.version()}; all of them switched in {statistics.median(switches) * 1e6:.0f} µs,"
          f" at most {max(switches) * 1e6:.0f}; at the end, as a proof, an operation compiled at run time"
          f" gave: {dict(seen) or 'no record'}")
    for column, what in enumerate(("a replay with the wait for it", "a launch")):
        off = [window[column] for window in windows[False]]
        on = [window[column] for window in windows[True]]
        changes = [100 * (with_ / without - 1) for without, with_ in zip(off, on)]
        print(f"{what}: {statistics.median(off) * 1e6:.2f} µs without, "
              f"{statistics.median(on) * 1e6:.2f} with: {median_and_spread(changes)}, "
              f"{len(changes)} pairs")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("show", "cost"))
    parser.add_argument("--watch", choices=("chosen", "all"), default="chosen")
    parser.add_argument("--cupti", default="libcupti.so.13")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5, help="a window of `cost`")
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    {"show": show, "cost": cost}[arguments.what](arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
