#!/usr/bin/env python3
"""Whether what begins between two trace windows is seen, on a real GPU.

    new_work.py --utlz build/release/bin/utlz --output DIRECTORY [--ways W...] [--mode eager|graph]

Runs bench/workloads/new_work.py, which begins five things of a moment each, under `utlz run`, the
same with --no-new-work, and attached to by `utlz attach`, 25 s each. Prints for each thing how long after it
began a window did, and in how many windows it ran. Exits with 77 where there is no GPU or no PyTorch.
"""

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
LOAD = HERE.parent / "workloads" / "new_work.py"
sys.path.insert(0, str(HERE.parent / "overhead"))
from profile_frames import trace_windows  # pylint: disable=wrong-import-position

WAYS = ("run", "run-without", "attach", "attach-without")


def last_line(text):
    return json.loads(text.strip().splitlines()[-1])


def measure(way, arguments):
    """What began, and the profile."""
    profile = arguments.output / f"{way}-{arguments.mode}.utlz"
    load = [sys.executable, str(LOAD), "--mode", arguments.mode]
    options = ["--no-report", "-o", str(profile), *arguments.options]
    if way.endswith("without"):
        options.append("--no-new-work")
    if way.startswith("run"):
        run = subprocess.run([arguments.utlz, "run", *options, "--", *load], check=True,
                             stdout=subprocess.PIPE, text=True)
        return last_line(run.stdout)["begun"], profile
    with subprocess.Popen(load, stdout=subprocess.PIPE, text=True) as program:
        pid = json.loads(program.stdout.readline())["pid"]
        subprocess.run([arguments.utlz, "attach", *options, "--duration", "60", str(pid)],
                       check=True)
        return last_line(program.stdout.read())["begun"], profile


def seen_by_name(utlz, profile):
    """Traced launches by kernel name."""
    report = subprocess.run([utlz, "report", "--format", "json", "--top", "100000", str(profile)],
                            stdout=subprocess.PIPE, text=True, check=True)
    return {kernel["name"]: kernel.get("launches_traced", 0)
            for kernel in json.loads(report.stdout)["kernels"]}


def print_rows(way, begun, profile, utlz):
    windows = trace_windows(profile)
    launches = seen_by_name(utlz, profile)
    for thing in begun:
        begin_ns, end_ns = thing["begin_ns"], thing["end_ns"]
        after = [window for window in windows if window[0] >= begin_ns]
        during = [window for window in windows if window[0] < end_ns and window[1] > begin_ns]
        delay = f"{(after[0][0] - begin_ns) / 1e9:.2f} s" if after else "none"
        traced = ""
        if kernel := thing["kernel"]:
            seen = sum(count for name, count in launches.items() if kernel in name)
            traced = f"{seen} of {thing['count']}"
        print(f"| {way} | {thing['name']} | {delay} | {len(during)} | {traced} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS[:3])
    parser.add_argument("--mode", choices=("eager", "graph"), default="eager")
    parser.add_argument("options", nargs="*", help="of utlz, after --")
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    print("| way | what began | first window after | windows while it went on | launches traced |\n"
          "| --- | --- | --- | --- | --- |")
    for way in arguments.ways:
        begun, profile = measure(way, arguments)
        print_rows(way, begun, profile, arguments.utlz)
        windows = trace_windows(profile)
        share = sum(end - begin for begin, end in windows) / (windows[-1][1] - windows[0][0])
        print(f"| {way} | in all {len(windows)} windows, {share:.1%} of the time | | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
