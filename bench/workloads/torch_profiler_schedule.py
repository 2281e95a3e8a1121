"""Trains under torch.profiler with a schedule, as tutorials do, and checks each of its traces.

Run it alone, under a profiler, and with TEARDOWN_CUPTI=1 in the environment: the kernel count of
every window must be the same, and equal to (kernels of one step) × (active steps).
"""

import argparse
import json
import os
import sys

import torch

import harness
from gpt_train import GptTraining, add_arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--wait", type=int, default=3)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--active", type=int, default=5)
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument("--tail", type=int, default=100, help="steps after the last window")
    parser.add_argument("--expect-kernels-per-step", type=int,
                        help="fail unless every window holds this many a step")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    training = GptTraining(arguments)
    windows = []
    steps = arguments.windows * (arguments.wait + arguments.warmup + arguments.active)
    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU,
                        torch.profiler.ProfilerActivity.CUDA],
            schedule=torch.profiler.schedule(wait=arguments.wait, warmup=arguments.warmup,
                                             active=arguments.active, repeat=arguments.windows),
            on_trace_ready=lambda p: windows.append(harness.counts_of_profile(p))) as profiler:
        for _ in range(steps):
            training.step()
            torch.cuda.synchronize()
            profiler.step()
    for _ in range(arguments.tail):
        training.step()
    torch.cuda.synchronize()

    per_window = [window["kernel_launches"] for window in windows]
    per_step = arguments.expect_kernels_per_step or (per_window[0] // arguments.active
                                                     if per_window else 0)
    complete = (len(per_window) == arguments.windows and per_step > 0
                and all(count == per_step * arguments.active for count in per_window))
    print(json.dumps({"workload": "torch_profiler_schedule", "pid": os.getpid(),
                      "teardown_cupti": os.environ.get("TEARDOWN_CUPTI"),
                      "kernels_per_window": per_window, "kernels_per_step": per_step,
                      "steps": steps + arguments.tail, "complete": complete,
                      "kernels_after": per_step * arguments.tail,
                      "output": training.output()}), flush=True)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
