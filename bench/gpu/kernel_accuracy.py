#!/usr/bin/env python3
"""Every kernel above 1 % of the time: utlz's bytes and FLOPs, its stated interval, and the truth.

    kernel_accuracy.py --utlz build/release/bin/utlz --output DIRECTORY [--only CASE...]

The truth is Nsight Compute's count over one step of the same work (bytes, FLOPs of the tensor pipe and
of other instructions), or 2·M·N·K for planted products. Runs of either that DIRECTORY already holds are not repeated, so the cases may be
taken one at a time; kernels.md has the table of all that are there, kernels.json the numbers. A case
takes 25 to 50 s. Exits with 77 where the machine lacks what it needs.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import sys
import time

import comparison
import nsight_compute
from cases import Case
from validate import SKIPPED, missing_for
from workload_runs import Runner

LEAST_TIME_SHARE = 0.01

STEP = ("--steps", "1", "--warmup", "1", "--mark-last-step")
GENERATE = ("--new-tokens", "4")
ON_DEVICE = ("--operations", "kernel_read_write", "kernel_write")
GEMMS = ("--expect",)

# Steps enough for some seconds of samples; Nsight Compute's arguments repeat what shapes the work.
CASES = (
    Case("train", "gpt_train.py", ("--steps", "150"), compute_arguments=STEP),
    Case("decode-eager", "gpt_decode.py", ("--steps", "2500"), compute_arguments=STEP),
    Case("decode-graph", "gpt_decode.py", ("--steps", "8000", "--mode", "graph")),
    Case("transformers", "transformers_generate.py", ("--steps", "120", *GENERATE),
         compute_arguments=(*STEP, *GENERATE)),
    Case("gemms", "planted_gemms.py", ("--steps", "40", *GEMMS),
         compute_arguments=(*STEP, "--repetitions", "8")),
    Case("copies", "planted_copies.py", ("--steps", "100", *ON_DEVICE),
         compute_arguments=(*STEP, "--repetitions", "2", *ON_DEVICE)),
)
# Other work than language models', by its name.
CASES += tuple(
    Case(load, "assorted.py", ("--load", load, "--steps", str(steps)),
         compute_arguments=(*STEP, "--load", load))
    for load, steps in (("convolution", 150), ("experts", 300), ("recurrent", 60),
                        ("spectral", 500), ("integers", 300), ("streams", 1500),
                        ("ragged", 500), ("halves", 800)))
# The graph replays the eager decode's kernels in the same order.
SAME_KERNELS = {"decode-graph": "decode-eager"}


OTHER_OPERATIONS = {metric: operations for metrics in nsight_compute.OTHERS.values()
                    for metric, operations in metrics.items()}


@dataclasses.dataclass
class Figure:
    """One quantity of one launch: ours, half of our 95 % interval, and the truth."""
    value: float
    half_width: float
    truth: float

    @property
    def error(self):
        return self.value / self.truth - 1 if self.truth else None

    @property
    def may_be_nothing(self):
        """Then a report says "less than" the interval's upper end, and nothing else."""
        return self.value <= self.half_width

    @property
    def held(self):
        return abs(self.value - self.truth) <= self.half_width


def figure_of(kernels, field, truth):
    """None where a part of the kernel has no such number, or the truth is not known."""
    launches = sum(kernel.get("launches", 0) for kernel in kernels)
    values = [kernel.get(field) for kernel in kernels]
    if not launches or None in values or truth is None:
        return None
    half_width = comparison.NORMAL_95 * sum(kernel.get(f"{field}_error", 0) for kernel in kernels)
    return Figure(sum(values) / launches, half_width / launches, truth)


def figure_of_types(kernels, data_types, truth):
    """Of the FLOPs of some data types, as Nsight Compute counts them. A kernel with FLOPs of others
    has none of these; one without any has no figure."""
    launches = sum(kernel.get("launches", 0) for kernel in kernels)
    if not launches or truth is None or any("flops_by_type" not in kernel for kernel in kernels):
        return None
    chosen = [entry for kernel in kernels for entry in kernel["flops_by_type"]
              if entry["data_type"] in data_types]
    half_width = comparison.NORMAL_95 * sum(entry.get("flops_error", 0) for entry in chosen)
    return Figure(sum(entry["flops"] for entry in chosen) / launches, half_width / launches, truth)


def mean_of(kernels, metrics):
    """Of a launch, over Nsight Compute's kernels, each metric times its weight where it has one; None
    where it has none of them."""
    weights = metrics if isinstance(metrics, dict) else dict.fromkeys(metrics, 1)
    values = [weight * kernel[metric] for kernel in kernels for metric, weight in weights.items()
              if kernel.get(metric) is not None]
    return sum(values) / len(kernels) if values else None


def counted_figure(kernels, known, data_types, metrics):
    """None where neither side has such operations."""
    figure = figure_of_types(kernels, data_types, mean_of(known, metrics) if known else None)
    return figure if figure and (figure.value or figure.truth) else None


def compare_kernels(summary, reference, flops_per_launch=None):
    """One row a function and grid with at least 1 % of the time, the longest first."""
    ours = collections.defaultdict(list)
    for kernel in summary.get("kernels", []):
        ours[(kernel.get("mangled_name"), tuple(kernel.get("grid", [])))].append(kernel)
    theirs = collections.defaultdict(list)
    for kernel in reference:
        theirs[(kernel["name"], tuple(kernel["grid"]))].append(kernel)
    rows = []
    for key, kernels in ours.items():
        share = sum(kernel.get("time_share", 0) for kernel in kernels)
        if share < LEAST_TIME_SHARE:
            continue
        known = theirs.get(key, [])
        if flops_per_launch:
            flops = figure_of(kernels, "flops", flops_per_launch)
        else:
            flops = counted_figure(kernels, known, nsight_compute.TENSOR,
                                   nsight_compute.TENSOR.values())
        rows.append({"name": kernels[0].get("short_name", key[0]), "time_share": share,
                     "launches": sum(kernel.get("launches", 0) for kernel in kernels),
                     "bytes": figure_of(kernels, "dram_bytes",
                                        mean_of(known, nsight_compute.BYTES) if known else None),
                     "flops": flops,
                     "others": counted_figure(kernels, known, nsight_compute.OTHERS,
                                              OTHER_OPERATIONS)})
    return sorted(rows, key=lambda row: -row["time_share"])


def cells_of(figure):
    if figure is None:
        return ["–", "–"]
    if figure.may_be_nothing:
        most = f"< {figure.value + figure.half_width:.3g}"
        return [most if figure.held else f"**{most}**", "–"]
    error = (f"{figure.value:.2g}, none counted" if figure.error is None
             else f"{100 * figure.error:+.1f} %")
    width = f"{100 * figure.half_width / figure.value:.1f} %" if figure.value else "–"
    return [error, width if figure.held else f"**{width}**"]


def share_counted(figure):
    """What pipes execute is told as anything up to a most: how much of that was counted."""
    if figure is None:
        return "–"
    most = figure.value + figure.half_width
    if not most:
        return f"**none of {figure.truth:.2g}**"
    share = f"{100 * figure.truth / most:.0f} %"
    return share if figure.held else f"**{share}**"


def markdown(rows_by_case):
    columns = ["case", "kernel", "of the time", "launches", "bytes a launch", "error", "stated ±",
               "tensor FLOPs: error", "stated ±", "other FLOPs, of the most"]
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    figures = []
    for case, rows in rows_by_case.items():
        for row in rows:
            moved = f"{row['bytes'].truth:.3g}" if row["bytes"] else "–"
            cells = [case, f"`{row['name']}`", f"{100 * row['time_share']:.1f} %", row["launches"],
                     moved, *cells_of(row["bytes"]), *cells_of(row["flops"]),
                     share_counted(row["others"])]
            lines.append(f"| {' | '.join(map(str, cells))} |")
            figures += [figure for figure in (row["bytes"], row["flops"]) if figure]
    if figures:
        held = sum(figure.held for figure in figures)
        lines.append(f"\n{held} of {len(figures)} intervals hold the truth; the others are bold.")
    return "\n".join(lines) + "\n"


def stored(path, make):
    """The JSON of an earlier run, or of `make`, which may return None."""
    if path.exists():
        return json.loads(path.read_text())
    made = make()
    if made is not None:
        path.write_text(json.dumps(made))
    return made


def reference_of(case, runner):
    owner = SAME_KERNELS.get(case.name, case.name)
    return stored(runner.output / f"{owner}.ncu.json", lambda: nsight_compute.profile_step(
        runner, case) if case.compute_arguments else None)


def profile_of(case, runner):
    def run():
        outcome = runner.profiled(case)
        if not outcome.summary:
            print(f"{case.name}: {outcome.error_tail[-500:]}")
            return None
        return {"summary": outcome.summary, "result": outcome.result}
    return stored(runner.output / f"{case.name}.profiled.json", run)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=[case.name for case in CASES])
    parser.add_argument("--timeout", type=int, default=120, help="seconds a run")
    arguments = parser.parse_args()
    chosen = [case for case in CASES if not arguments.only or case.name in arguments.only]
    missing = missing_for(chosen) or (None if nsight_compute.program()
                                      else "no ncu on this machine, which the truth is from")
    if missing:
        print(missing)
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    runner = Runner(arguments.output, arguments.utlz, ["--overhead-budget=unlimited"],
                    arguments.timeout)
    for case in chosen:
        begin = time.monotonic()
        profile_of(case, runner)
        middle = time.monotonic()
        reference_of(case, runner)
        print(f"{case.name}: {middle - begin:.0f} s under utlz, {time.monotonic() - middle:.0f} s "
              "under ncu", flush=True)

    rows_by_case = {}
    for case in CASES:
        profile = arguments.output / f"{case.name}.profiled.json"
        reference = arguments.output / f"{SAME_KERNELS.get(case.name, case.name)}.ncu.json"
        if not profile.exists() or not reference.exists():
            continue
        run = json.loads(profile.read_text())
        flops = ((run["result"] or {}).get("expected") or {}).get("flops_per_launch")
        rows_by_case[case.name] = compare_kernels(run["summary"],
                                                  json.loads(reference.read_text()), flops)
    text = markdown(rows_by_case)
    (arguments.output / "kernels.md").write_text(text)
    (arguments.output / "kernels.json").write_text(
        json.dumps(rows_by_case, default=dataclasses.asdict, indent=1))
    print(text)
    return 0 if len(rows_by_case) == len(CASES) or arguments.only else 1


if __name__ == "__main__":
    sys.exit(main())
