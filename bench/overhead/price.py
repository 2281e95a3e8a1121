#!/usr/bin/env python3
"""Which part of utlz costs what: processes in turn, each way beside runs alone, on a host that drifts.

    price.py --utlz build/release/bin/utlz --output DIRECTORY [--loads generate stream-waited …]
             [--ways alone cupti:torch default …] [--series before-after:none after-window …]
             [--rounds 6] [--seconds 8] [--limit-s 455]

A load is measured in pieces of a quarter of a second, and a fixed piece of work for the processor
beside each (price_reference.py): the figure is CPU time, or time, of a piece in turns of the two
references beside it. Loads that wait for the GPU have raw times too, which no processor blurs. A run
is compared with the mean of the runs alone before and after it; each round has two of those. The
processes are forked from a server that has imported torch (price_server.py). Ways, all for a load or
LOAD=WAY for one:

    alone             the program by itself
    inactive            utlz run --preload, never attached to
    cupti:COPY        CUPTI subscribed to before CUDA begins, nothing switched on
    cupti-recorded:…  kernels were recorded during the warm-up, and are no longer
    cupti-watching:…  the calls that load code are recorded, and nothing else
    cupti-both:…      both of these
    cupti-paused:…    both, but the recording ends in the context alone, as the agent pauses it
    windows           utlz run --counters=none
    default           utlz run; default@PATH: with --cupti PATH
    no-new-work, no-ranges (--counters=sample), tenth (--overhead-budget=0.1%), unlimited
    later-always, later-never  utlz run --later-windows=always or never
    stacks            utlz run --stacks=auto
    never-traced      utlz run --delay=1000 --counters=none: the agent is there and records nothing

COPY is `all`, for every copy of libcupti on the machine, `torch`, for the one that PyTorch brings, a
part of a path, or a path. Series come first, each one process, with the first copy of libcupti:

    before-after:MODE  the first load before CUPTI is loaded and after (none, subscribed, recorded …)
    after-window       what a launch costs in the two seconds after a window of records

Results are kept in results.json after every process; a second call with the same --output goes on
with the next round. Prints tables. Exits with 77 where there is no GPU or no torch.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import price_analysis
import price_loads
import price_states
from presence_library import build_presence_library, presence_error
from price_report import report_of
from price_ways import (ALONE, CUPTI_WAYS, UTLZ_WAYS, command_of_way, expand_ways, find_copies,
                        order_of_round)

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
FAILED = 1
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
               "TOKENIZERS_PARALLELISM": "false", "PYTHONDONTWRITEBYTECODE": "1",
               "PYTHONHASHSEED": "0",
               # No threads in the server, and no CUDA where something asks whether there is a GPU.
               "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
               "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
SERVER_S = 120  # until it has imported torch


class Bench:

    def __init__(self, arguments, ways, copies):
        self.arguments, self.ways, self.copies = arguments, ways, copies
        self.output = arguments.output.resolve()
        self.output.mkdir(parents=True, exist_ok=True)
        self.stored = self.output / "results.json"
        self.results = (json.loads(self.stored.read_text()) if self.stored.exists()
                        else {"runs": {}, "series": {}})
        self.call = time.time()
        self.deadline = time.monotonic() + arguments.limit_s
        self.longest_s = {}  # of a process, by load
        self.library = build_presence_library(self.output)
        self.socket = f"/tmp/price-{os.getpid()}.socket"  # a socket's path must be short

    def run(self):
        """The series, then rounds of every load in turn, until all are done or the time is up."""
        with Server(self.socket, self.output, self.arguments.loads):
            for series in self.arguments.series:
                if series not in self.results["series"]:
                    self._series(series)
            self._rounds()

    def _rounds(self):
        loads = self.arguments.loads
        done = {load: 1 + max((run["round"] for run in self.results["runs"].get(load, [])),
                              default=-1) for load in loads}
        for number in range(self.arguments.rounds):
            for load in loads:
                if number < done[load]:
                    continue
                for way in order_of_round(self.ways[load], number):
                    # Another load may be shorter.
                    longest_s = self.longest_s.get(load, max(self.longest_s.values(), default=0))
                    if time.monotonic() + 1.1 * longest_s >= self.deadline:
                        break
                    self._one(load, number, way)

    def _one(self, load, number, way):
        begun = time.monotonic()
        run = self._measure(load, way, f"{load}-{number}")
        self.longest_s[load] = max(self.longest_s.get(load, 0), time.monotonic() - begun)
        run.update(way=way["name"], round=number, call=self.call)
        run.setdefault("figures", {})
        self.results["runs"].setdefault(load, []).append(run)
        self._store()
        if "error" in run:
            print(f"{load}, round {number + 1}, {way['name']}: {run['error']}", flush=True)
        figures = run["figures"].get("all")
        if figures:
            print(f"{load} {number + 1} {way['name']}: CPU ÷ reference {figures['thread_ratio']:.4f}"
                  f", mean {figures['thread_ratio_mean']:.4f}, time {1e3 * figures['wall']:.3f} ms,"
                  f" reference {1e3 * figures['reference']:.2f} ms, {figures['pieces']} pieces, start"
                  f" {run['figures']['start_s']:.1f} s, end {run['figures']['end_s']:.1f} s",
                  flush=True)

    def _store(self):
        new = self.stored.with_suffix(".new")
        new.write_text(json.dumps(self.results))
        new.replace(self.stored)

    def _execute(self, name, prefix, words, added):
        """(what the process wrote, None) or (None, why it failed)."""
        result = self.output / f"{name}.json"
        result.unlink(missing_ok=True)
        command = [*prefix, sys.executable, str(HERE / "price_server.py"), "ask", self.socket,
                   *words, "--result", str(result), "--reference-scale",
                   str(self.arguments.reference_scale)]
        with open(self.output / "output.txt", "w+", encoding="utf-8", errors="replace") as said:
            status = execute(command, {**os.environ, **ENVIRONMENT, **added}, said,
                             self.arguments.most_s)
            said.seek(0)
            output = said.read()
        if status != 0 or not result.exists():
            return None, f"ended with {status}: {output[-600:].strip()}"
        child = json.loads(result.read_text())
        result.unlink()
        return child, None

    def _series(self, name):
        series, _, mode = name.partition(":")
        seconds = self.arguments.after_window_s if series == "after-window" else self.arguments.seconds
        cupti = self.arguments.series_cupti or next(iter(self.copies), "")
        begun = time.monotonic()
        child, error = self._execute(
            series, [], ["price_series", series, self.arguments.loads[0], "--presence",
                         str(self.library), "--cupti", cupti, "--mode", mode or "none", "--seconds",
                         str(seconds), "--after-s", str(self.arguments.after_s)], {})
        print(f"{name}: {error or 'measured'} ({time.monotonic() - begun:.1f} s)", flush=True)
        if child:
            self.results["series"][name] = child
            self._store()

    def _measure(self, load, way, name):
        profile = self.output / f"{name}.utlz"
        profile.unlink(missing_ok=True)
        prefix, added = command_of_way(way, self.arguments.utlz, self.library, profile)
        spawned_s = time.time()
        child, error = self._execute(name, prefix, ["price_loads", load, "--seconds",
                                                    str(self.arguments.seconds)], added)
        if error:
            return {"error": error}
        run = {"figures": price_analysis.figures_of_run(child, spawned_s, time.time()),
               "presence": child["presence"], "at": spawned_s, "pieces": child["pieces"],
               "references": child["references"]}
        if way["kind"] in CUPTI_WAYS:
            error = presence_error(way["kind"], child["presence"])
            if error:
                return {"error": error}
        if way["kind"] in UTLZ_WAYS:
            run["report"] = report_of(self.arguments.utlz, profile)
            if self.arguments.keep_profiles:
                profile.rename(profile.with_name(f"{name}-{way['kind']}.utlz"))
        profile.unlink(missing_ok=True)
        return run


class Server:
    """price_server.py, from when it answers until the end of the block."""

    def __init__(self, path, output, loads):
        self._path, self._loads = path, loads
        self._said = open(output / "server.txt", "w+", encoding="utf-8")
        self._process = None

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "price_server.py"), "serve", self._path, "--imports",
             *self._loads], env={**os.environ, **ENVIRONMENT}, stdout=self._said,
            stderr=subprocess.STDOUT)
        begun = time.monotonic()
        while not os.path.exists(self._path):
            if self._process.poll() is not None or time.monotonic() - begun > SERVER_S:
                self.__exit__()
                raise RuntimeError(f"the server did not begin: {self._words()}")
            time.sleep(0.02)
        print(f"server: {time.monotonic() - begun:.1f} s {self._words()}", flush=True)
        return self

    def _words(self):
        self._said.seek(0)
        return self._said.read()[-600:].strip()

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._said.close()
        pathlib.Path(self._path).unlink(missing_ok=True)


def execute(command, environment, output, most_s):
    """The exit status; a program that takes too long is ended with all that it started."""
    with subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            return process.wait(timeout=most_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return f"a signal after {most_s} s"


def write_tables(bench):
    text, series = "", list(bench.results["series"].values())
    pairs = [child for child in series if child["series"] == "before-after"]
    if pairs:
        text += price_analysis.before_after_table(pairs) + "\n"
    for child in series:
        if child["series"] == "after-window":
            text += price_analysis.after_window_table(child) + "\n"
    for load, runs in bench.results["runs"].items():
        ways = list(dict.fromkeys([ALONE, *(run["way"] for run in runs)]))
        text += price_analysis.table(load, runs, ways) + "\n"
        measured = [run for run in runs if run.get("pieces")]
        text += price_states.states_table(load, measured, ways) + "\n"
    (bench.output / "results.md").write_text(text)
    print(text)


def ways_of_loads(words, loads, copies):
    """{load: its ways}; raises ValueError for a word that names nothing."""
    ways = {}
    for load in loads:
        chosen = [word.split("=", 1)[-1] for word in words
                  if word.split("=", 1)[0] == load or "=" not in word]
        ways[load] = expand_ways(chosen, copies)
    return ways


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--loads", nargs="+", choices=price_loads.LOADS,
                        default=["generate", "stream-waited"])
    parser.add_argument("--ways", nargs="*", default=[
        "alone", "windows", "default", "generate=no-new-work", "generate=cupti:torch",
        "generate=cupti-both:torch", "generate=default@triton"])
    parser.add_argument("--series", nargs="*", default=[
        "before-after:none", "before-after:subscribed", "before-after:recorded", "after-window"])
    parser.add_argument("--series-cupti", help="the copy for them, a path")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--limit-s", type=float, default=455, help="no process begins that would end later")
    parser.add_argument("--seconds", type=float, default=8, help="of pieces, in each process")
    parser.add_argument("--after-window-s", type=float, default=60, help="of that whole series")
    parser.add_argument("--after-s", type=float, default=2, help="after each of its windows")
    parser.add_argument("--reference-scale", type=float, default=1, help="of the work beside a piece")
    parser.add_argument("--most-s", type=float, default=90, help="after which a process is ended")
    parser.add_argument("--keep-profiles", action="store_true")
    parser.add_argument("--copies", action="store_true", help="list the copies of libcupti and end")
    arguments = parser.parse_args()
    if arguments.output is None and not arguments.copies:
        parser.error("--output is needed")
    return arguments


def missing(loads):
    """What the loads need and this machine lacks, or None."""
    if set(loads) == {"fake"}:
        return None
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        return "no NVIDIA GPU or no torch on this machine"
    return None


def main():
    arguments = parse_arguments()
    copies = find_copies()
    if arguments.copies:
        print("\n".join(copies))
        return 0
    if why := missing(arguments.loads):
        print(why)
        return SKIPPED
    try:
        ways = ways_of_loads(arguments.ways, arguments.loads, copies)
    except ValueError as error:
        print(error, file=sys.stderr)
        return FAILED
    bench = Bench(arguments, ways, copies)
    try:
        bench.run()
    finally:
        write_tables(bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
