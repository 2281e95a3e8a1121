#!/usr/bin/env python3
"""Whether each linear layer of a training has the FLOPs that it executed, on a real GPU.

    layer_flops.py --utlz build/release/bin/utlz --output DIRECTORY [--steps 200 300] [--rounds 2]
                   [--utlz-option=OPTION ...]

Trains the GPT of bench/workloads under `utlz run --stacks=auto` with the default budget. Holds FLOPs
of its linear layers against 2·M·N·K a product, three products a step, and launches of kernels
against whole numbers a step. Prints a table of runs; layer_flops.json has the numbers. A run takes
some 25 s. Profiles that DIRECTORY has already are read, not recorded again. Exits with 77 without a
GPU or PyTorch.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import comparison
from cases import Case
from validate import SKIPPED, missing_for
from workload_runs import Runner

WARMUP = 3
TOKENS, WIDTH, VOCABULARY, BLOCKS = 8 * 1024, 1024, 50304, 12
PRODUCTS = 3  # forward, and two of the backward pass
# Output and input features of a layer.
LAYERS = {
    "query_key_value": (3 * WIDTH, WIDTH),
    "projection": (WIDTH, WIDTH),
    "feed_up": (4 * WIDTH, WIDTH),
    "feed_down": (WIDTH, 4 * WIDTH),
    "head": (VOCABULARY, WIDTH),
}
# Kernels that a step launches a known number of times, by a part of their names.
PARTS_OF_A_STEP = {
    "loss": "cunn_SoftMaxForward",
    "embedding, backward": "sum_and_scatter",
    "optimizer": "FusedAdam",
}


def flops_of(layer, steps):
    rows, columns = LAYERS[layer]
    return 2 * TOKENS * rows * columns * PRODUCTS * steps


def layer_of(row):
    return row["name"].rsplit(".", 1)[-1]


def off_by_layer(owners, steps):
    """{layer: relative error of its FLOPs, those of all blocks together}."""
    sums = dict.fromkeys(LAYERS, 0.0)
    for row in owners["layers"]:
        if row["kind"] == "layer" and layer_of(row) in LAYERS:
            sums[layer_of(row)] += row.get("own_flops", 0)
    return {layer: sums[layer] / flops_of(layer, steps) / (1 if layer == "head" else BLOCKS) - 1
            for layer in LAYERS}


def layers_within(owners, steps):
    """(layers whose 95 % interval holds the truth, layers within 2 % of it, layers)."""
    rows = [row for row in owners["layers"] if row["kind"] == "layer" and layer_of(row) in LAYERS]
    held = sum(abs(row.get("flops", 0) - flops_of(layer_of(row), steps))
               <= comparison.NORMAL_95 * row.get("flops_error", 0) for row in rows)
    close = sum(abs(row.get("flops", 0) / flops_of(layer_of(row), steps) - 1) <= 0.02
                for row in rows)
    return held, close, len(rows)


def off_by_part(kernels, steps):
    """{part of a step: launches against the nearest whole number a step, relative}."""
    result = {}
    for part, name in PARTS_OF_A_STEP.items():
        a_step = sum(kernel["launches"] for kernel in kernels if name in kernel["name"]) / steps
        if a_step > 0:
            result[part] = a_step / max(1, round(a_step)) - 1
    return result


def report_of(runner, case):
    """The report of the profile that is there, or of a new one; None: neither was to be had."""
    profile = runner.output / f"{case.name}.utlz"
    if not profile.exists():
        return runner.profiled(case).summary
    done = subprocess.run([runner.utlz, "report", str(profile), "--recompute", "--format", "json",
                           "--top", "100000"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def recorded_steps(summary, steps):
    """Steps that the report speaks of: fewer where records ended, as the loss says, which a step has
    once."""
    if "records_ended_after_ns" not in summary["capture"]:
        return steps + WARMUP
    return sum(kernel["launches"] for kernel in summary["kernels"]
               if PARTS_OF_A_STEP["loss"] in kernel["name"])


def measure(runner, case, steps):
    summary = report_of(runner, case)
    if summary is None:
        return None
    all_steps = recorded_steps(summary, steps)
    owners = summary["owners"]
    return {"steps": steps, "recorded_steps": all_steps, "owners": {key: value for key, value in owners.items()
                                       if key.endswith("_share")},
            "flops": off_by_layer(owners, all_steps), "within": layers_within(owners, all_steps),
            "launches": off_by_part(summary["kernels"], all_steps)}


def print_tables(results):
    print("| steps, told | " + " | ".join(LAYERS) + " | ± holds | within 2 % |")
    print("| --- " * (len(LAYERS) + 3) + "|")
    for result in results:
        held, close, count = result["within"]
        print(f"| {result['steps'] + WARMUP}, {result['recorded_steps']:.0f} | " + " | ".join(
            f"{off:+.1%}" for off in result["flops"].values()),
              f"| {held} of {count} | {close} of {count} |")
    print("\n| steps | " + " | ".join(PARTS_OF_A_STEP) + " |")
    print("| --- " * (len(PARTS_OF_A_STEP) + 1) + "|")
    for result in results:
        print(f"| {result['steps']} | " + " | ".join(
            f"{result['launches'][part]:+.1%}" if part in result["launches"] else "–"
            for part in PARTS_OF_A_STEP) + " |")
    for layer in LAYERS:
        print(f"{layer}: median {statistics.median(r['flops'][layer] for r in results):+.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, nargs="+", default=[200, 300])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--utlz-option", action="append", default=[])
    arguments = parser.parse_args()
    cases = [(Case(f"layers-{steps}-{round_number}", "gpt_train.py", ("--steps", str(steps))), steps)
             for round_number in range(arguments.rounds) for steps in arguments.steps]
    missing = missing_for([case for case, _ in cases])
    if missing:
        print(missing, file=sys.stderr)
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    runner = Runner(arguments.output, arguments.utlz, ["--stacks=auto", *arguments.utlz_option])
    results = [result for case, steps in cases
               if (result := measure(runner, case, steps)) is not None]
    (arguments.output / "layer_flops.json").write_text(json.dumps(results, indent=1))
    if not results:
        print("no run has a report", file=sys.stderr)
        return 1
    print_tables(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
