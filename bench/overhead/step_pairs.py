#!/usr/bin/env python3
"""What utlz costs the steps of a program, in whole processes that take turns.

    step_pairs.py --utlz build/release/bin/utlz [--other-utlz PATH] [--rounds 4]
                  [--ways alone default stacks no-counters recorded-once never-traced other]
                  [--keep FOLDER] [--with OUTPUT…] -- python3 bench/workloads/gpt_train.py --steps 300

The program prints one line of JSON with `step_ms`, as those of bench/workloads do. Each round runs it
once in each way; the order moves on by one from round to round. Prints, against the same round's run
alone: the change of all steps and of each sixth of them, and of the whole process; how long the
process went on after that line; and what the reports state. Then the mean and the median of the
change of all steps, with 95 % intervals by bootstrap over rounds: of these, and of those that other
outputs of this bench hold (`--with`), as of runs on another GPU. A run takes as long as the program.
`recorded-once`: the beginning is recorded and nothing after it. `never-traced`: the agent is there
and records nothing. `other`: by the defaults of another build.
Exits with 77 without a GPU.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gpu"))
from validate import SKIPPED, gpu_name  # pylint: disable=wrong-import-position

PARTS = 6
RESAMPLES = 10_000
OPTIONS = {
    "alone": None,
    "default": [],
    "stacks": ["--stacks=auto"],
    "no-counters": ["--counters=none"],
    "recorded-once": ["--later-windows=never"],
    "never-traced": ["--counters=none", "--delay=1000"],
    "other": [],
}


def run(prefix, command):
    """{part: seconds} of one process, or None where it told nothing."""
    begin = time.monotonic()
    steps_ms, told = None, None
    with subprocess.Popen([*prefix, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as process:
        for line in process.stdout:
            if line.startswith("{"):
                steps_ms, told = json.loads(line)["step_ms"], time.monotonic()
    end = time.monotonic()
    if steps_ms is None:
        return None
    length = len(steps_ms) // PARTS
    parts = {f"{i + 1}/{PARTS}": sum(steps_ms[i * length:(i + 1) * length]) / 1e3
             for i in range(PARTS)}
    return {"steps": sum(steps_ms) / 1e3, **parts, "process": end - begin, "after": end - told}


def stated(utlz, profile):
    done = subprocess.run([utlz, "report", str(profile), "--format", "json"], capture_output=True,
                          text=True, check=True)
    slowdown = json.loads(done.stdout)["capture"]["slowdown"]
    return [slowdown.get(name, 0) for name in ("steps_share", "steps_error_share")]


def measure(arguments, folder):
    """({way: [run of each round]}, {way: [what its report states]})."""
    runs = {way: [] for way in arguments.ways}
    reports = {way: [] for way in arguments.ways}
    for number in range(arguments.rounds):
        first = number % len(arguments.ways)
        for way in arguments.ways[first:] + arguments.ways[:first]:
            options = OPTIONS[way]
            profile = folder / f"{way}-{number}.utlz"
            utlz = arguments.other_utlz if way == "other" else arguments.utlz
            prefix = [] if options is None else [utlz, "run", "--no-report", "-o",
                                                 str(profile), *options, "--"]
            runs[way].append(run(prefix, arguments.command))
            if runs[way][-1] is None:
                raise RuntimeError(f"{way}: the program printed no line of JSON with step_ms")
            if options is not None:
                reports[way].append(stated(arguments.utlz, profile))
            rounded = {name: round(value, 3) for name, value in runs[way][-1].items()}
            print(number, way, json.dumps(rounded), flush=True)
    return runs, reports


def print_table(runs, reports):
    parts = ["steps", *(f"{i + 1}/{PARTS}" for i in range(PARTS)), "process"]
    print("\n| way | " + " | ".join(parts) + " | after its last line | stated, of the steps |")
    print("| --- " * (len(parts) + 3) + "|")
    for way, rows in runs.items():
        cells = []
        for part in parts:
            changes = [row[part] / alone[part] - 1 for row, alone in zip(rows, runs["alone"])]
            cells.append(f"{statistics.median(changes):+.1%} ({min(changes):+.1%} … "
                         f"{max(changes):+.1%})" if way != "alone" else f"{rows[0][part]:.2f} s")
        cells.append(f"{statistics.median(row['after'] for row in rows):.2f} s")
        cells.append("; ".join(f"{share:.1%} ± {error:.1%}" for share, error in reports[way]))
        print(f"| {way} | " + " | ".join(cells) + " |")


def add_runs(output, runs):
    """Adds the rounds that an output of this bench holds whole, of the ways in `runs`."""
    rounds = {}
    for line in output.read_text(encoding="utf-8").splitlines():
        number, _, rest = line.partition(" ")
        way, _, values = rest.partition(" ")
        if number.isdecimal() and values.startswith("{"):
            rounds.setdefault(number, {})[way] = json.loads(values)
    for of_round in rounds.values():
        if all(way in of_round for way in runs):
            for way, rows in runs.items():
                rows.append(of_round[way])


def interval(values, figure):
    """A figure of the values, and its 95 % interval."""
    chance = random.Random(1)
    figures = sorted(figure(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return (f"{figure(values):+.2%} ({figures[RESAMPLES // 40]:+.2%} … "
            f"{figures[-RESAMPLES // 40]:+.2%})")


def print_intervals(runs):
    print("\n| way | rounds | mean of all steps | median |\n| --- | --- | --- | --- |")
    for way, rows in runs.items():
        changes = [row["steps"] / alone["steps"] - 1 for row, alone in zip(rows, runs["alone"])]
        if way != "alone":
            print(f"| {way} | {len(changes)} | {interval(changes, statistics.mean)} | "
                  f"{interval(changes, statistics.median)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--ways", nargs="+", choices=OPTIONS,
                        default=["alone", "default", "stacks", "no-counters"])
    parser.add_argument("--other-utlz")
    parser.add_argument("--with", dest="outputs", type=pathlib.Path, nargs="+", default=[],
                        metavar="OUTPUT", help="of this bench, whose rounds count as well")
    parser.add_argument("--keep", type=pathlib.Path, help="the profiles, in this folder")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if not gpu_name():
        print("no NVIDIA GPU on this machine (nvidia-smi finds none)", file=sys.stderr)
        return SKIPPED
    if "other" in arguments.ways and arguments.other_utlz is None:
        parser.error("--ways other needs --other-utlz")
    if "alone" not in arguments.ways:
        arguments.ways.insert(0, "alone")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.keep is not None:
            arguments.keep.mkdir(parents=True, exist_ok=True)
        runs, reports = measure(arguments, arguments.keep or pathlib.Path(folder))
    print_table(runs, reports)
    for output in arguments.outputs:
        add_runs(output, runs)
    print_intervals(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
