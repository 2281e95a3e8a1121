#!/usr/bin/env python3
"""Measures what tools cost on the loads that people run, and prints the table.

    overhead.py --output DIRECTORY [--utlz PROGRAM] [--loads L...] [--tools T...] [--minutes 8]

Each (load, tool) is one part: a process of its own, in which windows without and with the tool
alternate (windows.py). A tool that cannot be switched inside a process is measured by whole
processes, in turn. Parts are kept in results.json; a run begins none that would not end within
`--minutes` and takes up where the last one ended. Exits with 75 while parts are left.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from loads import LOADS
from slowdown import median_and_interval, slowdowns
from tools import NVTX_TOOLS, TOOLS

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gpu"))
import nsight_compute  # pylint: disable=wrong-import-position

PARTS_LEFT = 75
SKIPPED = 77

# Tools that wrap a whole process: what stands before the command.
WRAPPERS = {
    "utlz-run": lambda a, scratch: [a.utlz, "run", "--no-report", "-o", f"{scratch}/run.utlz",
                                    "--"],
    # Loaded, and never attached to.
    "utlz-preload": lambda a, scratch: [a.utlz, "run", "--preload", "--"],
    # CUPTI loaded and tracing from the start, records dropped: the floor of the row above.
    "empty-cupti-run": lambda a, scratch: ["env", "CUDA_INJECTION64_PATH="
                                           f"{scratch}/libempty_cupti.so"],
    "nsys": lambda a, scratch: ["nsys", "profile", "--trace=cuda", "--sample=none",
                                "--cpuctxsw=none", "--cuda-graph-trace=node",
                                "--force-overwrite=true", "-o", f"{scratch}/nsys"],
    # Bytes and bf16 FLOPs of every kernel of the measured window, in one pass: the least that ncu does.
    "ncu": lambda a, scratch: [nsight_compute.program(), "--target-processes", "all",
                               "--profile-from-start", "off", "--cache-control", "none",
                               "--clock-control", "none", "--force-overwrite", "-o",
                               f"{scratch}/ncu", "--metrics",
                               ",".join((*nsight_compute.BYTES, nsight_compute.TENSOR["bf16"]))],
}
# A step takes seconds under these: no more than this many are measured.
MOST_STEPS = {"ncu": 1}


class Bench:

    def __init__(self, arguments):
        self.arguments = arguments
        self.output = pathlib.Path(arguments.output)
        self.output.mkdir(parents=True, exist_ok=True)
        self.stored = self.output / "results.json"
        self.results = json.loads(self.stored.read_text()) if self.stored.exists() else {}
        self.deadline = time.monotonic() + 60 * arguments.minutes
        self.libraries = self.build_libraries(self.output, arguments.loads)

    @staticmethod
    def build_libraries(output, loads):
        """Options for windows.py that name what had to be built."""
        empty = output / "libempty_cupti.so"
        native = output / "libnative_loads.so"
        if not empty.exists():
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", empty, HERE / "empty_cupti.c",
                            "-ldl"], check=True)
        if not native.exists() and {"storm", "threads", "graphs"} & set(loads):
            nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
            subprocess.run([nvcc, "-O2", "-std=c++17", "-arch=native", "-cudart", "static",
                            "-shared", "-Xcompiler", "-fPIC", "-o", native,
                            HERE / "native_loads.cu"], check=True)
        return ["--native-library", str(native), "--empty-cupti-library", str(empty)]

    def run(self):
        """Whether every part is done."""
        for load in self.arguments.loads:
            for tool in self.arguments.tools:
                part = f"{load}/{tool}"
                if part in self.results:
                    continue
                if time.monotonic() + self.arguments.part_seconds > self.deadline:
                    return False
                self.results[part] = self._part(load, tool)
                self.stored.write_text(json.dumps(self.results, indent=1))
                print(row_of(part, self.results[part]), flush=True)
        return True

    def _part(self, load, tool):
        if tool in WRAPPERS:
            return self._part_by_processes(load, tool)
        command = [sys.executable, str(HERE / "windows.py"), "--load", load, "--tool", tool,
                   "--pairs", str(self.arguments.pairs), "--seconds",
                   str(0.8 * self.arguments.part_seconds), "--window-seconds",
                   str(self.arguments.window_seconds), "--utlz", self.arguments.utlz,
                   *self.libraries]
        if tool.startswith("utlz-"):
            command = [self.arguments.utlz, "run", "-o", str(self.output / f"{load}-{tool}.utlz"),
                       "--counters=none", "--no-report",
                       *(["--nvtx"] if tool in NVTX_TOOLS else []), "--", *command]
        return self._execute(command)

    def _part_by_processes(self, load, tool):
        command = [sys.executable, str(HERE / "windows.py"), "--load", load, "--tool", "control",
                   "--only-steps", "--window-seconds", str(self.arguments.window_seconds),
                   "--most-steps", str(MOST_STEPS.get(tool, 0)), *self.libraries]
        wrapper = WRAPPERS[tool](self.arguments, self.output)
        end = time.monotonic() + 0.8 * self.arguments.part_seconds
        pairs = []
        while len(pairs) < self.arguments.pairs and time.monotonic() < end:
            order = [[], wrapper] if len(pairs) % 2 == 0 else [wrapper, []]
            outcomes = {bool(prefix): self._execute([*prefix, *command]) for prefix in order}
            for outcome in outcomes.values():
                if "error" in outcome:
                    return outcome
            pairs.append([outcomes[wrapped]["seconds_per_step"] for wrapped in (False, True)])
        return {"load": load, "tool": tool, "pairs": pairs, "by_processes": True}

    def _execute(self, command):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        if cupti := find_cupti():
            environment.setdefault("EMPTY_CUPTI_LIBRARY", cupti)
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  env=environment, timeout=self.arguments.part_seconds)
        except subprocess.TimeoutExpired:
            return {"error": f"ran longer than {self.arguments.part_seconds} s"}
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not lines:
            return {"error": (done.stderr or "no output")[-500:].strip()}
        return json.loads(lines[-1])


def find_cupti():
    """The copy that PyTorch would load: loads without PyTorch have none in their process."""
    specification = importlib.util.find_spec("nvidia")
    for folder in (specification.submodule_search_locations if specification else []):
        for path in pathlib.Path(folder).glob("*/lib/libcupti.so.1[23]"):
            return str(path)
    return None


def row_of(part, result):
    load, tool = part.split("/")
    if "error" in result:
        return f"| {load} | {tool} | failed: {result['error'].splitlines()[-1][:80]} | | | |"
    median, low, high = median_and_interval(slowdowns(result["pairs"]))
    step_ms = 1e3 * sorted(off for off, _ in result["pairs"])[len(result["pairs"]) // 2]
    how = "processes" if result.get("by_processes") else "windows"
    return (f"| {load} | {tool} | {100 * median:+.2f} % | {100 * low:+.2f} … {100 * high:+.2f} % | "
            f"{step_ms:.4f} | {len(result['pairs'])} {how} |")


def table_of(results):
    lines = ["| load | tool | median slowdown | 95 % interval | step without, ms | pairs |",
             "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join(lines + [row_of(part, result) for part, result in results.items()]) + "\n"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--loads", nargs="+", choices=LOADS, default=list(LOADS))
    parser.add_argument("--tools", nargs="+", choices=[*TOOLS, *WRAPPERS], default=list(TOOLS))
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--window-seconds", type=float, default=1.0)
    parser.add_argument("--part-seconds", type=float, default=120, help="at most, a (load, tool)")
    parser.add_argument("--minutes", type=float, default=8)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not shutil.which("nvidia-smi"):
        print("no NVIDIA GPU on this machine (no nvidia-smi)")
        return SKIPPED
    bench = Bench(arguments)
    done = bench.run()
    (bench.output / "results.md").write_text(table_of(bench.results))
    print(table_of(bench.results))
    return 0 if done else PARTS_LEFT


if __name__ == "__main__":
    sys.exit(main())
