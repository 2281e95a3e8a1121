#!/usr/bin/env python3
"""Compares bounds of FLOPs, made from kernels' code and counters, with Nsight Compute's counts.

    flop_bounds_table.py --program build/release/bin/kernel_flop_bounds --code LIBRARY... \\
        --counted CSV... [--error 2] [--set NAME=FIELD,FIELD...]...

Each CSV is what `ncu --print-kernel-base mangled --csv --page raw` or `--csv` shows of the same
launches in the same order. The counters' values are Nsight Compute's, and --error is one standard
error of each, in percent.
"""

import argparse
import csv
import re
import subprocess
import sys

FIELDS = {
    "warp_fma": ["sm__inst_executed_pipe_fma.sum"],
    "warp_fma_lite": ["sm__inst_executed_pipe_fmalite.sum"],
    "warp_alu": ["sm__inst_executed_pipe_alu.sum"],
    "warp_xu": ["sm__inst_executed_pipe_xu.sum"],
    "warp_all": ["sm__inst_executed.sum"],
    "thread_fma": ["sm__thread_inst_executed_pipe_fmalite_pred_on.sum",
                   "sm__thread_inst_executed_pipe_fmaheavy_pred_on.sum"],
    "thread_fma_lite": ["sm__thread_inst_executed_pipe_fmalite_pred_on.sum"],
    "thread_alu": ["sm__thread_inst_executed_pipe_alu_pred_on.sum"],
    "thread_xu": ["sm__thread_inst_executed_pipe_xu_pred_on.sum"],
    "thread_lsu": ["sm__thread_inst_executed_pipe_lsu_pred_on.sum"],
    "thread_all": ["sm__thread_inst_executed_pred_on_realtime.sum"],
}
OPERATION = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
WARPS = "warp_fma,warp_fma_lite,warp_alu,warp_xu,warp_all,thread_all"
SETS = ["fma=warp_fma", f"warps={WARPS}", f"warps+threads={WARPS},thread_alu,thread_xu",
        "threads=thread_fma,thread_fma_lite,thread_lsu,thread_alu,thread_xu"]


class Launch:
    def __init__(self, name, grid, block):
        self.name = name
        blocks, threads = self._product(grid), self._product(block)
        self.threads, self.warps = blocks * threads, blocks * -(-threads // 32)
        self.metrics = {}

    @staticmethod
    def _product(shape):
        product = 1
        for number in re.findall(r"\d+", shape):
            product *= int(number)
        return product

    def operations(self, name):
        return self.metrics[OPERATION.format(name)]

    @property
    def fp32_flops(self):
        return self.operations("fadd") + self.operations("fmul") + 2 * self.operations("ffma")

    @property
    def bound_of_today(self):
        return 64 * self.metrics[FIELDS["warp_fma"][0]]

    def line(self, fields, error):
        words = [self.name, self.threads, self.warps]
        for field in fields:
            count = sum(self.metrics[metric] for metric in FIELDS[field])
            words.append(f"{field}={count}:{count * error}")
        return " ".join(map(str, words))


def read_launches(paths):
    launches = []
    for path in paths:
        by_id = {}
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("==")):
                launch = by_id.setdefault(row["ID"], Launch(
                    row["Kernel Name"], row["Grid Size"], row["Block Size"]))
                launch.metrics[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
        if not launches:
            launches = list(by_id.values())
            continue
        for launch, more in zip(launches, by_id.values(), strict=True):
            if (launch.name, launch.threads) != (more.name, more.threads):
                sys.exit(f"{path} is of other launches: {more.name} for {launch.name}")
            launch.metrics.update(more.metrics)
    return launches


def bounds_of(arguments, launches, fields):
    lines = "".join(launch.line(fields, arguments.error / 100) + "\n" for launch in launches)
    run = subprocess.run([arguments.program, *arguments.code], input=lines, text=True, check=True,
                         stdout=subprocess.PIPE)
    for line in run.stdout.splitlines():
        words = line.split()
        yield tuple(map(float, words[2:4])) if len(words) == 6 else None


def cell(launch, bounds):
    if bounds is None:
        return "–"
    least, most = bounds
    wrong = "" if least <= launch.fp32_flops <= most else " WRONG"
    half = 100 * (most - least) / (most + least) if most else 0
    return f"{least / launch.fp32_flops:.2f}–{most / launch.fp32_flops:.2f}, ± {half:.0f} %{wrong}"


def short_name(mangled):
    words = [word for word in re.findall(r"[A-Za-z_]{4,}", re.sub(r"\d+", " ", mangled))
             if not re.match(r"_?ZN|_GLOBAL|native$|EEEE|NS_|detail", word)]
    return " ".join(words[:4])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--code", nargs="+", required=True)
    parser.add_argument("--counted", nargs="+", required=True)
    parser.add_argument("--error", type=float, default=2)
    parser.add_argument("--set", action="append", dest="sets")
    arguments = parser.parse_args()
    launches = [launch for launch in read_launches(arguments.counted) if launch.fp32_flops > 1000]
    sets = dict(one.split("=") for one in arguments.sets or SETS)
    columns = {name: list(bounds_of(arguments, launches, fields.split(",")))
               for name, fields in sets.items()}
    print("| kernel | FP32 FLOPs | bound today | " + " | ".join(columns) + " |")
    print("| --- " * (3 + len(columns)) + "|")
    for index, launch in enumerate(launches):
        cells = [cell(launch, bounds[index]) for bounds in columns.values()]
        print(f"| {short_name(launch.name)} | {launch.fp32_flops:.3g} | "
              f"{launch.bound_of_today / launch.fp32_flops:.2f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
