#!/usr/bin/env python3
"""Which ways to switch CUPTI's records off for a process kill one that launches, on a real GPU.

    process_switch.py --output DIRECTORY [--ways W…] [--runs 8] [--seconds 4] [--at-once 8]
                      [--cupti torch|PATH] [--limit-s 120]

Each run is a process of its own: process_switch.c says what the ways do. Prints how many of each way's
died, and of what. Exits with 1 where one of any way but `process` did, with 77 without a GPU.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "overhead"))
import price_ways  # noqa: E402

SKIPPED = 77
LIMIT_S = 40
WAYS = ["context", "off", "settled", "process", "markers", "calls", "moved"]


def run(command, until):
    """(exit status, what it said); None for the status of one that was not begun in time."""
    if time.monotonic() > until:
        return None, ""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace",
                               timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "hung", ""
    return ended.returncode, (ended.stdout + ended.stderr).strip()[-200:]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--cupti", default="torch")
    parser.add_argument("--limit-s", type=float, default=120, help="no process begins later")
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.limit_s
    copies = price_ways.resolve_copies(arguments.cupti, price_ways.find_copies())
    if not shutil.which("nvidia-smi") or not copies:
        print("process_switch.py: skipped: needs an NVIDIA GPU and a libcupti")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    program = arguments.output / "process_switch"
    subprocess.run(["gcc", "-O2", "-o", program, HERE / "process_switch.c", "-ldl", "-lpthread"],
                   check=True)
    jobs = [way for _ in range(arguments.runs) for way in arguments.ways]
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        ended = list(pool.map(lambda way: run([program, copies[0], way, str(arguments.seconds)],
                                              until), jobs))
    dead = 0
    for way in arguments.ways:
        mine = [one for job, one in zip(jobs, ended) if job == way and one[0] is not None]
        statuses = collections.Counter(status for status, _ in mine if status != 0)
        rounds = sum(int(said.split()[2]) for status, said in mine if status == 0)
        words = next((said for status, said in mine if status != 0 and said), "")
        print(f"{way}: {sum(statuses.values())} of {len(mine)} died {dict(statuses) or ''}; the others"
              f" had {rounds} rounds {words}", flush=True)
        dead += sum(statuses.values()) if way != "process" else 0
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
