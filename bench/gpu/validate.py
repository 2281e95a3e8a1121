#!/usr/bin/env python3
"""Validates utlz on a real GPU: launch counts, exit status, output, FLOPs and bytes of known work.

    validate.py --utlz build/release/bin/utlz --output DIRECTORY [--only NAME...] [--ncu]

Writes results.json and results.md into the directory as it goes, and takes up where it left off.
Exits with 77 where the machine lacks what the cases need.
"""

import argparse
import concurrent.futures
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import comparison
import native_program
import nsight_compute
from cases import CASES
from workload_runs import Runner

SKIPPED = 77


def gpu_name():
    if not shutil.which("nvidia-smi"):
        return None
    listed = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False)
    return listed.stdout.splitlines()[0] if listed.returncode == 0 and listed.stdout else None


def missing_for(cases):
    """What the cases need and this machine lacks, as a sentence, or None."""
    if not gpu_name():
        return "no NVIDIA GPU on this machine (nvidia-smi finds none)"
    if any(case.script.endswith(".cu") for case in cases) and not native_program.compiler():
        return "no nvcc on this machine, which the CUDA C++ program needs"
    for module in {"torch" for case in cases if case.script.endswith(".py")}:
        if not importlib.util.find_spec(module):
            return f"no {module} for {sys.executable}, which the PyTorch workloads need"
    return None


def reference_runs(runner, cases, parallel):
    """Runs every case alone, several at once: only what does not depend on time is compared."""
    def reference(case):
        if case.prepare:
            runner.alone(case, count=False)
        return runner.alone(case, case.count)
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        return dict(zip((case.name for case in cases), pool.map(reference, cases)))


def percent(value):
    return "" if value is None else f"{100 * value:+.2f} %"


def verdict(row):
    if not comparison.passed(row):
        return "FAIL"
    missing = comparison.not_told(row)
    return f"pass, but not told: {', '.join(missing)}" if missing else "pass"


def markdown(results):
    columns = ["case", "result", "launches", "known", "names that differ", "output same",
               "error of known work"]
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    for name, row in results.items():
        counts = row.get("counts", {})
        work = "; ".join(
            f"{part} {field} {percent(error)}"
            for part, field, error in comparison.errors_of_known_work(row) if error is not None)
        for what, known in row.get("nsight_compute", {}).items():
            if known.get("weighted_error") is not None:
                work += f" ncu {what}: {percent(known['weighted_error'])}"
        result = row["error"].splitlines()[-1] if "error" in row else verdict(row)
        cells = [name, result, counts.get("launches", ""), counts.get("launches_known", ""),
                 counts.get("names_that_differ_count", ""), row["output_same"], work]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def store(output, results):
    (output / "results.json").write_text(json.dumps(results, indent=1))
    (output / "results.md").write_text(markdown(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--output", required=True, help="directory for profiles and results")
    parser.add_argument("--only", nargs="+", choices=[case.name for case in CASES])
    parser.add_argument("--utlz-option", action="append",
                        help="for `utlz run`, may be repeated, as --utlz-option=--counters=none; "
                             "without any, --overhead-budget=unlimited, so that counts are exact")
    parser.add_argument("--ncu", action="store_true", help="also compare with Nsight Compute")
    parser.add_argument("--fresh", action="store_true", help="forget stored results")
    parser.add_argument("--parallel", type=int, default=4, help="reference runs at once")
    parser.add_argument("--timeout", type=int, default=300, help="seconds a run")
    arguments = parser.parse_args()
    chosen = [case for case in CASES if not arguments.only or case.name in arguments.only]
    if missing := missing_for(chosen):
        print(missing)
        return SKIPPED

    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    stored = output / "results.json"
    results = {}
    if stored.exists() and not arguments.fresh:
        results = json.loads(stored.read_text())
    cases = [case for case in chosen if case.name not in results]
    options = arguments.utlz_option or ["--overhead-budget=unlimited"]
    runner = Runner(output, arguments.utlz, options, arguments.timeout)
    references = reference_runs(runner, cases, arguments.parallel)
    for case in cases:
        profiled = runner.profiled(case)
        row = comparison.compare_run(profiled, references[case.name])
        if arguments.ncu and nsight_compute.program() and case.compute_arguments:
            kernels = nsight_compute.profile_step(runner, case)
            if kernels and profiled.summary:
                row["nsight_compute"] = nsight_compute.compare_step(profiled.summary, kernels)
        results[case.name] = row
        store(output, results)
        print(f"{case.name}: {verdict(row)}", flush=True)
    print(markdown(results))
    return 0 if all(comparison.passed(row) for row in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
