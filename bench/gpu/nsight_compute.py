"""Runs Nsight Compute over one step of a case and compares bytes and FLOPs kernel by kernel."""

import collections
import csv
import re
import shutil

BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")
# Operations of the tensor pipe, by data type.
TENSOR = {"bf16": "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
          "fp16": "sm__ops_path_tensor_src_fp16.sum",
          "tf32": "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
          "fp8": "sm__ops_path_tensor_src_fp8.sum", "int8": "sm__ops_path_tensor_src_int8.sum",
          "fp64_tensor": "sm__ops_path_tensor_src_fp64.sum"}
# Other instructions by data type, and the operations that each does.
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
OTHERS = {"fp32": {SASS.format("fadd"): 1, SASS.format("fmul"): 1, SASS.format("ffma"): 2},
          "fp64": {SASS.format("dadd"): 1, SASS.format("dmul"): 1, SASS.format("dfma"): 2}}
# Bytes are counted in a run of their own, in one pass: what a kernel that is replayed finds in the
# caches is not what the program left there. Instructions are counted by patching the code, which
# takes a third of a second for each kernel: the last run may end before its time.
RUNS = ((*BYTES, "gpu__time_duration.sum"), tuple(TENSOR.values()),
        tuple(metric for metrics in OTHERS.values() for metric in metrics))


def program():
    return shutil.which("ncu")


def profile_step(runner, case):
    """Kernels of the marked step: [{name, grid, metric: value}], or None where ncu failed."""
    merged = None
    for number, metrics in enumerate(RUNS):
        log = runner.output / f"{case.name}.ncu{number}.csv"
        prefix = [program(), "--csv", "--cache-control", "none", "--clock-control", "none",
                  "--print-units", "base", "--print-kernel-base", "mangled", "--profile-from-start",
                  "off", "--target-processes", "all", "--log-file", str(log), "--metrics",
                  ",".join(metrics)]
        outcome = runner.under(prefix, case, case.compute_arguments)
        complete = outcome.exit_status == 0 and log.exists()
        if not complete and number + 1 < len(RUNS):
            return None
        kernels = parse_csv(log.read_text()) if log.exists() else []
        merged = kernels if merged is None else joined(merged, kernels)
    return merged


def joined(kernels, others):
    """The counts of two runs of one step, launch by launch of each kernel."""
    left = collections.defaultdict(list)
    for kernel in others:
        left[(kernel["name"], tuple(kernel["grid"]))].append(kernel)
    for queue in left.values():
        queue.reverse()
    return [{**kernel, **(queue.pop() if queue else {})} for kernel in kernels
            for queue in [left[(kernel["name"], tuple(kernel["grid"]))]]]


def parse_csv(text):
    """Its own messages stand around the table; numbers are grouped by commas."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    kernels = {}
    for row in csv.DictReader(lines):
        kernel = kernels.setdefault((row.get("Process ID"), row["ID"]), {
            "name": row["Kernel Name"],
            "grid": [int(part) for part in re.findall(r"\d+", row["Grid Size"])]})
        value = row["Metric Value"].replace(",", "")
        kernel[row["Metric Name"]] = float(value) if re.fullmatch(r"[\d.e+-]+", value) else None
    return list(kernels.values())


def compare_step(summary, kernels):
    """Mean bytes and FLOPs of a launch, ours against Nsight Compute's, weighted by theirs."""
    theirs = collections.defaultdict(list)
    for kernel in kernels:
        theirs[(kernel["name"], tuple(kernel["grid"]))].append(kernel)
    ours = collections.defaultdict(list)
    for kernel in summary.get("kernels", []):
        ours[(kernel.get("mangled_name"), tuple(kernel.get("grid", [])))].append(kernel)

    rows = {}
    for what, field, metrics in (
            ("bytes", "dram_bytes", BYTES), ("bf16_flops", "flops", (TENSOR["bf16"],))):
        rows[what] = _weighted_error(ours, theirs, field, metrics)
    return rows


def _weighted_error(ours, theirs, field, metrics):
    total = error = missing = 0.0
    worst = (0.0, None)
    totals = {key: sum(kernel.get(metric) or 0 for kernel in group for metric in metrics)
              for key, group in theirs.items()}
    everything = sum(totals.values())
    for key, known in totals.items():
        if known == 0:
            continue
        group = ours.get(key, [])
        launches = sum(kernel.get("launches", 0) for kernel in group)
        values = [kernel.get(field) for kernel in group]
        if not launches or None in values:
            missing += known
            continue
        measured = sum(values) / launches * len(theirs[key])
        total += known
        error += abs(measured - known)
        if known >= 0.01 * everything and abs(measured / known - 1) > abs(worst[0]):
            worst = (measured / known - 1, key[0])
    if everything == 0:
        return {}
    return {"weighted_error": error / total if total else None,
            "not_measured": missing / everything, "worst_of_one_percent": worst[0],
            "worst_name": worst[1]}
