#!/usr/bin/env python3
"""How far two recordings of the same kernels on one GPU differ, kernel by kernel.

    recording_repeatability.py --check build/release/bin/attribution_check --captures tests/data/captures

What attribution's Options::reproducibility and cache_share stand for: by how much a kernel's bytes
and FLOPs of one launch differ between two measurements. Both recordings are attributed alike. Of
kernels longer than 3 us it prints, for those with at least 1 % of the bytes or FLOPs, the relative
differences, and their root mean square as a standard deviation of one recording (a difference has
twice the variance); for the others that of their bytes, as a share of what the busiest kernel moves
in the same time. What the engine's own errors add is in it, so it is the most that the kernels
themselves can differ by.
"""

import argparse
import json
import pathlib
import subprocess

SHORT_NS = 3000
PAIRS = (
    ("graph.5000", "graph-outside.5000", "one graph, recorded twice, by two samplers"),
    ("decode.10000", "graph.5000", "the same kernels launched one by one and as a graph"),
    ("decode.10000", "graph-outside.5000", "the same, the other recording of the graph"),
)
MATTERS = 0.01


def kernels_of(check, captures, name):
    """{(function, grid): its figures} of a recording, of one step."""
    command = [check, "--capture", captures / name, "--json"]
    for run in (1, 2, 3):
        command += ["--reference", captures / f"ncu-decode.{run}.csv.gz"]
    score = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    kernels = {}
    for kernel in score["kernels"]:
        if kernel["mean_duration_ns"] <= SHORT_NS or kernel["dram_read_bytes"] is None:
            continue
        kernel["dram_bytes"] = kernel["dram_read_bytes"] + kernel["dram_write_bytes"]
        kernel["time_ns"] = kernel["mean_duration_ns"] * kernel["launches"]
        kernels[kernel["name"], str(kernel["grid"])] = kernel
    return kernels


def deviation(differences):
    """Of one recording, by differences of two."""
    return (sum(value ** 2 for value in differences) / len(differences) / 2) ** 0.5


def compare(first, second, figure):
    """Relative differences of the kernels that matter, and the names of the others."""
    whole = sum(kernel[figure] for kernel in first.values())
    differences, others = [], []
    for key in first.keys() & second.keys():
        before, after = first[key][figure], second[key][figure]
        if before >= MATTERS * whole:
            differences.append(2 * (after - before) / (after + before))
        else:
            others.append(key)
    return sorted(differences), others


def show(first, second):
    for figure in ("dram_bytes", "tensor_flops"):
        differences, others = compare(first, second, figure)
        print(f"  {figure}, {len(differences)} kernels with at least 1 %: standard deviation "
              f"{100 * deviation(differences):.3f} %; "
              + ", ".join(f"{100 * value:+.2f}" for value in differences))
        if figure != "dram_bytes" or not others:
            continue
        busiest = max(kernel[figure] / kernel["time_ns"] for kernel in first.values())
        shares = [(second[key][figure] - first[key][figure]) / (busiest * first[key]["time_ns"])
                  for key in others]
        print(f"  {figure}, {len(others)} others: standard deviation {100 * deviation(shares):.4f} "
              "% of what the busiest kernel moves in the same time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=pathlib.Path, required=True)
    parser.add_argument("--captures", type=pathlib.Path, required=True)
    options = parser.parse_args()
    names = sorted({name for pair in PAIRS for name in pair[:2]})
    recordings = {name: kernels_of(options.check, options.captures, name) for name in names}
    for first, second, meaning in PAIRS:
        print(f"{first} and {second}: {meaning}")
        show(recordings[first], recordings[second])


if __name__ == "__main__":
    main()
