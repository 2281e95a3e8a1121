"""Measures one tool on one load in this process: pairs of windows without and with it, interleaved.

Prints one line of JSON. Which window of a pair comes first alternates, so that a drift of the
machine cancels. Usually started by overhead.py.
"""

import argparse
import ctypes
import json
import time

from loads import LAUNCHES, LOADS, make_load
from tools import NVTX_TOOLS, TOOLS, make_tool


def in_range(step):
    """The step in an NVTX range."""
    import torch

    def ranged():
        torch.cuda.nvtx.range_push("step")
        step()
        torch.cuda.nvtx.range_pop()
    return ranged


def steps_for(step, seconds):
    """How many steps fill a window, at the load's own speed."""
    begin = time.perf_counter()
    steps = 0
    while time.perf_counter() - begin < min(seconds, 1.0):
        step()
        steps += 1
    return max(1, round(steps * seconds / (time.perf_counter() - begin)))


def timed_window(step, steps):
    """Seconds a step."""
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - begin) / steps


def profiled_window(step, steps):
    """The same, in what a profiler that starts switched off is to see."""
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuProfilerStart()
    try:
        return timed_window(step, steps)
    finally:
        driver.cuProfilerStop()


def measured_with(tool, step, steps):
    tool.start()
    try:
        step()  # What a tool does once, on its first launch, is not its slowdown.
        return timed_window(step, steps)
    finally:
        tool.stop()


def measured_without(step, steps):
    step()
    return timed_window(step, steps)


def measure_pairs(tool, step, steps, pairs, deadline):
    """[[seconds a step without, with]…]; ends early at the deadline, never in a pair's middle."""
    measured = []
    for index in range(pairs):
        if time.monotonic() > deadline:
            break
        if index % 2 == 0:
            off = measured_without(step, steps)
            on = measured_with(tool, step, steps)
        else:
            on = measured_with(tool, step, steps)
            off = measured_without(step, steps)
        measured.append([off, on])
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", choices=LOADS, required=True)
    parser.add_argument("--tool", choices=TOOLS, required=True)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--window-seconds", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=240, help="begin no pair after this")
    parser.add_argument("--native-library", default="")
    parser.add_argument("--empty-cupti-library", default="")
    parser.add_argument("--utlz", default="utlz")
    parser.add_argument("--only-steps", action="store_true",
                        help="no tool and no pairs: one window, for tools that wrap a process")
    parser.add_argument("--most-steps", type=int, default=0, help="of that window; 0: any number")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    step = make_load(arguments.load, arguments.native_library)
    if arguments.tool in NVTX_TOOLS:
        step = in_range(step)
    for _ in range(3):
        step()
    steps = steps_for(step, arguments.window_seconds)
    result = {"load": arguments.load, "tool": arguments.tool, "steps_per_window": steps,
              "launches_per_step": LAUNCHES.get(arguments.load)}
    if arguments.only_steps:
        steps = min(steps, arguments.most_steps or steps)
        result["seconds_per_step"] = profiled_window(step, steps)
    else:
        tool = make_tool(arguments.tool, arguments.empty_cupti_library, arguments.utlz)
        # The first switch loads and allocates; no pair should hold that.
        measured_with(tool, step, 1)
        result["pairs"] = measure_pairs(tool, step, steps, arguments.pairs, deadline)
        result["proof"] = tool.proof()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
