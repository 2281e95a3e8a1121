#!/usr/bin/env python3
"""Measures what tools add to the start and to the end of a program, in pairs of whole runs.

    startup.py --output DIRECTORY [--utlz PROGRAM] [--programs P...] [--tools T...] [--pairs 12]

Every program does one thing on the GPU and prints when it was done. From its start to there is the
start; from there until the command that was started has ended is the end: for `utlz run` with the
last records, the profile and the report. Each run with the tool is paired with one without it; which
comes first alternates. `utlz-quick` is `utlz run --counters=none`; `empty-cupti` is an injected
CUPTI consumer that drops what it gets, the floor.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

from overhead import SKIPPED, find_cupti
from slowdown import median_and_interval

HERE = pathlib.Path(__file__).resolve().parent

TORCH = ("import time, torch; torch.ones(1).cuda(); torch.cuda.synchronize(); "
         "print(time.monotonic_ns())")
PROGRAMS = ("short", "torch")
TOOLS = ("control", "empty-cupti", "utlz", "utlz-quick")


def program_command(name, output):
    """The command of a program; builds what has to be built."""
    if name == "torch":
        return [sys.executable, "-c", TORCH]
    program = output / "short_cuda"
    if not program.exists():
        subprocess.run(["gcc", "-O2", "-o", program, HERE / "short_cuda.c", "-ldl"], check=True)
    return [str(program)]


def tool_command(name, utlz, output):
    """What stands before the program's command, and what is added to the environment."""
    if name == "control":
        return [], {}
    if name == "empty-cupti":
        library = output / "libempty_cupti.so"
        if not library.exists():
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library,
                            HERE / "empty_cupti.c", "-ldl"], check=True)
        added = {"CUDA_INJECTION64_PATH": str(library)}
        if cupti := find_cupti():
            added["EMPTY_CUPTI_LIBRARY"] = cupti
        return [], added
    options = ["--counters=none"] if name == "utlz-quick" else []
    return [str(utlz), "run", *options, "-o", str(output / "startup.utlz"), "--"], {}


class FailedRun(Exception):
    pass


def timed_run(command, environment):
    """(seconds until the program's mark, seconds from there to the end)."""
    begin_ns = time.monotonic_ns()
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          text=True, check=False, timeout=300)
    end_ns = time.monotonic_ns()
    marks = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    if done.returncode != 0 or len(marks) != 1 or not begin_ns < marks[0] < end_ns:
        raise FailedRun((done.stderr or "the program printed no time").strip()[-300:])
    return (marks[0] - begin_ns) / 1e9, (end_ns - marks[0]) / 1e9


def measure_pairs(run_without, run_with, pairs):
    """[(without, with)…], each as timed_run gives it."""
    run_without(), run_with()  # files that are not in memory yet
    measured = []
    for index in range(pairs):
        order = (run_without, run_with) if index % 2 == 0 else (run_with, run_without)
        outcomes = {run: run() for run in order}
        measured.append((outcomes[run_without], outcomes[run_with]))
    return measured


def added_seconds(pairs):
    """By part of the run: what each pair says was added."""
    return {"start": [on[0] - off[0] for off, on in pairs],
            "end": [on[1] - off[1] for off, on in pairs],
            "both": [sum(on) - sum(off) for off, on in pairs]}


def row_of(program, tool, pairs):
    cells = []
    for values in added_seconds(pairs).values():
        median, low, high = median_and_interval(values)
        cells.append(f"{median:+.3f} ({low:+.3f} … {high:+.3f})")
    without = sorted(sum(off) for off, _ in pairs)[len(pairs) // 2]
    return f"| {program} | {tool} | {' | '.join(cells)} | {without:.3f} | {len(pairs)} |"


HEAD = ("| program | tool | added to the start, s | added to the end, s | added to both, s "
        "| without, s | pairs |\n| --- | --- | --- | --- | --- | --- | --- |")


def measure(arguments, program, tool):
    output = pathlib.Path(arguments.output)
    command = program_command(program, output)
    prefix, environment = tool_command(tool, arguments.utlz, output)

    def run_without():
        return timed_run(command, {})

    def run_with():
        return timed_run([*prefix, *command], environment)
    return measure_pairs(run_without, run_with, arguments.pairs)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--without-gpu", action="store_true",
                        help="do not look for one: the driver is a stand-in")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not arguments.without_gpu and not pathlib.Path("/dev/nvidiactl").exists():
        print("no NVIDIA GPU on this machine (no /dev/nvidiactl)")
        return SKIPPED
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    results, failed = {}, False
    print(HEAD, flush=True)
    for program in arguments.programs:
        for tool in arguments.tools:
            try:
                pairs = measure(arguments, program, tool)
            except FailedRun as failure:
                failed = True
                print(f"| {program} | {tool} | failed: {str(failure).splitlines()[-1]} | | | | |")
                continue
            results[f"{program}/{tool}"] = pairs
            print(row_of(program, tool, pairs), flush=True)
            (output / "startup.json").write_text(json.dumps(results, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
