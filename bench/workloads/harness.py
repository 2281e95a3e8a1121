"""Runs one PyTorch workload and prints one line of JSON about it, the last line of its output.

Every workload is the same program with and without a profiler: `--count-with-torch-profiler`
repeats exactly the same work under torch.profiler (CUDA activity alone, from before the first
kernel to after the last) and adds the launches by name, so that another profiler's counts can be
compared number by number.
"""

import argparse
import collections
import contextlib
import json
import os
import statistics
import tempfile
import time

import torch


class Workload:
    """What a script hands to `run`: one step, and what is known about it beforehand."""

    def step(self):
        """Does one step and returns nothing; may leave work in flight."""
        raise NotImplementedError

    def output(self):
        """A few numbers that must not depend on being profiled."""
        return {}

    def expected(self, steps):
        """What is known without measuring, for `steps` steps (warm-up included)."""
        return {}


def parse_arguments(description, add_arguments=None, steps=20, warmup=3):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps, help="steps after the warm-up")
    parser.add_argument("--warmup", type=int, default=warmup, help="steps that are not timed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nvtx", action="store_true", help="an NVTX range around every step")
    parser.add_argument("--mark-last-step", action="store_true",
                        help="bracket it with cudaProfilerStart and Stop, for Nsight Compute")
    parser.add_argument("--expect", action="store_true", help="also print what is known beforehand")
    parser.add_argument("--count-with-torch-profiler", action="store_true",
                        help="do the same work under torch.profiler and print its counts by name")
    if add_arguments:
        add_arguments(parser)
    return parser.parse_args()


def run(name, arguments, build):
    """Builds the workload, steps it, prints the JSON. `build(arguments)` returns a Workload."""
    torch.cuda.init()
    torch.manual_seed(arguments.seed)
    result = {"workload": name, "pid": os.getpid(), "device": torch.cuda.get_device_name(),
              "torch": torch.__version__, "steps": arguments.steps, "warmup": arguments.warmup}
    with counting(arguments.count_with_torch_profiler) as counts:
        workload = build(arguments)
        for _ in range(arguments.warmup):
            workload.step()
        torch.cuda.synchronize()
        durations_ms = _timed_steps(workload, arguments)
        result["output"] = workload.output()
        torch.cuda.synchronize()
    if durations_ms:
        result["step_ms_median"] = round(statistics.median(durations_ms), 4)
        result["step_ms"] = [round(value, 4) for value in durations_ms]
    if arguments.expect:
        result["expected"] = workload.expected(arguments.steps + arguments.warmup)
    if counts:
        result["counts"] = counts
    print(json.dumps(result), flush=True)


def _timed_steps(workload, arguments):
    durations_ms = []
    for index in range(arguments.steps):
        marked = arguments.mark_last_step and index == arguments.steps - 1
        if marked:
            torch.cuda.profiler.start()
        begin = time.perf_counter()
        if arguments.nvtx:
            torch.cuda.nvtx.range_push(f"step {index}")
        workload.step()
        torch.cuda.synchronize()
        if arguments.nvtx:
            torch.cuda.nvtx.range_pop()
        durations_ms.append((time.perf_counter() - begin) * 1e3)
        if marked:
            torch.cuda.profiler.stop()
    return durations_ms


@contextlib.contextmanager
def counting(enabled):
    """Yields a dict that holds the launches of the block once the block has ended."""
    counts = {}
    if not enabled:
        yield counts
        return
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        yield counts
        torch.cuda.synchronize()
    counts.update(counts_of_profile(profiler))


def counts_of_profile(profiler):
    """Launches, copies and sets by name, read from the trace that torch.profiler exports."""
    kernels = collections.Counter()
    copies = collections.Counter()
    copied_bytes = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8", errors="replace") as file:
            events = json.load(file)["traceEvents"]
    for event in events:
        category = event.get("cat")
        if category == "kernel":
            kernels[event["name"]] += 1
        elif category in ("gpu_memcpy", "gpu_memset"):
            copies[event["name"]] += 1
            copied_bytes[event["name"]] += int(event.get("args", {}).get("bytes", 0))
    return {"kernel_launches": sum(kernels.values()), "kernels": dict(kernels),
            "copies": dict(copies), "copied_bytes": dict(copied_bytes)}
