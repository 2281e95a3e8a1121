#!/usr/bin/env python3
"""Measures what a sample of a waiting thread's Python frames costs the thread that takes it.

    thread_samples.py build/release/lib/libpython_frames_probe.so [--frames 30]

In the interpreter that runs this. Needs no GPU. Processor time of the sampling thread, without the
lock of Python: median of rounds, with the least and the most.
"""
import argparse
import ctypes
import statistics
import sys
import threading
import time

STACK_BYTES = 16 + 64 * 24  # of PythonStack


def measure(probe, samples, rounds):
    """Nanoseconds a sample, by round."""
    stack = ctypes.create_string_buffer(STACK_BYTES)
    nobody = ctypes.c_uint64(8)  # no code object: all samples are taken
    for _ in range(rounds):
        begin_ns = time.thread_time_ns()
        probe.frames_probe_sample(nobody, samples, stack)
        yield (time.thread_time_ns() - begin_ns) / samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    probe = ctypes.CDLL(arguments.library)
    if probe.frames_probe_open(0) != 0:
        raise SystemExit("thread_samples: this interpreter's frames cannot be read")
    waits, ends = threading.Event(), threading.Event()

    def launches(depth):
        if depth > 1:
            return launches(depth - 1)
        probe.frames_probe_walk(ctypes.byref(ctypes.c_int()))
        waits.set()
        return ends.wait()

    thread = threading.Thread(target=launches, args=(arguments.frames,))
    thread.start()
    waits.wait()
    costs_ns = sorted(measure(probe, arguments.samples, arguments.rounds))
    ends.set()
    thread.join()
    print(f"Python {sys.version.split()[0]}, {arguments.frames} calls deep: "
          f"{statistics.median(costs_ns) / 1000:.1f} µs a sample "
          f"({costs_ns[0] / 1000:.1f} – {costs_ns[-1] / 1000:.1f})")


main()
