#!/usr/bin/env python3
"""What becomes of attribution's errors when a recording is sampled otherwise than it was.

    derived_recordings.py --check build/release/bin/attribution_check --captures tests/data/captures

Derives recordings from those of tests/data/captures (samples lost, merged or cut into windows,
rows in another order, clocks moved and stretched, parts of a recording), scores each with
attribution_check, and prints one row for each: errors in percent against the recording's reference.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import tempfile

RECORDINGS = {"train": ("train.5000", "ncu-train"), "decode": ("decode.10000", "ncu-decode"),
              "graph": ("graph.5000", "ncu-decode"), "outside": ("graph-outside.5000", "ncu-decode")}
COUNTERS = 5
ELAPSED = 4  # the counter that follows the clock, whatever runs
TENSOR = 2   # a share in percent of the elapsed cycles: averaged by them, not added


class Recording:
    """Launches as [start, end, other fields]; samples as [start, end, [values]]."""

    def __init__(self, path):
        with gzip.open(path + ".k.gz", "rt") as file:
            rows = [line.split(maxsplit=2) for line in file]
        self.launches = [[int(start), int(end), rest] for start, end, rest in rows]
        with gzip.open(path + ".pm.gz", "rt") as file:
            rows = [line.split() for line in file]
        self.samples = [[int(row[0]), int(row[1]), [float(value) for value in row[2:]]]
                        for row in rows]
        self.names = path + ".names.gz"

    def write(self, path):
        with gzip.open(path + ".k.gz", "wt", compresslevel=1) as file:
            file.writelines(f"{start} {end} {rest.strip()}\n" for start, end, rest in self.launches)
        with gzip.open(path + ".pm.gz", "wt", compresslevel=1) as file:
            file.writelines(f"{start} {end} {' '.join(f'{value:.8g}' for value in values)}\n"
                            for start, end, values in self.samples)
        with open(self.names, "rb") as source, open(path + ".names.gz", "wb") as target:
            target.write(source.read())

    def step_starts(self):
        """Where the rarest kernel that repeats starts: once a step."""
        by_variant = {}
        for start, _, rest in self.launches:
            by_variant.setdefault(rest, []).append(start)
        return sorted(min((starts for starts in by_variant.values() if len(starts) >= 5), key=len))


def lost(recording, share):
    choose = random.Random(1)
    recording.samples = [sample for sample in recording.samples if choose.random() >= share]


def merge(recording, count, first=0):
    merge_in_turn(recording, [count], first)


def merge_in_turn(recording, counts, first=0, turn_ns=20_000_000):
    """As many to one as the turn says, of which there is a list; each lasts `turn_ns`."""
    merged = []
    begin = recording.samples[0][0]
    i = first
    while i < len(recording.samples):
        turn = (recording.samples[i][0] - begin) // turn_ns
        part = recording.samples[i:i + counts[turn % len(counts)]]
        i += len(part)
        values = [sum(sample[2][counter] for sample in part) for counter in range(COUNTERS)]
        values[TENSOR] = (sum(sample[2][TENSOR] * sample[2][ELAPSED] for sample in part)
                          / max(1, values[ELAPSED]))
        merged.append([part[0][0], part[-1][1], values])
    recording.samples = merged


def thinned(recording, kept_of):
    recording.samples = recording.samples[::kept_of]


def jump(recording, launches_ns, samples_ns):
    """Clocks that jump half-way."""
    middle = recording.samples[len(recording.samples) // 2][0]
    for rows, by_ns in ((recording.launches, launches_ns), (recording.samples, samples_ns)):
        for row in rows:
            if row[0] >= middle:
                row[0] += by_ns
                row[1] += by_ns


def windows(recording, length_ns, every_ns):
    begin = recording.samples[0][0]
    recording.samples = [sample for sample in recording.samples
                         if (sample[0] - begin) % every_ns < length_ns]


def in_step(recording, share, phase, every=1):
    """Samples only of a share of each `every`-th step, always at one phase."""
    starts = recording.step_starts()
    step_ns = sorted(b - a for a, b in zip(starts, starts[1:]))[len(starts) // 2]
    spans = [(start + phase * step_ns, start + (phase + share) * step_ns)
             for start in starts[::every]]
    kept, at = [], 0
    for sample in recording.samples:
        while at < len(spans) and spans[at][1] <= sample[0]:
            at += 1
        if at < len(spans) and spans[at][0] <= sample[0]:
            kept.append(sample)
    recording.samples = kept


def dithered(recording, share):
    """The same, at a phase that moves from step to step."""
    starts = recording.step_starts()
    step_ns = sorted(b - a for a, b in zip(starts, starts[1:]))[len(starts) // 2]
    spans = [(start + (i * 0.618 % 1) * step_ns, start + (i * 0.618 % 1 + share) * step_ns)
             for i, start in enumerate(starts)]
    recording.samples = [sample for sample in recording.samples
                         if any(begin <= sample[0] < end for begin, end in spans)]


def part(recording, begin_share, end_share):
    first, last = recording.samples[0][0], recording.samples[-1][1]
    begin = first + begin_share * (last - first)
    end = first + end_share * (last - first)
    recording.samples = [sample for sample in recording.samples if begin <= sample[0] < end]
    recording.launches = [launch for launch in recording.launches
                          if launch[0] < end + 50_000 and launch[1] > begin - 50_000]


def later(recording, by_ns):
    recording.launches = [[start + by_ns, end + by_ns, rest]
                          for start, end, rest in recording.launches]


def stretch(recording, factor):
    begin = recording.samples[0][0]
    move = lambda time: begin + round((time - begin) * factor)
    recording.launches = [[move(start), move(end), rest]
                          for start, end, rest in recording.launches]
    recording.samples = [[move(start), move(end), values]
                         for start, end, values in recording.samples]


def drifting(recording, ns_per_ms):
    begin = recording.samples[0][0]
    later_by = lambda time: time + round((time - begin) * 1e-6 * ns_per_ms)
    recording.launches = [[later_by(start), later_by(end), rest]
                          for start, end, rest in recording.launches]


def shuffled(recording):
    random.Random(2).shuffle(recording.samples)
    random.Random(3).shuffle(recording.launches)


def jitter(recording, by_ns):
    """Timestamps of launches that are off by up to `by_ns`, each for itself."""
    choose = random.Random(4)
    for launch in recording.launches:
        off = choose.randint(-by_ns, by_ns)
        launch[0] += off
        launch[1] += off


CHANGES = {
    "as recorded": lambda r: None,
    "one sample in ten lost": lambda r: lost(r, 0.1),
    "half of the samples lost": lambda r: lost(r, 0.5),
    "first 20 %": lambda r: part(r, 0, 0.2),
    "last half": lambda r: part(r, 0.5, 1),
    "every second sample": lambda r: thinned(r, 2),
    "every fourth sample": lambda r: thinned(r, 4),
    "every sixteenth sample": lambda r: thinned(r, 16),
    "samples' clock jumps back by 7 us": lambda r: jump(r, 0, -7000),
    "samples' clock jumps on by 3 us": lambda r: jump(r, 0, 3000),
    "both clocks jump back by 20 ms": lambda r: jump(r, -20_000_000, -20_000_000),
    "merged in pairs": lambda r: merge(r, 2),
    "merged in threes": lambda r: merge(r, 3),
    "merged in threes, from the second": lambda r: merge(r, 3, 1),
    "merged in fours": lambda r: merge(r, 4),
    "merged in threes, a quarter in fours": lambda r: merge_in_turn(r, [3, 3, 3, 4]),
    "merged in tens": lambda r: merge(r, 10),
    "2 ms of every 5": lambda r: windows(r, 2_000_000, 5_000_000),
    "a third of each step, one phase": lambda r: in_step(r, 1 / 3, 0),
    "a third of each step, another phase": lambda r: in_step(r, 1 / 3, 0.5),
    "a third of each step, phases that move": lambda r: dithered(r, 1 / 3),
    "every other step": lambda r: in_step(r, 1, 0, 2),
    "kernels 3 us later": lambda r: later(r, 3000),
    "kernels 5 us earlier": lambda r: later(r, -5000),
    "times stretched by half": lambda r: stretch(r, 1.5),
    "clock drifting by 5 ppm": lambda r: drifting(r, 5),
    "launches off by up to 100 ns": lambda r: jitter(r, 100),
    "rows shuffled": shuffled,
}


def score(arguments, name, change, folder):
    capture, reference = RECORDINGS[name]
    recording = Recording(os.path.join(arguments.captures, capture))
    CHANGES[change](recording)
    path = os.path.join(folder, "derived")
    recording.write(path)
    command = [arguments.check, "--capture", path, "--json"]
    for run in (1, 2, 3):
        command += ["--reference", os.path.join(arguments.captures, f"{reference}.{run}.csv.gz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def row(name, change, scored):
    if isinstance(scored, str):
        return f"| {change} | {name} | {scored} |"
    shifts = ", ".join("–" if shift is None else f"{shift:.0f} ± {scored['shift_uncertainty_ns'][group]:.0f}"
                       for group, shift in scored["shift_ns"].items())
    unmeasured = sum(not kernel["dram_bytes_half_width"] for kernel in scored["kernels"])
    told = lambda key, digits, factor=1: ("–" if scored[key] is None
                                          else f"{factor * scored[key]:.{digits}f}")
    return (f"| {change} | {name} | {told('dram_bytes_division_error_percent', 2)} "
            f"| {told('worst_kernel_division_error_percent', 1)} "
            f"| {told('tensor_flops_error_percent', 2)} "
            f"| {told('interval_coverage', 0, 100)} | {told('interval_half_width_percent', 1)} "
            f"| {told('flops_interval_coverage', 0, 100)} "
            f"| {len(scored['folded'])} / {unmeasured} | {shifts} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", required=True, help="the program attribution_check")
    parser.add_argument("--captures", required=True, help="folder of the recordings")
    parser.add_argument("--recordings", nargs="*", choices=RECORDINGS, default=list(RECORDINGS))
    parser.add_argument("--only", nargs="*", help="parts of the changes' names")
    arguments = parser.parse_args()
    print("| change | recording | bytes division | worst | FLOPs | intervals hold | half-width "
          "| FLOPs intervals hold | folded / unmeasured kernels | shifts (ns) |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for change in CHANGES:
        if arguments.only and not any(part in change for part in arguments.only):
            continue
        for name in arguments.recordings:
            with tempfile.TemporaryDirectory() as folder:
                print(row(name, change, score(arguments, name, change, folder)), flush=True)


if __name__ == "__main__":
    main()
