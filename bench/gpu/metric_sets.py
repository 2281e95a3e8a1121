#!/usr/bin/env python3
"""Asks a GPU what counters count and cost: known products run while sets of counters are sampled.

    metric_sets.py --probe build/release/bin/metric_set_cost --output FILE.json

Prints two tables: FLOPs for each count of every pipe, by kind of load, and CPU time of a sample, by
set. Takes about 40 s. Exits with 77 where the machine lacks what it needs.
"""

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
TPC = "TPC.TriageCompute.sm__"
BYTES = ["dram__bytes_read.sum", "dram__bytes_write.sum", "gpc__cycles_elapsed.max"]
TENSOR = TPC + "pipe_tensor_cycles_active_realtime.sum"
ACTIVE = TPC + "cycles_active.sum"
FMA = TPC + "inst_executed_pipe_fma_realtime.sum"
FP64 = TPC + "pipe_fp64_cycles_active_realtime.sum"
HMMA = TPC + "pipe_tensor_op_hmma_cycles_active_realtime.sum"
IMMA = TPC + "pipe_tensor_op_imma_cycles_active_realtime.sum"
DMMA = "SM_C.TriageCompute.smsp__pipe_tensor_op_dmma_cycles_active.sum"
SHARED = "sm__pipe_shared_cycles_active_realtime.sum"
FMA_LITE = TPC + "inst_executed_pipe_fmalite_realtime.sum"
FMA_HEAVY = TPC + "inst_executed_pipe_fmaheavy_realtime.sum"
BASE = [*BYTES, TENSOR, ACTIVE, FMA]

# What each pipe counts is read from sets that fit one pass; a set that does not is left out.
PIPES = ([*BYTES[2:], TENSOR, HMMA, IMMA, FP64], [*BYTES[2:], DMMA, SHARED],
         [*BYTES[2:], FMA, FMA_LITE, FMA_HEAVY])
SETS = {"base": BASE, "base + FP64": [*BASE, FP64], "base + DMMA": [*BASE, DMMA],
        "base + FP64 + DMMA": [*BASE, FP64, DMMA],
        "base, shared pipe for tensor": [*BYTES, SHARED, ACTIVE, FMA],
        "base, FMA lite for FMA": [*BYTES, TENSOR, ACTIVE, FMA_LITE],
        "base + HMMA, IMMA, FP64": [*BASE, HMMA, IMMA, FP64]}

# Runs one load until told the next one; says how many FLOPs a second it did with the one before.
LOAD = r"""
import sys, threading, time, queue
import torch
commands = queue.Queue()
def read():
    for line in sys.stdin:
        commands.put(line.strip())
    commands.put("end")
threading.Thread(target=read, daemon=True).start()
def product(dtype, size=4096):
    left, right = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.empty(size, size, device="cuda", dtype=dtype)
    return lambda: torch.mm(left, right, out=out), 2 * size ** 3
def fused(dtype, count=1 << 26):
    a, b, c = (torch.randn(count, device="cuda", dtype=dtype) for _ in range(3))
    return lambda: torch.addcmul(a, b, c, value=1.0, out=a), 2 * count
def integers(count=1 << 26):
    a = torch.randint(0, 100, (count,), device="cuda", dtype=torch.int32)
    return lambda: a.mul_(3), 0
def elementwise(function, dtype, count=1 << 26):
    a = torch.randn(count, device="cuda", dtype=dtype)
    return lambda: function(a), 0
LOADS = {"fp64 product": lambda: product(torch.float64), "fp32 product": lambda: product(torch.float32),
         "bf16 product": lambda: product(torch.bfloat16), "fp64 addcmul": lambda: fused(torch.float64),
         "fp32 addcmul": lambda: fused(torch.float32), "int32 multiply": integers,
         "bf16 gelu": lambda: elementwise(torch.nn.functional.gelu, torch.bfloat16),
         "bf16 addcmul": lambda: fused(torch.bfloat16),
         "fp16 addcmul": lambda: fused(torch.float16),
         "bf16 from fp32": lambda: elementwise(lambda a: a.bfloat16(), torch.float32),
         "bf16 compiled": lambda: elementwise(torch.compile(lambda a: torch.tanh(a) * a + a),
                                              torch.bfloat16)}
torch.set_float32_matmul_precision("highest")
name = commands.get()
while name in LOADS:
    launch, flops = LOADS[name]()
    for _ in range(5):
        launch()
    torch.cuda.synchronize()
    print("running", flush=True)
    begin, launches, events = time.perf_counter(), 0, []
    while commands.empty():
        launch()
        launches += 1
        if launches % 4 == 0:
            events.append(torch.cuda.Event())
            events[-1].record()
            if len(events) > 4:
                events.pop(0).synchronize()
    torch.cuda.synchronize()
    print(launches * flops / (time.perf_counter() - begin), flush=True)
    del launch
    torch.cuda.empty_cache()
    name = commands.get()
"""
LOADS = ("fp64 product", "fp32 product", "fp64 addcmul", "fp32 addcmul", "int32 multiply",
         "bf16 product", "bf16 gelu", "bf16 addcmul", "fp16 addcmul", "bf16 from fp32",
         "bf16 compiled")


class Load:
    """The program that keeps the GPU busy."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", LOAD], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.running = False

    def tell(self, name):
        """Changes the load; returns FLOPs a second of the one before, None at the start."""
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        rate = float(self.process.stdout.readline()) if self.running else None
        self.running = name in LOADS
        if self.running:
            self.process.stdout.readline()
        return rate


def probe(program, metrics, windows=5):
    done = subprocess.run([program, "--windows", str(windows), *metrics], capture_output=True,
                          text=True, check=False, timeout=60)
    if done.returncode != 0:
        return {"error": done.stderr.strip()}
    return json.loads(done.stdout)


def count_loads(program, load):
    """Rates of every pipe's counter under every load, in counts a second."""
    rows = {}
    previous = None
    for name in (*LOADS, None):
        rate = load.tell(name) if name else load.tell(LOADS[-1])
        if previous:
            rows[previous]["flops_per_s"] = rate
        if not name:
            break
        rows[name] = {"counts_per_s": {}, "errors": []}
        for metrics in PIPES:
            measured = probe(program, metrics)
            if "sums" not in measured:
                rows[name]["errors"].append(measured.get("error", f"{measured.get('passes')} passes"))
                continue
            for metric, value in measured["sums"].items():
                rows[name]["counts_per_s"][metric] = value / (measured["sampled_ns"] * 1e-9)
        previous = name
    return rows


def short(metric):
    name = metric.split("__", 1)[1].split(".")[0]
    for part in ("pipe_", "cycles_active_realtime", "inst_executed_", "_realtime", "cycles_active"):
        name = name.replace(part, "")
    return name.strip("_") or "active"


def print_counts(rows):
    metrics = [metric for group in PIPES for metric in group if metric not in BYTES]
    print("| load | FLOP/s | " + " | ".join(f"{short(metric)}" for metric in metrics) + " |")
    print("|" + " --- |" * (len(metrics) + 2))
    for name, row in rows.items():
        cells = []
        cycles = row["counts_per_s"].get(BYTES[2])
        for metric in metrics:
            count = row["counts_per_s"].get(metric)
            if count is None or not cycles:
                cells.append("–")
                continue
            flops = f", {row['flops_per_s'] / count:.4g} FLOP each" if count > 0.01 * cycles else ""
            cells.append(f"{count / cycles:.4g} a cycle{flops}")
        print(f"| {name} | {row['flops_per_s']:.4g} | {' | '.join(cells)} |")
        for error in row["errors"]:
            print(f"  ({error})")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", default="build/release/bin/metric_set_cost")
    parser.add_argument("--output", type=pathlib.Path, help="the numbers as JSON")
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("needs an NVIDIA GPU and PyTorch")
        return SKIPPED
    load = Load()
    try:
        rows = count_loads(arguments.probe, load)
        # The last load goes on while the sets are timed.
        costs = {name: probe(arguments.probe, metrics) for name, metrics in SETS.items()}
        load.tell("end")
    finally:
        load.process.kill()
    print_counts(rows)
    print("\n| set | passes | CPU, µs a sample | samples |\n| --- | --- | --- | --- |")
    for name, cost in costs.items():
        print(f"| {name} | {cost.get('passes', cost.get('error'))} | "
              f"{cost.get('cpu_us_per_sample', '–')} | {cost.get('samples', '–')} |")
    if arguments.output:
        arguments.output.write_text(json.dumps({"loads": rows, "sets": costs}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
