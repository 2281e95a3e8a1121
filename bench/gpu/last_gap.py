#!/usr/bin/env python3
"""Whether what ran after the last trace window is counted, on a real GPU.

    last_gap.py --utlz build/release/bin/utlz --output DIRECTORY [--seconds 4] [--runs 3]

A program launches a known number of kernels, does nothing for 0, 300, 600 and 900 ms, and ends;
with `busy` another thread sets memory until the process is gone. Prints the report's launches
against the truth, and how the program ended. Exits with 1 where a program died, or where without
that thread a run is off by 1 % or more; with 77 without a GPU or nvcc.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import native_program

SKIPPED = 77
IDLE_MS = [0, 300, 600, 900]


def measure(arguments, program, idle_ms, busy, run):
    profile = arguments.output / f"{'busy' if busy else 'alone'}-{idle_ms}-{run}.utlz"
    command = [str(program), str(arguments.seconds), str(idle_ms), *(["busy"] if busy else [])]
    result = subprocess.run(
        [str(arguments.utlz), "run", "--counters=none", "--no-report", "-o", str(profile), "--",
         *command], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode == SKIPPED:
        sys.exit(SKIPPED)
    row = {"idle_ms": idle_ms, "busy": busy, "status": result.returncode}
    if result.returncode != 0:
        return row
    truth = json.loads(result.stdout)["kernels"]
    report = json.loads(subprocess.run(
        [str(arguments.utlz), "report", "--format", "json", str(profile)],
        stdout=subprocess.PIPE, text=True, check=True).stdout)
    told = sum(kernel["launches"] for kernel in report["kernels"])
    return row | {"launches": truth, "told": told, "ratio": round(told / truth, 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--utlz", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    if native_program.compiler() is None:
        print("no nvcc on this machine", file=sys.stderr)
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    program = native_program.build(native_program.HERE / "last_gap.cu",
                                   arguments.output / "last_gap")
    good = True
    for busy in (False, True):
        for idle_ms in IDLE_MS:
            for run in range(arguments.runs):
                row = measure(arguments, program, idle_ms, busy, run)
                print(json.dumps(row), flush=True)
                off = not busy and abs(row.get("ratio", 0) - 1) >= 0.01
                good = good and row["status"] == 0 and not off
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
