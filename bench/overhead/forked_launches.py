#!/usr/bin/env python3
"""Whether a launch costs more under utlz than beside an idle CUPTI: many processes, side by side.

    forked_launches.py --utlz build/release/bin/utlz --output DIRECTORY
                       [--loads decode training launches] [--copies 2] [--rounds 30] [--limit-s 500]

price.py runs processes in turn on a host whose speed drifts, so single ones differ by 5 to 10 %.
Here the ways of a round run at the same time, each so many times, on cores of their own, and change
places from round to round. Only the CPU time of sections that launch is compared, each in turns of a
reference beside it (launch_sections.py), since the processes share one GPU. Ways:

    alone    the program by itself, twice as a check: alone ÷ alone differs by the host only
    cupti    PyTorch's copy of CUPTI subscribed to before CUDA begins, nothing switched on
    default  utlz run, as it is used

A figure is the mean over the rounds' middle half of the ratio of two ways, and its 95 % interval by
bootstrap over rounds: of the first ten seconds since CUDA began, in which utlz records, and of the
time after them. Each place has a server of its own that has imported torch (price_server.py). Prints
tables; results.json keeps every process, and a second call with the same --output goes on with the
next round. Exits with 77 where there is no GPU or no torch.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import threading
import time

import launch_sections
import price
import section_ratios
from presence_library import build_presence_library, presence_error
from price_report import report_of
from price_ways import command_of_way, expand_ways, find_copies

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
FAILED = 1


def cores_of(available, siblings_of, places):
    """(a core for each place, the others), on physical cores of their own where there are enough of
    them. `siblings_of` names the cores that share one with it. None for places if they are too few."""
    chosen, shared = [], set()
    for core in sorted(available):
        if core not in shared:
            chosen.append(core)
            shared |= siblings_of(core)
    if len(chosen) < places or len(available - set(chosen[:places])) < places:
        chosen = sorted(available)
    places_cores = chosen[:places]
    others = available - set(places_cores)
    # A sibling that idles disturbs least.
    quiet = others - set().union(*(siblings_of(core) for core in places_cores))
    if len(others) < places:
        return [None] * places, available
    return places_cores, quiet if len(quiet) >= places else others


def siblings_of(core):
    path = pathlib.Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    found = set()
    try:
        words = path.read_text().strip().split(",")
    except OSError:
        return {core}
    for word in words:
        first, _, last = word.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def places_of_round(ways, copies, number):
    """[(way, its copy)…] by place: each way comes to each place, whichever stands beside it."""
    programs = [(way, copy) for copy in range(copies) for way in ways]
    start = number % len(programs)
    return programs[start:] + programs[:start]


class Bench:

    def __init__(self, arguments, ways):
        self.arguments, self.ways = arguments, ways
        self.output = arguments.output.resolve()
        self.output.mkdir(parents=True, exist_ok=True)
        self.library = build_presence_library(self.output)
        self.places = len(ways) * arguments.copies
        available = os.sched_getaffinity(0)
        self.cores, others = cores_of(available, siblings_of, self.places)
        os.sched_setaffinity(0, others)  # of what this process starts, utlz among it
        self.machine = {"cores": self.cores, "others": sorted(others)}
        self.deadline = time.monotonic() + arguments.limit_s
        self.stored = self.output / "results.json"
        self.runs = json.loads(self.stored.read_text())["runs"] if self.stored.exists() else {}
        self.profiles = []

    def run(self):
        servers = [price.Server(f"/tmp/forked-{os.getpid()}-{place}.socket", self._folder(place),
                                self.arguments.loads) for place in range(self.places)]
        with concurrent.futures.ThreadPoolExecutor(self.places) as pool:
            try:
                list(pool.map(lambda server: server.__enter__(), servers))
                self._rounds(pool)
            finally:
                for server in servers:
                    server.__exit__()
            list(pool.map(self._read_report, self.profiles))
        self._store()

    def _folder(self, place):
        folder = self.output / str(place)
        folder.mkdir(exist_ok=True)
        return folder

    def _rounds(self, pool):
        longest_s = 0
        done = {load: 1 + max((run["round"] for run in self.runs.setdefault(load, [])), default=-1)
                for load in self.arguments.loads}
        for number in range(self.arguments.rounds):
            for load in self.arguments.loads:
                if number < done[load]:
                    continue
                begun = time.monotonic()
                if begun + 1.05 * longest_s > self.deadline:
                    return
                ready = threading.Barrier(self.places)
                list(pool.map(lambda place: self._one(load, number, *place, ready),
                              enumerate(places_of_round(self.ways, self.arguments.copies, number))))
                longest_s = max(longest_s, time.monotonic() - begun)
                self._store()
                print(f"{load}, round {number + 1}: {time.monotonic() - begun:.1f} s", flush=True)

    def _one(self, load, number, place, program, ready):
        way, copy = program
        folder = self._folder(place)
        result, profile = folder / "result.json", folder / f"{load}-{number}.utlz"
        result.unlink(missing_ok=True)
        prefix, added = command_of_way(way, self.arguments.utlz, self.library, profile)
        core = [] if self.cores[place] is None else ["--core", str(self.cores[place])]
        command = [*prefix, sys.executable, str(HERE / "price_server.py"), "ask",
                   f"/tmp/forked-{os.getpid()}-{place}.socket", "launch_sections", load,
                   "--seconds", str(self.arguments.seconds), *core, "--result", str(result)]
        ready.wait()
        with open(folder / "output.txt", "w+", encoding="utf-8", errors="replace") as said:
            status = price.execute(command, {**os.environ, **price.ENVIRONMENT, **added}, said,
                                   self.arguments.most_s)
            said.seek(0)
            output = said.read()
        run = {"way": way["kind"], "copy": copy, "round": number, "place": place}
        run.update(self._measured(way, status, result, output))
        if "error" in run:
            print(f"{load}, round {number + 1}, {way['name']}: {run['error']}", flush=True)
        elif profile.exists():
            self.profiles.append((profile, run))
        self.runs[load].append(run)

    @staticmethod
    def _measured(way, status, result, output):
        if status != 0 or not result.exists():
            return {"error": f"ended with {status}: {output[-600:].strip()}"}
        child = json.loads(result.read_text())
        if way["kind"] == "cupti" and (error := presence_error("cupti", child["presence"])):
            return {"error": error}
        return child

    def _read_report(self, profile_and_run):
        profile, run = profile_and_run
        report = report_of(self.arguments.utlz, profile)
        capture = report.get("capture") or {}
        run["report"] = {
            "error": report.get("error"), "slowdown": capture.get("slowdown"),
            "records_ended_after_ns": capture.get("records_ended_after_ns"),
            "samples": capture.get("samples"), "notices": report.get("notices"),
            "launches": [process.get("launches") for process in report.get("processes") or []]}
        if not self.arguments.keep_profiles:
            profile.unlink()

    def _store(self):
        compared = {load: section_ratios.compare(runs) for load, runs in self.runs.items()}
        new = self.output / "results.new"
        new.write_text(json.dumps({"machine": self.machine, "compared": compared,
                                   "runs": self.runs}))
        new.replace(self.stored)


def write_tables(bench):
    text = "\n".join(section_ratios.table(load, runs) for load, runs in bench.runs.items() if runs)
    (bench.output / "results.md").write_text(text)
    print(text)
    for load, runs in bench.runs.items():
        for run in runs:
            if run.get("report"):
                print(f"{load}, round {run['round'] + 1}: {said_of_itself(run['report'])}")


def said_of_itself(report):
    """One line of what utlz reported of its own run."""
    if report["error"]:
        return report["error"]
    slowdown, ended_ns = report["slowdown"] or {}, report["records_ended_after_ns"]
    ended = f"records ended after {ended_ns / 1e9:.1f} s" if ended_ns else "records did not end"
    return (f"{ended}, {report['launches']} launches, {report['samples']} samples, slowdown"
            f" {100 * slowdown.get('share', 0):.2f} ± {100 * slowdown.get('error_share', 0):.2f} %")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--loads", nargs="+", choices=launch_sections.LOADS,
                        default=["decode", "training", "launches"])
    parser.add_argument("--ways", nargs="+", default=["alone", "cupti:torch", "default"])
    parser.add_argument("--copies", type=int, default=2, help="of each way in a round")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=13, help="of a process since CUDA began")
    parser.add_argument("--limit-s", type=float, default=500,
                        help="no round begins that would end later")
    parser.add_argument("--most-s", type=float, default=90, help="after which a process is ended")
    parser.add_argument("--keep-profiles", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if why := price.missing(arguments.loads):
        print(why)
        return SKIPPED
    try:
        ways = expand_ways(arguments.ways, find_copies())
    except ValueError as error:
        print(error, file=sys.stderr)
        return FAILED
    bench = Bench(arguments, ways)
    try:
        bench.run()
    finally:
        write_tables(bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
