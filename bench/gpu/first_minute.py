#!/usr/bin/env python3
"""What the default budget has told after a minute: kernel by kernel, against full tracing and ncu.

    first_minute.py --utlz build/release/bin/utlz --output DIRECTORY [--only CASE...]
                    [--first-only] [--share 0.25]

Each case runs for about a minute under `utlz run` with its defaults, and then for some seconds with
everything traced. The first is held to the second for the time that a kernel takes in a step, and
to Nsight Compute's count of one step for bytes and FLOPs. While it runs, its growing profile is read
until that tells all it can in the first minute: the seconds to first results. Runs that DIRECTORY holds
already are not repeated. Prints tables; first_minute.json has the numbers. A case takes about three
minutes. With --first-only there is the first run alone, and the table of seconds to first results;
--share runs so much of the steps.
Exits with 77 where the machine lacks what it needs.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import comparison
import kernel_accuracy
import nsight_compute
from cases import Case
from validate import SKIPPED, missing_for
from workload_runs import Runner

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "overhead"))
from profile_frames import trace_windows  # pylint: disable=wrong-import-position

WARMUP = 3
LEAST_TIME_SHARE = 0.01
SECONDS_TO_READ = 60
# It counts a training's tensor operations in two minutes.
NCU_TIMEOUT_S = 240
# A kernel has a rate worth knowing from here: of DRAM's peak, and of the tensor pipe's time.
LEAST_DRAM_SHARE = 0.02
LEAST_TENSOR_SHARE = 0.1
# Largest ± of each kernel's bytes and tensor FLOPs, relative, by the name of the goal.
GOALS = {"± 10, ± 5 %": (0.10, 0.05), "± 5, ± 4 %": (0.05, 0.04)}


@dataclasses.dataclass(frozen=True)
class Load:
    case: Case          # with the steps of a minute
    traced_steps: int   # with everything traced; 0: no such run


STEP = ("--steps", "1", "--warmup", "1", "--mark-last-step")
LOADS = (
    Load(Case("train", "gpt_train.py", ("--steps", "1900"), compute_arguments=STEP), 300),
    Load(Case("decode-eager", "gpt_decode.py", ("--steps", "22000"), compute_arguments=STEP), 4000),
    Load(Case("decode-graph", "gpt_decode.py", ("--steps", "85000", "--mode", "graph")), 12000),
    # These compile before their steps.
    Load(Case("train-compiled", "gpt_train.py", ("--steps", "900", "--compile")), 0),
    Load(Case("jax", "jax_train.py", ("--steps", "5000")), 0),
)


class FirstResults(threading.Thread):
    """Reads a growing profile until it tells all that is waited for, and notes what it told when."""

    def __init__(self, utlz, profile):
        super().__init__(daemon=True)
        self.utlz, self.profile = utlz, profile
        self.seconds = {}   # of the wall clock, by what was told first
        self.ended = threading.Event()

    def run(self):
        end = time.time() + SECONDS_TO_READ
        while time.time() < end and not self.ended.is_set() and set(TOLD) - set(self.seconds):
            asked = time.time()
            for what in things_told(self._report()):
                self.seconds.setdefault(what, asked)
            time.sleep(0.2)

    def _report(self):
        done = subprocess.run([self.utlz, "report", str(self.profile), "--format", "json",
                               "--top", "100000"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}


TOLD = ("time_ns", "flops", "dram_bytes", "all bytes", *GOALS)


def things_told(summary):
    """What a report tells already, of TOLD: figures of the kernel that takes most time, and how well
    all with 1 % of the steps' time are known."""
    kernels = sorted(summary.get("kernels", []), key=lambda kernel: -kernel.get("time_ns", 0))
    told = [field for field in ("time_ns", "flops", "dram_bytes")
            if kernels and kernels[0].get(field)]
    steps_ns = sum(map(ns_in_steps, kernels))
    much = [kernel for kernel in kernels if ns_in_steps(kernel) > LEAST_TIME_SHARE * steps_ns]
    if not much or any("dram_bytes" not in kernel for kernel in much):
        return told
    bytes_width, flops_width = widest(much)
    return [*told, "all bytes", *(goal for goal, (most_bytes, most_flops) in GOALS.items()
                                  if bytes_width <= most_bytes and flops_width <= most_flops)]


def ns_in_steps(kernel):
    """What a program only tried out, while it compiled, is no part of its steps."""
    return kernel.get("time_ns", 0) * kernel.get("steady_state_share", 1)


def widest(kernels):
    """(bytes, tensor FLOPs): the widest relative 95 % interval, as far as measured, of kernels that
    move bytes or use the tensor pipe to speak of."""
    widths = {"dram_bytes": [0.0], "flops": [0.0]}
    for kernel in kernels:
        for field, share, least in (("dram_bytes", "dram_peak_share", LEAST_DRAM_SHARE),
                                    ("flops", "tensor_active_share", LEAST_TENSOR_SHARE)):
            if kernel.get(share, 0) < least:
                continue
            error, assumed = kernel.get(f"{field}_error", 0), kernel.get(f"{field}_error_assumed", 0)
            measured = max(0.0, error**2 - assumed**2)**0.5
            widths[field].append(comparison.NORMAL_95 * measured / kernel[field]
                                 if kernel.get(field) else float("inf"))
    return max(widths["dram_bytes"]), max(widths["flops"])


def per_step(summary, steps):
    """{(name, grid): [time of a step, its stated 95 % interval ±, share of the time]} in ns."""
    table = collections.defaultdict(lambda: [0.0, 0.0, 0.0])
    for kernel in summary.get("kernels", []):
        row = table[(kernel.get("mangled_name"), tuple(kernel.get("grid", [])))]
        row[0] += kernel.get("time_ns", 0) / steps
        row[1] += comparison.NORMAL_95 * kernel.get("time_error_ns", 0) / steps
        row[2] += kernel.get("time_share", 0)
    return table


def recorded_steps(default, steps, traced, traced_steps):
    """Of a program that is recorded once, the steps that the times of its kernels are of: by their
    launches."""
    if "records_ended_after_ns" not in default["capture"]:
        return steps
    launches, known = (sum(kernel.get("launches", 0) for kernel in summary.get("kernels", []))
                       for summary in (default, traced))
    return launches * traced_steps / known if known else steps


def compare_times(default, default_steps, traced, traced_steps):
    """[{name, time_share, error, stated}] of the kernels with 1 % of the time of a traced run, relative;
    error None: the run under the budget does not know the kernel."""
    known, ours = per_step(traced, traced_steps), per_step(default, default_steps)
    rows = []
    for key, (time_ns, _, share) in sorted(known.items(), key=lambda item: -item[1][0]):
        if share < LEAST_TIME_SHARE:
            continue
        found = ours.get(key)
        rows.append({"name": key[0], "grid": list(key[1]), "time_share": share,
                     "error": found[0] / time_ns - 1 if found else None,
                     "stated": found[1] / found[0] if found else None})
    return rows


def within(values, limit):
    return f"{sum(value is not None and abs(value) <= limit for value in values)} of {len(values)}"


def spread(values):
    """Median and largest of relative figures, as per cent."""
    values = [abs(value) for value in values if value is not None]
    return f"{100 * statistics.median(values):.1f}, {100 * max(values):.1f} %" if values else "–"


def row_of(load, facts, times, counted):
    figures = {what: [row[what] for row in counted if row[what]] for what in ("bytes", "flops")}
    cells = [load, f"{facts['wall_s']:.0f} s, {100 * facts['coverage']:.0f} % traced, sampler "
             f"{100 * facts['sampler_cpu']:.1f} % of a core",
             *(f"{facts['first'][field]:.1f} s" if field in facts["first"] else "–"
               for field in ("time_ns", "dram_bytes")),
             within([row["error"] for row in times], 0.02),
             spread([row["error"] for row in times]), spread([row["stated"] for row in times])]
    for what in ("bytes", "flops"):
        held = sum(figure.held for figure in figures[what])
        widths = [figure.half_width / figure.value for figure in figures[what] if figure.value]
        cells += [spread([figure.error for figure in figures[what]]), spread(widths),
                  f"{held} of {len(figures[what])}"]
    return f"| {' | '.join(cells)} |"


def row_of_first(load, facts):
    """Of the second table: when the report told what, in seconds of steps."""
    steps_s, first = facts["steps_s"], facts["first"]
    cells = [load, f"{steps_s:.1f} s"]
    cells += [f"{max(0.0, first[what] - steps_s):.1f} s" if what in first else "–" for what in TOLD]
    return f"| {' | '.join(cells)} |"


HEAD_OF_FIRST = ("load", "start-up", "first times", "first FLOPs", "first bytes", "all bytes", *GOALS)
HEAD = ("load", "run", "first times", "first bytes", "times within 2 %", "their error", "stated ±",
        "bytes: error", "stated ±", "held", "tensor FLOPs: error", "stated ±", "held")


def run_default(load, output, utlz):
    """The minute under the defaults: {summary, first: seconds after the first traced work, steps_s:
    when the steps began, after that too}."""
    runner = Runner(output / "default", utlz, timeout_s=150)
    profile = runner.output / f"{load.case.name}.utlz"
    profile.unlink(missing_ok=True)
    first = FirstResults(utlz, profile)
    first.start()
    outcome = runner.profiled(load.case)
    first.ended.set()
    first.join()
    if not outcome.summary:
        print(f"{load.case.name}: {outcome.error_tail[-500:]}")
        return None
    windows = trace_windows(profile)
    run_began = outcome.summary["run"]["start_time_ns"] / 1e9
    began = windows[0][0] / 1e9 if windows else run_began
    steady = outcome.summary.get("steady_state", {})
    return {"summary": outcome.summary,
            "first": {what: at - began for what, at in first.seconds.items()},
            "steps_s": run_began + steady.get("start_ns", 0) / 1e9 - began}


def run_traced(load, output, utlz):
    if not load.traced_steps:
        return None
    runner = Runner(output / "traced", utlz, ["--overhead-budget=unlimited"], 120)
    outcome = runner.profiled(dataclasses.replace(load.case, arguments=(
        "--steps", str(load.traced_steps), *load.case.arguments[2:])))
    return {"summary": outcome.summary} if outcome.summary else None


def shortened(load, share):
    """With so much of its steps."""
    option, steps, *others = load.case.arguments
    arguments = (option, str(round(share * int(steps))), *others)
    return dataclasses.replace(load, case=dataclasses.replace(load.case, arguments=arguments))


def measure_first(load, output, utlz):
    """When the run under the defaults told what, as facts of row_of_first."""
    (output / "default").mkdir(parents=True, exist_ok=True)
    default = kernel_accuracy.stored(output / f"{load.case.name}.default.json",
                                     lambda: run_default(load, output, utlz))
    return {"facts": facts_of(default)} if default else None


def facts_of(default):
    capture = default["summary"]["capture"]
    return {"wall_s": default["summary"]["run"]["wall_ns"] / 1e9,
            "coverage": capture.get("coverage_share", 1.0), "first": default["first"],
            "steps_s": default["steps_s"], "sampler_cpu": capture.get("sampler_cpu_share", 0.0)}


def times_of(load, default, traced):
    traced_steps = load.traced_steps + WARMUP
    steps = int(load.case.arguments[1]) + WARMUP
    return compare_times(default, recorded_steps(default, steps, traced, traced_steps), traced,
                         traced_steps)


def measure(load, output, utlz):
    name = load.case.name
    for folder in ("default", "traced"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    default = kernel_accuracy.stored(output / f"{name}.default.json",
                                     lambda: run_default(load, output, utlz))
    traced = kernel_accuracy.stored(output / f"{name}.traced.json",
                                    lambda: run_traced(load, output, utlz))
    reference = kernel_accuracy.reference_of(load.case, Runner(output, utlz, timeout_s=NCU_TIMEOUT_S))
    if not default or load.traced_steps and not traced:
        return None
    return {"facts": facts_of(default),
            "times": times_of(load, default["summary"], traced["summary"]) if traced else [],
            "counted": kernel_accuracy.compare_kernels(default["summary"], reference or [])}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=[load.case.name for load in LOADS])
    parser.add_argument("--first-only", action="store_true", help="seconds to first results alone")
    parser.add_argument("--share", type=float, default=1, help="of the steps")
    arguments = parser.parse_args()
    chosen = [load for load in LOADS if not arguments.only or load.case.name in arguments.only]
    missing = missing_for([load.case for load in chosen])
    if not missing and not arguments.first_only and not nsight_compute.program():
        missing = "no ncu on this machine, which the truth is from"
    if missing:
        print(missing)
        return SKIPPED
    results = {}
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    first_lines = [f"| {' | '.join(HEAD_OF_FIRST)} |", f"|{' --- |' * len(HEAD_OF_FIRST)}"]
    for load in (shortened(load, arguments.share) for load in chosen):
        measured = measure_first if arguments.first_only else measure
        result = measured(load, arguments.output, arguments.utlz)
        if result:
            results[load.case.name] = result
            if not arguments.first_only:
                lines.append(row_of(load.case.name, **result))
            first_lines.append(row_of_first(load.case.name, result["facts"]))
        (arguments.output / "first_minute.json").write_text(
            json.dumps(results, default=dataclasses.asdict, indent=1))
        tables = first_lines if arguments.first_only else [*lines, "", *first_lines]
        (arguments.output / "first_minute.md").write_text("\n".join(tables) + "\n")
        print(first_lines[-1], flush=True)
    print("\n".join(tables))
    return 0 if len(results) == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
