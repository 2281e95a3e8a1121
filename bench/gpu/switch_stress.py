#!/usr/bin/env python3
"""Whether a training survives tracing that is switched off and on while it launches, on a real GPU.

    switch_stress.py --utlz build/release/bin/utlz --output DIRECTORY [--ways W...] [--runs 4]

Ways: `utlz` and `utlz-nvtx` (the agent, about ten times a second, without and with ranges),
`context` and `process` (a bare CUPTI consumer that switches kinds of records for the context or for
the whole process; the last one is what kills), `settled` (off in the context first, and for the
process once nothing that was recorded is under way), `loading-context` and `loading-process` (the same with
records of kernels that are loaded). Runs of all ways go at once. Exits with 1 where a run of any way
but `process` died, with 77 without a GPU or PyTorch.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
WAYS = ["utlz", "utlz-nvtx", "context", "process", "settled", "loading-context", "loading-process"]
OVERHEAD = "17"  # CUPTI_ACTIVITY_KIND_OVERHEAD
HERE = pathlib.Path(__file__).resolve().parent
LOAD = HERE.parent / "workloads" / "training_ahead.py"
sys.path.insert(0, str(HERE.parent / "overhead"))


def build_consumer(output):
    library = output / "libswitching_cupti.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "switching_cupti.c",
                    "-ldl", "-lpthread"], check=True)
    return library


def start(way, run, arguments, consumer, cupti):
    command = [sys.executable, str(LOAD), "--seconds", str(arguments.seconds)]
    environment = dict(os.environ)
    if way.startswith("utlz"):
        ranges = ["--nvtx"] if way == "utlz-nvtx" else []
        command = [str(arguments.utlz.resolve()), "run", "--counters=none", "--no-report", *ranges,
                   "-o", str(arguments.output / f"{way}-{run}.utlz"), "--", *command,
                   "--switch-agent"]
    else:
        environment |= {"CUDA_INJECTION64_PATH": str(consumer), "SWITCHING_WAY": way.removeprefix("loading-"),
                        "SWITCHING_CUPTI": cupti}
        if way.startswith("loading-"):
            environment["SWITCHING_KIND"] = OVERHEAD
    log = open(arguments.output / f"{way}-{run}.log", "w+", encoding="utf-8")
    return way, run, log, subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def result_of(way, run, log, process):
    status = process.wait()
    log.seek(0)
    said = log.read()
    log.close()
    switches = re.search(r'"switches": (\d+)|switched (\d+) times', said)
    return {"way": way, "run": run, "status": status,
            "switches": int(switches.group(1) or switches.group(2)) if switches else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=15)
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    from overhead import find_cupti
    arguments.output.mkdir(parents=True, exist_ok=True)
    consumer = build_consumer(arguments.output)
    cupti = find_cupti() or "libcupti.so.13"
    running = [start(way, run, arguments, consumer, cupti)
               for way in arguments.ways for run in range(arguments.runs)]
    results = [result_of(*each) for each in running]
    (arguments.output / "switch_stress.json").write_text(json.dumps(results, indent=1) + "\n")
    dead = 0
    for way in arguments.ways:
        mine = [result for result in results if result["way"] == way]
        died = [result["status"] for result in mine if result["status"] != 0]
        switches = sum(result["switches"] or 0 for result in mine)
        print(f"{way}: {len(died)} of {len(mine)} died {died or ''}; the others were switched "
              f"{switches} times")
        dead += len(died) if way != "process" else 0
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
