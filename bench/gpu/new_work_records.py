#!/usr/bin/env python3
"""What CUPTI tells of kernels that did not run before, and what it costs to be told, on a real GPU.

    new_work_records.py show [--late] [--cupti libcupti.so.13]
    new_work_records.py cost [--pairs 40] [--cupti libcupti.so.13]

Two kinds of records, as the agent has them (inject/record/first_launch_watch.h): CUPTI's overhead, of which the loading
of a kernel for its first launch is a sort, and calls that load modules or make graphs, chosen one by one.
`show` does what brings new kernels into a PyTorch program, one thing after another, each of them twice,
and prints the records of it; with --late it chooses the calls when CUDA is up. `cost` times launches of
small kernels and replays of a decode step's graph in pairs of windows without and with both, after
kernels had been recorded for a moment, as in a gap between two windows of the agent. Exits with 77 where
there is no GPU or no torch.
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
DRIVER, RUNTIME, OVERHEAD = 4, 5, 17  # CUpti_ActivityKind
DOMAINS = {DRIVER: 1, RUNTIME: 2}  # CUpti_CallbackDomain
LOADS = {4 << 16: "module loaded", 5 << 16: "kernel loaded"}  # CUpti_ActivityOverheadKind
HEADER = pathlib.Path(__file__).resolve().parents[2] / "inject" / "cupti_abi.h"


def api_record_filter():
    """As the agent has them: numbers of functions, by kind."""
    text = HEADER.read_text(encoding="utf-8")

    def numbers(name):
        return [int(number) for number in
                re.search(name + r"\[\] = \{([^}]*)\}", text).group(1).split(",")]

    return {DRIVER: numbers("kDriverNewWorkCalls"), RUNTIME: numbers("kRuntimeNewWorkCalls")}


class NewWork(Cupti):
    """Records what is new, and counts it by name."""

    def __init__(self, name):
        super().__init__(name)
        self.seen = collections.Counter()
        self._check(self.library.cuptiActivityRegisterCallbacks(*self._buffer_callbacks()))
        self.subscribe()
        self.unsubscribe()

    def choose_calls(self, on):
        for kind, functions in api_record_filter().items():
            enable = (self.library.cuptiActivityEnableDriverApi if kind == DRIVER else
                      self.library.cuptiActivityEnableRuntimeApi)
            for function in functions:
                self._check(enable(function, ctypes.c_uint8(on)))

    def record_loads(self, on):
        """Of the context that is current."""
        context = ctypes.c_void_p()
        self._check(ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context)))
        switch = (self.library.cuptiActivityEnableContext if on else
                  self.library.cuptiActivityDisableContext)
        self._check(switch(context, OVERHEAD))

    def take(self):
        """What was recorded since the last time."""
        self._check(self.library.cuptiActivityFlushAll(1))
        seen, self.seen = self.seen, collections.Counter()
        return seen

    def _name(self, kind, what):
        if kind == OVERHEAD:
            return LOADS.get(what)
        name = ctypes.c_char_p()
        self.library.cuptiGetCallbackName(DOMAINS[kind], what, ctypes.byref(name))
        return name.value.decode() if name.value else f"function {what}"

    def _buffer_callbacks(self):
        requested, _ = super()._buffer_callbacks()

        def completed(_, __, buffer, ___, valid_bytes):
            self.recorded_bytes += valid_bytes
            record = ctypes.c_void_p()
            while self.library.cuptiActivityGetNextRecord(
                    ctypes.c_void_p(buffer), ctypes.c_size_t(valid_bytes),
                    ctypes.byref(record)) == 0:
                # Of both: what kind of record, and of which function or overhead.
                kind, what = (ctypes.c_uint32 * 2).from_address(record.value)
                if kind in (*DOMAINS, OVERHEAD) and (name := self._name(kind, what)):
                    self.seen[name] += 1

        self.callbacks = (requested, ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
            ctypes.c_size_t)(completed))
        return self.callbacks


def things(torch):
    """What brings new kernels, by name."""
    x = torch.rand(256, 256, device="cuda")
    double = x.double()
    yield "nothing new (add)", lambda: x.add_(1)
    yield "another operation of PyTorch (sort)", x.sort
    yield "compiled at run time (bessel_j0)", lambda: torch.special.bessel_j0(x)
    yield "first product, float", lambda: x @ x
    yield "first product, double", lambda: double @ double
    yield "a convolution", lambda: torch.nn.functional.conv2d(
        x[None, None], torch.ones(8, 1, 3, 3, device="cuda"))
    yield "torch.compile", torch.compile(lambda: (x * 2 + 1).relu().sum())
    if importlib.util.find_spec("cupy"):
        import cupy
        module = cupy.RawModule(code="".join(
            f'extern "C" __global__ void {name}(float* x) {{ x[threadIdx.x] *= 2; }}\n'
            for name in ("first", "second")))
        memory = cupy.ones(32, dtype=cupy.float32)
        for name in ("first", "second"):
            yield f"CuPy: the {name} kernel of a module", lambda name=name: module.get_function(
                name)((1,), (32,), (memory,))

    def capture():
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            x.add_(1)
        graph.replay()

    yield "a graph of a known kernel", capture


def show(arguments):
    import torch
    new_work = NewWork(arguments.cupti)
    if not arguments.late:
        new_work.choose_calls(True)
    torch.zeros(1, device="cuda")
    if arguments.late:
        new_work.choose_calls(True)
    new_work.record_loads(True)
    print("| then | the first time | the second time |\n| --- | --- | --- |")
    for name, act in things(torch):
        columns = []
        for _ in range(2):
            new_work.take()
            act()
            torch.cuda.synchronize()
            columns.append(", ".join(f"{what} {count}" if count > 1 else what
                                     for what, count in sorted(new_work.take().items())) or "none")
        print(f"| {name} | {columns[0]} | {columns[1]} |", flush=True)


def cost(arguments):
    new_work = NewWork(arguments.cupti)
    new_work.choose_calls(True)
    sys.path.insert(0, str(WORKLOADS))
    program = Program()
    for _ in range(100):
        program.replay()
    new_work.choose_calls(False)
    new_work.record(lambda: [program.replay() for _ in range(50)])
    switches, windows = [], {False: [], True: []}
    for index in range(2 * arguments.pairs):
        on = (index % 2 == 1) != (index // 2 % 2 == 1)  # off, on, on, off
        begin = time.perf_counter()
        new_work.choose_calls(on)
        new_work.record_loads(on)
        switches.append(time.perf_counter() - begin)
        replays = [program.replay()[1] for _ in range(100)]
        launches = [program.launch() for _ in range(40)]
        windows[on].append((statistics.median(replays), statistics.median(launches)))
    new_work.choose_calls(True)
    new_work.record_loads(True)
    new_work.take()
    program.torch.special.bessel_j1(program.small)
    print(f"CUPTI {new_work.version()}; switched in {statistics.median(switches) * 1e6:.0f} µs, at most "
          f"{max(switches) * 1e6:.0f}; at the end an operation compiled at run time gave: "
          f"{dict(new_work.take()) or 'no record'}")
    for column, what in enumerate(("a replay with the wait for it", "a launch")):
        without = [window[column] for window in windows[False]]
        with_it = [window[column] for window in windows[True]]
        changes = sorted(100 * (after / before - 1) for before, after in zip(without, with_it))
        quarter = len(changes) // 4
        print(f"{what}: {statistics.median(without) * 1e6:.2f} µs without, "
              f"{statistics.median(with_it) * 1e6:.2f} with: {statistics.median(changes):+.2f} % "
              f"(half of {len(changes)} pairs: {changes[quarter]:+.2f} … {changes[-1 - quarter]:+.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("show", "cost"))
    parser.add_argument("--late", action="store_true", help="choose calls when CUDA is up")
    parser.add_argument("--cupti", default="libcupti.so.13")
    parser.add_argument("--pairs", type=int, default=40)
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    {"show": show, "cost": cost}[arguments.what](arguments)
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
