#!/usr/bin/env python3
"""What CUPTI and utlz add to a launch: instructions of the launching thread, on a real GPU.

    launch_instructions.py --utlz build/release/bin/utlz --output DIRECTORY
                           [--ways alone cupti:torch default …] [--loads add graph copy set]
                           [--pairs 24] [--graph-pairs 3] [--warm-s 3]

Times of a launch differ by half from one second to the next on a shared host; the number of its
instructions does not. Each way (see price.py for their names) is one process. It works for some
seconds as usual, so that what a tool does at a run's start is over, and then step_launches.c counts
the instructions of single launches, spread over a few more seconds: some fall in windows in which
kernels are recorded and most do not. Prints the median and the tenth and ninetieth per cent of each
load, the median by library, and times of launches in the same process for comparison. Exits with
77 where there is no GPU or no torch.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import price_ways

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LIMIT_S = 120  # of one way
SETTLE_S = 0.15  # until what was recorded has run
CONTEXT, PROCESS = 1, 0  # what PresenceWindow switches
BATCH = 2000
BATCHES = 60


class Loads:
    """What is launched once between two marks."""

    def __init__(self, names):
        import torch
        self.torch = torch
        self.small = torch.zeros(64, device="cuda")
        self.other = torch.ones(64, device="cuda")
        self.steps = {name: getattr(self, f"make_{name}")() for name in names}

    def make_add(self):
        return lambda: self.small.add_(1)

    def make_copy(self):
        return lambda: self.small.copy_(self.other)

    def make_set(self):
        return self.small.zero_

    def make_graph(self):
        sys.path.insert(0, str(HERE.parent / "workloads"))
        from gpt_decode import GptDecode
        return GptDecode(argparse.Namespace(layers=12, batch=16, mode="graph")).step

    def wait(self):
        self.torch.cuda.synchronize()


def work(step, wait, seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(50):
            step()
        wait()


def time_batches(step, wait, count, batches):
    """CPU time of a launch in each batch, in ns."""
    times = []
    for _ in range(batches):
        begin = time.thread_time_ns()
        for _ in range(count):
            step()
        times.append((time.thread_time_ns() - begin) / count)
        wait()
    return times


def presence_library():
    path = os.environ.get("PRESENCE_MODE") and os.environ.get("CUDA_INJECTION64_PATH")
    return ctypes.CDLL(path) if path else None


def move_presence():
    library = presence_library()
    if library and os.environ["PRESENCE_MODE"] in ("moved", "context"):
        return library.PresenceMove()
    return None


def end_presence(moved):
    library = presence_library()
    if not library:
        return None
    library.PresenceRecordedBytes.restype = ctypes.c_uint64
    return {"moved": moved, "stopped": library.PresenceStop(), "status": library.PresenceStatus(),
            "recorded_bytes": library.PresenceRecordedBytes()}


def end_window(library, how):
    """What --switch says; "twice": settled, and then on and off once more for the process."""
    if how == "process":
        library.PresenceWindow(0, PROCESS)
        library.PresenceFlush(0)
        return
    library.PresenceWindow(0, CONTEXT)
    library.PresenceFlush(0)
    if how != "context":
        time.sleep(SETTLE_S)
        library.PresenceWindow(0, PROCESS)
    if how == "twice":
        library.PresenceWindow(1, PROCESS)
        library.PresenceWindow(0, PROCESS)


def have_windows(loads, count, how):
    """Windows of records; bytes that were recorded within each and between it and the next."""
    library = presence_library()
    recorded = []

    def work_once():
        begun = library.PresenceRecordedBytes()
        for step in loads.steps.values():
            step()
        loads.wait()
        library.PresenceFlush(1)
        return library.PresenceRecordedBytes() - begun

    for _ in range(count if library else 0):
        library.PresenceWindow(1, CONTEXT if how == "context" else PROCESS)
        within = work_once()
        end_window(library, how)
        recorded.append([within, work_once()])
    return recorded


def child(arguments):
    loads = Loads(arguments.loads)
    moved = move_presence()
    for step in loads.steps.values():
        for _ in range(20):
            step()
    loads.wait()
    presence = end_presence(moved)
    if arguments.windows:
        presence = [presence, have_windows(loads, arguments.windows, arguments.switch)]
        loads.steps |= {f"late-{name}": getattr(loads, f"make_{name}")()
                        for name in arguments.loads if name == "graph"}
    mark = ctypes.PyDLL(str(arguments.mark)).Mark
    for _ in range(3):  # what the call of a mark itself takes, and what its first call does
        mark()
        mark()
    times = {}
    for name, step in loads.steps.items():
        work(step, loads.wait, arguments.warm_s)
        count = 20 if "graph" in name else BATCH
        times[name] = time_batches(step, loads.wait, count, BATCHES)
    for name, step in loads.steps.items():
        for _ in range(arguments.graph_pairs if "graph" in name else arguments.pairs):
            work(step, loads.wait, 0.02)
            mark()
            step()
            mark()
    loads.wait()
    arguments.result.write_text(json.dumps({"times": times, "presence": presence}))
    return 0


def command_of(way, bench, profile):
    """What stands before the program, and what is added to the environment."""
    if way["kind"] in price_ways.CUPTI_WAYS:
        return [], {"CUDA_INJECTION64_PATH": str(bench["presence"]), "PRESENCE_CUPTI": way["cupti"],
                    "PRESENCE_MODE": price_ways.CUPTI_WAYS[way["kind"]]}
    if way["kind"] == "inactive":
        return [bench["utlz"], "run", "--preload", "--"], {}
    if way["kind"] in price_ways.UTLZ_WAYS:
        cupti = ["--cupti", way["cupti"]] if way["cupti"] else []
        return [bench["utlz"], "run", "--no-report", "-o", str(profile),
                *price_ways.UTLZ_WAYS[way["kind"]], *cupti, "--"], {}
    return [], {}


def measure(way, number, bench, arguments):
    counts = bench["output"] / f"counts-{number}.json"
    result = bench["output"] / f"child-{number}.json"
    profile = bench["output"] / f"{number}.utlz"
    for old in (counts, result, profile):
        old.unlink(missing_ok=True)
    prefix, added = command_of(way, bench, profile)
    command = [*prefix, str(bench["stepper"]), str(counts), sys.executable, __file__, "--child",
               "--mark", str(bench["mark"]), "--result", str(result), "--loads", *arguments.loads,
               "--pairs", str(arguments.pairs), "--graph-pairs", str(arguments.graph_pairs), "--warm-s", str(arguments.warm_s),
               "--windows", str(arguments.windows), "--switch", arguments.switch]
    try:
        ended = subprocess.run(command, env={**os.environ, **added}, capture_output=True, text=True,
                               errors="replace", timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"not over after {LIMIT_S} s"}
    profile.unlink(missing_ok=True)
    if ended.returncode != 0 or not result.exists():
        return {"error": f"ended with {ended.returncode}: {ended.stderr[-600:].strip()}"}
    found = json.loads(result.read_text())
    lines = [json.loads(line) for line in counts.read_text().splitlines()]
    found["empty"], lines = lines[2], lines[3:]
    found["counts"] = {}
    for name in found["times"]:
        pairs = arguments.graph_pairs if "graph" in name else arguments.pairs
        found["counts"][name], lines = lines[:pairs], lines[pairs:]
    counts.unlink()
    result.unlink()
    return found


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def print_way(name, found):
    if "error" in found:
        print(f"{name}: {found['error']}", flush=True)
        return
    print(f"{name} | presence {found['presence']}")
    for load, counts in found["counts"].items():
        totals = [count["total"] - found["empty"]["total"] for count in counts]
        files = sorted({file for count in counts for file in count if file != "total"})
        medians = {file: statistics.median(count.get(file, 0) for count in counts)
                   for file in files}
        largest = sorted(medians, key=medians.get, reverse=True)
        parts = ", ".join(f"{file} {medians[file]:.0f}" for file in largest
                          if medians[file] >= 20 and "python" not in file)
        times = found["times"][load]
        print(f"{name} | {load} | {statistics.median(totals):.0f} ({quantile(totals, 0.1)} …"
              f" {quantile(totals, 0.9)}) instructions | {statistics.median(times):.0f} ns"
              f" ({quantile(times, 0.1):.0f} … {quantile(times, 0.9):.0f}) | {parts}", flush=True)


def build(output):
    bench = {"output": output, "stepper": output / "step_launches", "mark": output / "libmark.so",
             "presence": output / "libpresence_cupti.so"}
    compiler = [os.environ.get("CC", "gcc"), "-O2"]
    shared = ["-shared", "-fPIC"]
    source = HERE / "step_launches.c"
    subprocess.run([*compiler, "-o", bench["stepper"], source], check=True)
    subprocess.run([*compiler, *shared, "-DMARK", "-o", bench["mark"], source], check=True)
    subprocess.run([*compiler, *shared, "-o", bench["presence"], HERE / "presence_cupti.c", "-ldl"],
                   check=True)
    return bench


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--ways", nargs="+", default=["alone", "cupti:torch", "cupti-both:torch",
                                                      "cupti-paused:torch", "never-traced",
                                                      "inactive", "windows", "default"])
    parser.add_argument("--loads", nargs="+", default=["add", "graph"],
                        choices=("add", "graph", "copy", "set"))
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--graph-pairs", type=int, default=3)
    parser.add_argument("--warm-s", type=float, default=3)
    parser.add_argument("--windows", type=int, default=0,
                        help="for ways of CUPTI: so many windows of records first")
    parser.add_argument("--switch", choices=("context", "process", "settled", "twice"),
                        default="context", help="how records are switched for --windows")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--mark", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    if importlib.util.find_spec("torch") is None or not shutil.which("nvidia-smi"):
        print("launch_instructions.py: skipped: needs torch and an NVIDIA GPU")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    bench = build(arguments.output.resolve())
    bench["utlz"] = str(arguments.utlz.resolve())
    results = {}
    for number, way in enumerate(price_ways.expand_ways(arguments.ways, price_ways.find_copies())):
        results[way["name"]] = measure(way, number, bench, arguments)
        print_way(way["name"], results[way["name"]])
        (bench["output"] / "results.json").write_text(json.dumps(results))
    return 1 if any("error" in found for found in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
