#!/usr/bin/env python3
"""What a cycle of the tensor pipe does, by instruction: Nsight Compute's counts of one kernel for each.

    mma_rates.py --output DIRECTORY

Prints operations for each cycle of the pipe, and the pipe's share of the SMs' active cycles, which
instructions that are none of its own move too. Takes about 20 s. Exits with 77 where the machine
lacks what it needs.
"""

import argparse
import pathlib
import subprocess
import sys

import native_program
import nsight_compute

SKIPPED = 77
TENSOR_CYCLES = "sm__pipe_tensor_cycles_active.sum"
ACTIVE_CYCLES = "sm__cycles_active.sum"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if not nsight_compute.program() or not native_program.compiler():
        print("needs an NVIDIA GPU, ncu and nvcc", file=sys.stderr)
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    program = native_program.build(native_program.HERE / "mma_rates.cu",
                                   arguments.output / "mma_rates")
    log = arguments.output / "mma_rates.csv"
    metrics = [TENSOR_CYCLES, ACTIVE_CYCLES, *nsight_compute.TENSOR.values()]
    done = subprocess.run([nsight_compute.program(), "--csv", "--print-units", "base",
                           "--clock-control", "none", "--log-file", str(log), "--metrics",
                           ",".join(metrics), str(program)], check=False)
    if done.returncode != 0 or not log.exists():
        print(log.read_text()[-2000:] if log.exists() else "no counts", file=sys.stderr)
        return done.returncode or 1
    print("| kernel | operations a cycle of the pipe | pipe's share of active cycles |\n"
          "| --- | --- | --- |")
    for kernel in nsight_compute.parse_csv(log.read_text()):
        operations = sum(kernel.get(metric) or 0 for metric in nsight_compute.TENSOR.values())
        cycles = kernel.get(TENSOR_CYCLES) or 0
        rate = f"{operations / cycles:.1f}" if operations and cycles else "–"
        share = cycles / kernel[ACTIVE_CYCLES] if kernel.get(ACTIVE_CYCLES) else 0
        print(f"| `{kernel['name'].split('(')[0]}` | {rate} | {100 * share:.2f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
