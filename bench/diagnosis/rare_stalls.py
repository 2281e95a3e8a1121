#!/usr/bin/env python3
"""How exactly windows tell what rare stalls cost, by three ways of summing up the traced steps.

    rare_stalls.py [--runs 2000] [--seed 7]

A program of 2,350 steps is traced in a window of 250 steps and in twenty of six steps, with a
hundred between two windows. One step in twenty waits so long that waits take 5 % of the time. Each
row is a kind of program, each column a way to estimate that share: its mean over many programs ±
its standard deviation, in percent.

alike       all traced steps count alike
weighed     a traced step counts as often as it stands for others, as in reports
by length   weighed, and idle time scaled so that the mean step is all time ÷ all steps
"""

import argparse
import random
import statistics

KERNELS_MS = 14.0
USUAL_IDLE_MS = 0.7
RARE = 0.05
SHARE = 0.05
STALL_MS = SHARE / (1 - SHARE) * (KERNELS_MS + USUAL_IDLE_MS) / RARE
PAUSE_MS = 300.0
DENSE, SPARSE, WINDOWS, GAP = 250, 6, 20, 100
# A step stands for untraced ones as far as half a second from them (collector/summary).
BESIDE = int(500 / (KERNELS_MS + USUAL_IDLE_MS))
KINDS = {
    "as often all along": {},
    "in the sparse windows alone": {"from_step": DENSE},
    "and three untraced pauses of 300 ms": {"pauses": 3},
}


def windows():
    """First step and the one after the last of each window."""
    bounds, at = [(0, DENSE)], DENSE
    for _ in range(WINDOWS):
        bounds.append((at + GAP, at + GAP + SPARSE))
        at += GAP + SPARSE
    return bounds


def weights(bounds):
    weight = {step: 1.0 for first, end in bounds for step in range(first, end)}
    for (first, end), (next_first, next_end) in zip(bounds, bounds[1:]):
        for beside in (range(max(first, end - BESIDE), end),
                       range(next_first, min(next_end, next_first + BESIDE))):
            for step in beside:
                weight[step] += GAP / 2 / len(beside)
    return weight


def share_of(weight, stalls):
    steps = sum(weight.values())
    stall = sum(weight[step] * stalls[step] for step in weight) / steps
    return stall, KERNELS_MS + USUAL_IDLE_MS + stall


def one_program(rng, bounds, weight, from_step=0, pauses=0):
    """The share that was planted, and the three estimates of it."""
    steps = bounds[-1][1]
    rare = RARE * steps / (steps - from_step)
    stalls = [STALL_MS if i >= from_step and rng.random() < rare else 0.0 for i in range(steps)]
    planted = sum(stalls) / (steps * (KERNELS_MS + USUAL_IDLE_MS) + sum(stalls))
    estimates = []
    for of_steps in (dict.fromkeys(weight, 1.0), weight):
        stall, step = share_of(of_steps, stalls)
        estimates.append(stall / step)
    stall, step = share_of(weight, stalls)
    mean = KERNELS_MS + USUAL_IDLE_MS + (sum(stalls) + pauses * PAUSE_MS) / steps
    idle = (mean - KERNELS_MS) / (step - KERNELS_MS)
    estimates.append(idle * stall / mean)
    return planted, estimates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    bounds = windows()
    weight = weights(bounds)
    print("| stalls | planted | alike | weighed | by length |\n|---|---|---|---|---|")
    for kind, options in KINDS.items():
        rng = random.Random(arguments.seed)
        runs = [one_program(rng, bounds, weight, **options) for _ in range(arguments.runs)]
        cells = [f"{100 * statistics.mean(planted for planted, _ in runs):.1f}"]
        for way in range(3):
            shares = [100 * estimates[way] for _, estimates in runs]
            cells.append(f"{statistics.mean(shares):.1f} ± {statistics.stdev(shares):.1f}")
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
