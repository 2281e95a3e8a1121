#!/usr/bin/env python3
"""What a callback at each launch costs, and which Python frames, layers and operations it can read.

    stack_probe.py --output DIR [--only 1 2 3 4 5 6 7] [--names NAME...]

Compiles stack_probe.c with gcc and takes these measurements on a real GPU, each in a process of its
own with a time limit:

1  an empty CUPTI callback at each launch: its cost, what stays when it is gone, for each libcupti
   on the machine; which calls see which kernels; torch.profiler beside it
2  the walk over the launching thread's Python frames inside it: frames, time, distinct stacks
3  native frames: how far frame pointers lead
4  new graph nodes during a capture: their Python frames, their numbers in records of later replays;
   what stays; torch.profiler before, during and after
5  torch.compile: whether a launch's frame lies in a file that Inductor generated, under a comment
   that names its operations
6  PyTorch's sequence number at forward launches against the autograd node's at backward launches
7  the modules that own a launch, from the frames of torch.nn.Module's call

Each row is one line of DIR/results.jsonl and is printed; each process's output is kept in
DIR/NAME.log; --names runs those with these names alone. Walks need CPython 3.12 on x86-64. Exits
with 77 where there is no GPU or no torch, and with 1 where a measurement failed.
"""

import argparse
import concurrent.futures
import importlib.util
import pathlib
import shutil
import sys

from stack_probe_callbacks import coverage, torch_hook
from stack_probe_captures import capture, capture_beside_profiler
from stack_probe_compiled import inductor
from stack_probe_frames import frame_pointers, modules, walk
from stack_probe_native import native
from stack_probe_pretended import pretended
from stack_probe_processes import Runner
from stack_probe_profiler import beside_profiler
from stack_probe_results import Results
from stack_probe_sequence import sequence
from stack_probe_setup import compile_kernel, compile_probe, copies_of_cupti

SKIPPED = 77
WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"
CHILDREN = {"native": native, "torch_hook": torch_hook, "coverage": coverage,
            "beside_profiler": beside_profiler, "walk": walk, "frame_pointers": frame_pointers,
            "modules": modules, "capture": capture,
            "capture_beside_profiler": capture_beside_profiler, "inductor": inductor,
            "sequence": sequence, "pretended": pretended}


def child(arguments):
    sys.path.insert(0, str(WORKLOADS))
    name = arguments.child.split(":")[0]
    CHILDREN[name](arguments, Results(arguments))
    return 0


def tasks(copies):
    """(measurement, name, child, case, libcupti, seconds, whether it is timed)"""
    main = copies[0] if copies else ""
    listed = [(1, "native-control", "native", "", "", 30, True)]
    for number, path in enumerate(copies[:4]):
        for again in range(2 if number == 0 else 1):
            listed.append((1, f"native-{number}-{again}", "native", "", path, 40, True))
    listed.append((1, "torch_hook", "torch_hook", "", main, 90, True))
    for case in ("decode", "train", "llama"):
        listed.append((2, f"walk-{case}", "walk", case, main, 60, True))
    listed.append((4, "capture", "capture", "", main, 60, True))
    listed += [(5, f"inductor-{case}", "inductor", case, main, 120, False)
               for case in ("default", "reduce-overhead")]
    listed.append((1, "coverage", "coverage", "", main, 60, False))
    for case in ("none", "before", "inside", "during", "after"):
        listed.append((1, f"profiler-{case}", "beside_profiler", case, main, 60, False))
    listed.append((3, "frame_pointers", "frame_pointers", "", main, 60, False))
    for case in ("before", "during", "after"):
        listed.append((4, f"capture-profiler-{case}", "capture_beside_profiler", case, main, 60,
                       False))
    for case in ("train", "checkpoint"):
        listed.append((6, f"sequence-{case}", "sequence", case, main, 60, False))
    for case in ("decode", "llama"):
        listed.append((7, f"modules-{case}", "modules", case, main, 60, False))
    return listed


def measure(arguments):
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    if arguments.pretend:
        runner = Runner(output, compile_probe(output), "", arguments.seconds)
        runner((0, "pretended", "pretended", "", "", 60, True))
        return 1 if runner.failed else 0
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    copies = copies_of_cupti()
    print("copies of libcupti:", *copies, sep="\n  ", flush=True)
    runner = Runner(output, compile_probe(output), compile_kernel(output), arguments.seconds)
    chosen = [task for task in tasks(copies)
              if (not arguments.only or task[0] in arguments.only)
              and (not arguments.names or task[1] in arguments.names)]
    for task in chosen:
        if task[-1]:
            runner(task)
    # The others are not timed and may run side by side.
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(runner, [task for task in chosen if not task[-1]]))
    print(f"\nfailed: {', '.join(runner.failed) or 'none'}; rows in {runner.results}", flush=True)
    return 1 if runner.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("stack_probe"))
    parser.add_argument("--only", type=int, nargs="*", choices=range(1, 8), help="measurements")
    parser.add_argument("--names", nargs="*", help="processes by name, as their logs have it")
    parser.add_argument("--jobs", type=int, default=4, help="untimed measurements side by side")
    parser.add_argument("--seconds", type=float, default=270, help="for everything")
    parser.add_argument("--pretend", action="store_true",
                        help="only check the walk against Python's own frames; needs no GPU")
    for hidden in ("--child", "--case", "--cupti", "--cubin", "--result"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    parser.add_argument("--library", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    return child(arguments) if arguments.child else measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
