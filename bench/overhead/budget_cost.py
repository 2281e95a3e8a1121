#!/usr/bin/env python3
"""What the default budget costs a load, finer than pairs of windows can tell on a noisy host.

    budget_cost.py --utlz build/release/bin/utlz --output DIRECTORY [--loads decode graph train]

Under the budget a program is traced and sampled for some tens of milliseconds at a time, so steps
with and without lie next to each other in one run. Two things are measured, step by step:

- tracing and sampling: the steps that a trace window touches, against the untraced ones of the same
  second; their excess ÷ the time that the run took;
- being active: untraced steps, against those of the turns before and after in which the agent is inactive.

The third, CUPTI in the process at all, is in both: see cupti_presence.py and `utlz-run` of
overhead.py. Prints a table with 95 % intervals (bootstrap over windows and turns). Exits with 77
where there is no GPU or no torch.
"""

import argparse
import array
import bisect
import importlib.util
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

from profile_frames import trace_windows

SKIPPED = 77
NEAR_S = 1.0
LEAST_STEPS = 8


def run_load(arguments):
    """In the measured process: active for --seconds, then active and inactive in turn."""
    from agent_control import INACTIVE, TRACING, AgentControl
    from loads import make_load
    step = make_load(arguments.child, "")
    for _ in range(20):
        step()
    control = AgentControl()
    times = array.array("d")
    inactive = []

    def steps_for(seconds):
        begin = now = time.time()
        while now < begin + seconds:
            step()
            times.append(now)
            now = time.time()
            times.append(now)
        return begin, now

    steps_for(arguments.seconds)
    for _ in range(arguments.turns):
        control.request(INACTIVE, arguments.budget_ppm)
        inactive.append(steps_for(arguments.turn_seconds))
        control.request(TRACING, arguments.budget_ppm)
        steps_for(arguments.turn_seconds)
    pathlib.Path(arguments.output, "steps.bin").write_bytes(times.tobytes())
    pathlib.Path(arguments.output, "inactive.json").write_text(json.dumps(inactive))


class Steps:
    """Begin and end of every step in seconds, and whether it was traced, paused or inactive."""

    def __init__(self, times, windows, inactive):
        self.begin, self.end = times[0::2], times[1::2]
        self.windows = [(b / 1e9, e / 1e9) for b, e in windows]
        self.inactive = inactive
        self.kind = ["paused"] * len(self.begin)
        for kind, spans in (("inactive", inactive), ("traced", self.windows)):
            for span in spans:
                for index in self.within(*span):
                    self.kind[index] = kind

    def within(self, begin, end):
        """Indices of the steps that touch this time."""
        return range(bisect.bisect_right(self.end, begin), bisect.bisect_left(self.begin, end))

    def durations(self, indices, kind):
        return [self.end[i] - self.begin[i] for i in indices if self.kind[i] == kind]


def tracing_excess(steps, until):
    """[(excess, duration)…] in seconds of every window's steps, up to a time."""
    found = []
    for begin, end in steps.windows:
        traced = steps.durations(steps.within(begin, end), "traced")
        beside = steps.durations(steps.within(begin - NEAR_S, end + NEAR_S), "paused")
        if end < until and traced and len(beside) >= LEAST_STEPS:
            found.append((sum(traced) - len(traced) * statistics.fmean(beside), sum(traced)))
    return found


def active_changes(steps):
    """Of each turn active between two inactive: median untraced step ÷ that of these two, less one."""
    changes = []
    for before, after in zip(steps.inactive, steps.inactive[1:]):
        active = steps.durations(steps.within(before[1], after[0]), "paused")
        inactive = [steps.durations(steps.within(*span), "inactive") for span in (before, after)]
        if min(len(active), *map(len, inactive)) >= LEAST_STEPS:
            level = statistics.fmean(map(statistics.median, inactive))
            changes.append(statistics.median(active) / level - 1)
    return changes


def interval(statistic, rounds=2000):
    """Value and 95 % interval, from a function of random.choices or of the data as they are."""
    generator = random.Random(1)
    drawn = sorted(statistic(lambda data: generator.choices(data, k=len(data)))
                   for _ in range(rounds))
    return statistic(list), drawn[round(0.025 * (rounds - 1))], drawn[round(0.975 * (rounds - 1))]


def figures_of(steps, seconds):
    excess = tracing_excess(steps, steps.begin[0] + seconds)
    changes = active_changes(steps)
    if not excess or not changes:
        raise ValueError("too few windows or turns: a longer run tells more")

    def tracing(draw):
        spent = sum(cost for cost, _ in draw(excess))
        return spent / (seconds - spent)

    def active(draw):
        return statistics.median(draw(changes))

    return {"traced_share": sum(time for _, time in excess) / seconds, "windows": len(excess),
            "turns": len(changes), "tracing": interval(tracing), "active": interval(active),
            "together": interval(lambda draw: tracing(draw) + active(draw))}


def measure(arguments, load):
    output = arguments.output / load
    output.mkdir(parents=True, exist_ok=True)
    profile = output / "run.utlz"
    if not (output / "steps.bin").exists():
        subprocess.run([arguments.utlz, "run", "--no-report", "-o", profile, "--", sys.executable,
                        __file__, "--child", load, "--output", output, "--utlz", arguments.utlz,
                        "--seconds", str(arguments.seconds), "--turns", str(arguments.turns),
                        "--turn-seconds", str(arguments.turn_seconds)], check=True)
    times = array.array("d", (output / "steps.bin").read_bytes())
    inactive = json.loads((output / "inactive.json").read_text())
    return figures_of(Steps(times, trace_windows(profile), inactive), arguments.seconds)


def percent(figure):
    value, low, high = (100 * part for part in figure)
    return f"{value:+.2f} % ({low:+.2f} … {high:+.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True,
                        help="a load that it already holds is not run again")
    parser.add_argument("--loads", nargs="+", default=["decode", "graph", "train"])
    parser.add_argument("--seconds", type=float, default=30, help="active throughout")
    parser.add_argument("--turns", type=int, default=8)
    parser.add_argument("--turn-seconds", type=float, default=1.0)
    parser.add_argument("--budget-ppm", type=int, default=10000, help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        run_load(arguments)
        return 0
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    print("| load | of the time traced | tracing and sampling | active, untraced | together | windows,"
          " turns |\n| --- | --- | --- | --- | --- | --- |")
    for load in arguments.loads:
        found = measure(arguments, load)
        print(f"| {load} | {100 * found['traced_share']:.1f} % | {percent(found['tracing'])} |"
              f" {percent(found['active'])} | {percent(found['together'])} |"
              f" {found['windows']}, {found['turns']} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
