#!/usr/bin/env python3
"""What CUPTI and PM sampling do to a program while nothing is traced, on a real GPU.

    cupti_presence.py [--cupti libcupti.so.13] [--probe build/release/bin/metric_set_cost]
                      [--first sampling|cupti]

One process replays a CUDA graph of a decode step, waits for it, and launches small kernels one by
one. Both are timed before anything, after CUPTI was subscribed to with nothing switched on, after
kernels were recorded for a moment and no longer are (which is what stays when a tool has gone to
sleep), and after another process has sampled the GPU's counters for a moment and ended. Prints
medians. Exits with 77 where there is no GPU or no torch.
"""

import argparse
import ctypes
import importlib.util
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

SKIPPED = 77
BUFFER_BYTES = 4 << 20
CONCURRENT_KERNEL = 10
WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"
LAUNCHES = 200


class Program:
    """The decode step as a graph, and a small kernel."""

    def __init__(self):
        import gpt_decode
        import torch
        self.torch = torch
        self.decode = gpt_decode.GptDecode(
            argparse.Namespace(layers=12, batch=16, mode="graph"))
        self.small = torch.zeros(1, device="cuda")

    def replay(self):
        begin = time.perf_counter()
        self.decode.step()
        launched = time.perf_counter()
        self.torch.cuda.synchronize()
        return launched - begin, time.perf_counter() - begin

    def launch(self):
        """Of one launch among many, for the launching thread."""
        begin = time.perf_counter()
        for _ in range(LAUNCHES):
            self.small.add_(1)
        launched = time.perf_counter()
        self.torch.cuda.synchronize()
        return (launched - begin) / LAUNCHES

    def measure(self, what, seconds):
        end = time.perf_counter() + seconds
        replays, launches = [], []
        while time.perf_counter() < end:
            replays += [self.replay() for _ in range(50)]
            launches.append(self.launch())
        graph, step = (statistics.median(column) * 1e6 for column in zip(*replays))
        print(f"| {what} | {graph:.1f} | {step:.1f} | {statistics.median(launches) * 1e6:.2f} |"
              f" {len(replays)} |", flush=True)


class Cupti:

    def __init__(self, name):
        self.library = ctypes.CDLL(name)
        self.subscriber = ctypes.c_void_p()
        self.buffers, self.callbacks, self.recorded_bytes = [], (), 0
        self.callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint,
                                         ctypes.c_void_p)(lambda *_: None)

    def subscribe(self):
        self._check(self.library.cuptiSubscribe(ctypes.byref(self.subscriber), self.callback, None))

    def unsubscribe(self):
        self._check(self.library.cuptiUnsubscribe(self.subscriber))

    def version(self):
        version = ctypes.c_uint32()
        self._check(self.library.cuptiGetVersion(ctypes.byref(version)))
        return version.value

    def record(self, work):
        """Records the kernels of `work` and drops the records."""
        self._check(self.library.cuptiActivityRegisterCallbacks(*self._buffer_callbacks()))
        self._check(self.library.cuptiActivityEnable(CONCURRENT_KERNEL))
        work()
        self._check(self.library.cuptiActivityDisable(CONCURRENT_KERNEL))
        self._check(self.library.cuptiActivityFlushAll(0))
        if not self.recorded_bytes:
            raise RuntimeError("CUPTI recorded no kernel")

    def _buffer_callbacks(self):
        pointer, size = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)

        def requested(buffer, bytes_, most_records):
            memory = ctypes.create_string_buffer(BUFFER_BYTES)
            self.buffers.append(memory)
            buffer[0], bytes_[0], most_records[0] = ctypes.addressof(memory), BUFFER_BYTES, 0

        def completed(_, __, ___, ____, valid_bytes):
            self.recorded_bytes += valid_bytes

        self.callbacks = (
            ctypes.CFUNCTYPE(None, pointer, size, size)(requested),
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p,
                             ctypes.c_size_t, ctypes.c_size_t)(completed))
        return self.callbacks

    @staticmethod
    def _check(status):
        if status != 0:
            raise RuntimeError(f"CUPTI says {status}")


def sample_from_outside(probe):
    subprocess.run([probe, "--windows", "3", "dram__bytes_read.sum"], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cupti", default="libcupti.so.13")
    parser.add_argument("--probe", default="build/release/bin/metric_set_cost")
    parser.add_argument("--first", choices=("sampling", "cupti"), default="cupti")
    parser.add_argument("--seconds", type=float, default=1.0, help="a row")
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    sys.path.insert(0, str(WORKLOADS))
    program = Program()
    for _ in range(100):
        program.replay()
    print("| then | launch of the graph, µs | with the wait for it, µs | launch of a kernel, µs |"
          " replays |\n| --- | --- | --- | --- | --- |")

    def measure(what):
        program.measure(what, arguments.seconds)

    def attach():
        cupti = Cupti(arguments.cupti)
        cupti.subscribe()
        measure(f"CUPTI {cupti.version()} subscribed to")
        cupti.unsubscribe()
        measure("unsubscribed")
        cupti.record(lambda: [program.replay() for _ in range(50)])
        measure("kernels were recorded")

    def sample():
        sample_from_outside(arguments.probe)
        measure("counters were sampled")

    measure("at first")
    measure("again")
    for act in (sample, attach) if arguments.first == "sampling" else (attach, sample):
        act()
    measure("again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
