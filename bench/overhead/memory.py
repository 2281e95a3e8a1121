#!/usr/bin/env python3
"""Measures the memory that utlz takes, in the target, in the collector and on the GPU.

    memory.py --output DIRECTORY [--utlz PROGRAM] [--load decode] [--cases C...] [--seconds 60]

Runs the load alone, with an empty CUPTI consumer in it (the floor), and under `utlz run` with the
default budget and without one; reads /proc and NVML once a second, from outside. What counts is the
median of the last quarter of a run; growth is that less the median of the second quarter.
"""

import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from loads import LOADS
from overhead import Bench, SKIPPED, find_cupti

HERE = pathlib.Path(__file__).resolve().parent
CASES = ("alone", "empty-cupti", "utlz", "utlz-unlimited")
FIELDS = {"VmRSS": "resident", "VmHWM": "resident at most", "RssAnon": "anonymous", "RssShmem": "shared"}


def resident_bytes(status):
    """Bytes by sort, from the text of /proc/PID/status; None where the process has no memory."""
    found = {}
    for line in status.splitlines():
        name, _, rest = line.partition(":")
        if name in FIELDS and rest.split()[1:] == ["kB"]:
            found[FIELDS[name]] = int(rest.split()[0]) * 1024
    return found if "resident" in found else None


def read_memory(pid):
    try:
        return resident_bytes(pathlib.Path(f"/proc/{pid}/status").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None


def children_of(pid):
    children = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += [int(word) for word in path.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return children


def role_of(command):
    """What a child of `utlz run` is, by its command line; None for one that is not yet anything."""
    if command[1:2] == ["sampler"]:
        return "sampler"
    # Between fork and exec the child still looks like the collector.
    if command[1:2] != ["run"] and any(word.endswith("windows.py") for word in command):
        return "target"
    return None


def processes(pid, wrapped):
    """Process identifiers by role."""
    if not wrapped:
        return {"target": pid}
    found = {"collector": pid}
    for child in children_of(pid):
        try:
            command = pathlib.Path(f"/proc/{child}/cmdline").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[role_of(command.split("\0"))] = child
    found.pop(None, None)
    return found


class ProcessInfo(ctypes.Structure):
    """nvmlProcessInfo_t."""
    _fields_ = [("pid", ctypes.c_uint), ("used_bytes", ctypes.c_ulonglong),
                ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class MemoryInfo(ctypes.Structure):
    """nvmlMemory_t."""
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Nvml:
    """Memory of the first GPU, by process and as a whole."""

    NOT_AVAILABLE = 2**64 - 1

    def __init__(self):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        if (self.library.nvmlInit_v2() != 0 or
                self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) != 0):
            raise OSError("NVML finds no GPU")

    def used_bytes(self):
        info = MemoryInfo()
        status = self.library.nvmlDeviceGetMemoryInfo(self.device, ctypes.byref(info))
        return info.used if status == 0 else None

    def by_process(self):
        count = ctypes.c_uint(64)
        entries = (ProcessInfo * count.value)()
        if self.library.nvmlDeviceGetComputeRunningProcesses_v3(
                self.device, ctypes.byref(count), entries) != 0:
            return {}
        return {entry.pid: entry.used_bytes for entry in entries[:count.value]
                if entry.used_bytes != self.NOT_AVAILABLE}


def sample(pid, wrapped, nvml):
    """Bytes by what was measured: one reading."""
    reading = {}
    roles = processes(pid, wrapped)
    for role, process in roles.items():
        for sort, value in (read_memory(process) or {}).items():
            reading[f"{role} {sort}"] = value
    if nvml is None:
        return reading
    reading["gpu whole"] = nvml.used_bytes()
    on_gpu = nvml.by_process()
    for role, process in roles.items():
        if process in on_gpu:
            reading[f"gpu {role}"] = on_gpu[process]
    # In a container NVML's identifiers may be the host's: then only their number says something.
    reading["gpu processes"] = len(on_gpu)
    return {name: value for name, value in reading.items() if value is not None}


def steady(readings):
    """By what was measured: (median of the last quarter, growth since the second quarter)."""
    result = {}
    for name in sorted({name for reading in readings for name in reading}):
        values = [reading[name] for reading in readings if name in reading]
        quarter = max(1, len(values) // 4)
        last = statistics.median(values[-quarter:])
        result[name] = (last, last - statistics.median(values[quarter:2 * quarter] or values[:1]))
    return result


def watch(command, wrapped, environment, nvml, period_s):
    """Readings of a run, of which the last may be of a dying process and is left out."""
    with subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        readings = []
        while process.poll() is None:
            time.sleep(period_s)
            readings.append(sample(process.pid, wrapped, nvml))
        _, errors = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(errors.strip()[-300:] or f"status {process.returncode}")
    readings = [reading for reading in readings[:-1] if "target resident" in reading]
    if not readings:
        raise RuntimeError("the load was never seen: it ended too soon, or is not a child of utlz")
    return readings


def case_command(case, arguments, libraries, output):
    command = [sys.executable, str(HERE / "windows.py"), "--load", arguments.load, "--tool",
               "control", "--only-steps", "--window-seconds", str(arguments.seconds), *libraries]
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    if case == "empty-cupti":
        environment["CUDA_INJECTION64_PATH"] = libraries[-1]
        if cupti := find_cupti():
            environment["EMPTY_CUPTI_LIBRARY"] = cupti
    if not case.startswith("utlz"):
        return command, environment
    budget = ["--overhead-budget", "unlimited"] if case == "utlz-unlimited" else []
    return [arguments.utlz, "run", *budget, "--no-report", "-o", str(output / f"{case}.utlz"), "--",
            *command], environment


def rows_of(case, measured, alone):
    rows = []
    for name, (last, growth) in measured.items():
        if name == "gpu processes":
            rows.append(f"| {case} | {name} | {last:.0f} | | |")
            continue
        against = alone.get(name)
        more = "" if against is None else f"{(last - against[0]) / 2**20:+.1f}"
        rows.append(f"| {case} | {name} | {last / 2**20:.1f} | {more} | {growth / 2**20:+.2f} |")
    return rows


HEAD = ("| case | memory | MiB | over the load alone | growth in the run |\n"
        "| --- | --- | --- | --- | --- |")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--load", choices=LOADS, default="decode")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seconds", type=float, default=60)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        nvml = Nvml()
    except OSError as failure:
        print(f"no NVIDIA GPU on this machine ({failure})")
        return SKIPPED
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    libraries = Bench.build_libraries(output, [arguments.load])
    results = {}
    print(HEAD, flush=True)
    for case in arguments.cases:
        command, environment = case_command(case, arguments, libraries, output)
        readings = watch(command, case.startswith("utlz"), environment, nvml, 1.0)
        results[case] = steady(readings)
        print("\n".join(rows_of(case, results[case], results.get("alone", {}))), flush=True)
        (output / "memory.json").write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
