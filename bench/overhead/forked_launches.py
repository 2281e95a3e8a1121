#!/usr/bin/env python3
"""Whether a launch costs more under utlz than beside an idle CUPTI: processes at the same time.

    forked_launches.py --utlz build/release/bin/utlz --output DIRECTORY [--turns]
                       [--loads decode training launches] [--rounds 30] [--limit-s 500]

price.py runs processes in turn on a host whose speed drifts, so single ones differ by 5 to 10 %.
Here the ways of a round run at the same time. Only the CPU time of sections that launch is compared,
since the processes share one GPU (launch_sections.py). Ways:

    alone    the program by itself, twice as a check: alone ÷ alone differs by the host only
    cupti    PyTorch's copy of CUPTI subscribed to before CUDA begins, nothing switched on
    default  utlz run, as it is used

and any other of price.py's, by --ways. The tables compare these three, and idle-stacks with default.

Without --turns each process has a core of its own, each way --copies times, and they change places
from round to round. A section counts in turns of a reference beside it. A figure is the mean over the
rounds' middle half of the ratio of two ways, and its 95 % interval by bootstrap over rounds.

With --turns each of --places cores has one process of each way, and they take turns of 15 ms on it:
all meet the same speeds. A figure is of sections in the same turn, in the mean of as many rounds as
programs share a core, in which each came to each server; its interval by bootstrap over these
rotations. A process works a quarter of the time, so its first ten seconds are not those of a program
by itself: believe the time after them, and of four programs on a core the first half minute, in which
each works as much as in its first ten seconds by itself.

Both are of the first ten seconds since CUDA began and of the time after them. Each process has a
server of its own that has imported torch (price_server.py). Prints tables; results.json keeps every
process, and a second call with the same --output goes on with the next round. Exits with 77 where
there is no GPU or no torch.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import sys
import threading
import time

import launch_sections
import price
import section_ratios
import turn_ratios
from launch_turns import Conductor
from presence_library import build_presence_library, presence_error
from price_report import report_of
from price_ways import alone, command_of_way, expand_ways, find_copies

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
FAILED = 1
TURNS_BEGIN_S = 60  # until all processes of a core are there


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


@dataclasses.dataclass(frozen=True)
class Program:
    place: int  # its core
    way: dict
    copy: int


def side_by_side(ways, copies, number):
    """The programs of a round: each way comes to each place, whichever stands beside it."""
    programs = [(way, copy) for copy in range(copies) for way in ways]
    start = number % len(programs)
    return [Program(place, *program)
            for place, program in enumerate(programs[start:] + programs[:start])]


def in_turns(ways, places, number):
    """The same on each place: each way, and the program alone once more. Each comes to each server,
    whose memory lies otherwise than that of another."""
    programs = [*((way, 0) for way in ways), (alone(), 1)]
    start = number % len(programs)
    return [Program(place, *program) for place in range(places)
            for program in programs[start:] + programs[:start]]


class Bench:

    def __init__(self, arguments, ways):
        self.arguments, self.ways = arguments, ways
        self.output = arguments.output.resolve()
        self.output.mkdir(parents=True, exist_ok=True)
        self.library = build_presence_library(self.output)
        programs = self._programs(0)
        self.processes = len(programs)
        self.places = 1 + max(program.place for program in programs)
        available = os.sched_getaffinity(0)
        self.cores, others = cores_of(available, siblings_of, self.places)
        os.sched_setaffinity(0, others)  # of what this process starts, utlz among it
        self.machine = {"cores": self.cores, "others": sorted(others), "turns": arguments.turns}
        self.deadline = time.monotonic() + arguments.limit_s
        self.stored = self.output / "results.json"
        self.runs = json.loads(self.stored.read_text())["runs"] if self.stored.exists() else {}
        self.profiles = []

    def _programs(self, number):
        if self.arguments.turns:
            return in_turns(self.ways, self.arguments.places, number)
        return side_by_side(self.ways, self.arguments.copies, number)

    def ratios(self):
        return turn_ratios if self.arguments.turns else section_ratios

    def run(self):
        servers = [price.Server(self._server(index), self._folder(index), self.arguments.loads)
                   for index in range(self.processes)]
        with concurrent.futures.ThreadPoolExecutor(self.processes + self.places) as pool:
            try:
                list(pool.map(lambda server: server.__enter__(), servers))
                self._rounds(pool)
            finally:
                for server in servers:
                    server.__exit__()
            list(pool.map(self._read_report, self.profiles))
        self._store()

    def _folder(self, index):
        folder = self.output / str(index)
        folder.mkdir(exist_ok=True)
        return folder

    @staticmethod
    def _server(index):
        return f"/tmp/forked-{os.getpid()}-{index}.socket"

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
                self._round(pool, load, number)
                longest_s = max(longest_s, time.monotonic() - begun)
                self._store()
                print(f"{load}, round {number + 1}: {time.monotonic() - begun:.1f} s", flush=True)

    def _round(self, pool, load, number):
        turns = [None] * self.places
        conducted = []
        if self.arguments.turns:
            turns = [f"/tmp/turns-{os.getpid()}-{place}.socket" for place in range(self.places)]
            conductors = [Conductor(path, self.processes // self.places, TURNS_BEGIN_S)
                          for path in turns]
            conducted = [pool.submit(conductor.conduct, self.arguments.seconds)
                         for conductor in conductors]
        ready = threading.Barrier(self.processes)
        programs = self._programs(number)
        list(pool.map(lambda index: self._one(load, number, index, programs[index],
                                              turns[programs[index].place], ready),
                      range(self.processes)))
        for each in conducted:
            each.result()

    def _one(self, load, number, index, program, turns, ready):
        way, folder = program.way, self._folder(index)
        result, profile = folder / "result.json", folder / f"{load}-{number}.utlz"
        result.unlink(missing_ok=True)
        prefix, added = command_of_way(way, self.arguments.utlz, self.library, profile)
        core = self.cores[program.place]
        command = [*prefix, sys.executable, str(HERE / "price_server.py"), "ask",
                   self._server(index), "launch_sections", load, "--seconds",
                   str(self.arguments.seconds), *([] if core is None else ["--core", str(core)]),
                   *(["--turns", turns] if turns else []), "--result", str(result)]
        ready.wait()
        with open(folder / "output.txt", "w+", encoding="utf-8", errors="replace") as said:
            status = price.execute(command, {**os.environ, **price.ENVIRONMENT, **added}, said,
                                   self.arguments.most_s)
            said.seek(0)
            output = said.read()
        run = {"way": way["kind"], "copy": program.copy, "round": number, "place": program.place}
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
        compared = {load: self.ratios().compare(runs) for load, runs in self.runs.items()}
        new = self.output / "results.new"
        new.write_text(json.dumps({"machine": self.machine, "compared": compared,
                                   "runs": self.runs}))
        new.replace(self.stored)


def write_tables(bench):
    ratios = bench.ratios()
    text = "\n".join(section_ratios.table(load, runs, ratios.PARTS, ratios.compare(runs))
                     for load, runs in bench.runs.items() if runs)
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
    parser.add_argument("--copies", type=int, default=2, help="of each way in a round, side by side")
    parser.add_argument("--turns", action="store_true", help="one process of each way a core")
    parser.add_argument("--places", type=int, default=4, help="cores on which processes take turns")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=13, help="of a process since CUDA began, or of all turns")
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
