#!/usr/bin/env python3
"""Shows how the shift between kernel times and counter samples moves over a run, on a real GPU.

    clock_drift.py --utlz build/release/bin/utlz --shifts build/release/bin/clock_shifts \\
        --output DIRECTORY [--seconds 600] [--slice 10] [--slew PPM] [--cupti LIBRARY]

An eager decode (with --cupti the demo's load, into which that CUPTI is brought first) runs under `utlz run` while the system's clocks are read once a second: what NTP does
to the real-time clock shows beside what the shift does, and beside it the memory of the target, the
collector and the sampler, of which everything is traced. --slew makes the real-time clock run that
much faster in the middle third, as NTP may (it needs the privilege to set the time, and restores the
rate). Exits with 77 where the machine lacks what it needs.
"""

import argparse
import contextlib
import ctypes
import importlib.util
import math
import pathlib
import shutil
import subprocess
import sys
import time

SKIPPED = 77
BENCH = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = BENCH / "workloads"
sys.path.insert(0, str(BENCH / "overhead"))

import memory  # noqa: E402: it lies there

ROLES = ("target", "collector", "sampler")
ADJ_TICK = 0x4000
NOMINAL_TICK_US = 10_000  # of the kernel's clock; 1 more is 100 ppm


class Timex(ctypes.Structure):
    """struct timex of <sys/timex.h>, as far as it is read here."""
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long),
                ("maxerror", ctypes.c_long), ("esterror", ctypes.c_long), ("status", ctypes.c_int),
                ("constant", ctypes.c_long), ("precision", ctypes.c_long),
                ("tolerance", ctypes.c_long), ("seconds", ctypes.c_long),
                ("microseconds", ctypes.c_long), ("tick", ctypes.c_long),
                ("rest", ctypes.c_byte * 120)]


def read_timex():
    timex = Timex()
    ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    return timex


def set_tick(tick_us):
    timex = Timex(modes=ADJ_TICK, tick=tick_us)
    return ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex)) >= 0


def clock_pair():
    """Real time against the raw oscillator, in nanoseconds; of five readings the closest together."""
    pairs = []
    for _ in range(5):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        real = time.clock_gettime_ns(time.CLOCK_REALTIME)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        pairs.append((after - before, (before + after) // 2, real))
    return min(pairs)[1:]


def resident_mib(collector):
    """By role; nothing of a process that is not there."""
    pids = {"collector": collector}
    for child in memory.children_of(collector):
        try:
            command = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        pids["sampler" if command[1:2] == [b"sampler"] else "target"] = child
    read = {role: memory.read_memory(pid) for role, pid in pids.items()}
    return {role: value["resident"] / 2**20 for role, value in read.items() if value}


def watch(process, collector, seconds, slew_ppm, slice_s):
    """Reads clocks and memory until the process ends; prints real time's rate slice by slice."""
    begin = time.monotonic()
    raw, real = clock_pair()
    print("\nreal time against the raw oscillator; resident MiB\n   seconds       ppm" +
          "".join(f"{role:>10}" for role in ROLES), flush=True)
    with contextlib.ExitStack() as restored:
        slewed = None
        last_print = begin
        while process.poll() is None:
            time.sleep(1)
            elapsed = time.monotonic() - begin
            if slew_ppm and slewed is None and elapsed > seconds / 3:
                slewed = set_tick(NOMINAL_TICK_US + slew_ppm // 100)
                restored.callback(set_tick, NOMINAL_TICK_US)
                print("  slewing" if slewed else "  (this machine does not let us slew its clock)")
            if slewed and elapsed > 2 * seconds / 3:
                restored.close()
                slewed = False
                slew_ppm = 0
            if time.monotonic() - last_print < slice_s:
                continue
            last_print = time.monotonic()
            now_raw, now_real = clock_pair()
            rate = (now_real - real) / (now_raw - raw) - 1
            resident = resident_mib(collector)
            print(f"{elapsed:10.1f} {1e6 * rate:9.3f}" +
                  "".join(f"{resident.get(role, math.nan):10.1f}" for role in ROLES), flush=True)
            raw, real = now_raw, now_real


def begin_decode(run):
    process = subprocess.Popen([*run, sys.executable, str(WORKLOADS / "endless_decode.py")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # it is ready
    return process


def begin_demo(run, utlz, cupti, seconds):
    folder = pathlib.Path(utlz).resolve().parent
    load = next(path for path in (folder / "utlz-demo-load",
                                  folder.parent / "lib/utlz/utlz-demo-load") if path.exists())
    return subprocess.Popen([*run, "env", f"LD_PRELOAD={cupti}", str(load), str(seconds + 10)],
                            stdin=subprocess.PIPE, text=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", default="build/release/bin/utlz")
    parser.add_argument("--shifts", default="build/release/bin/clock_shifts")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--slice", type=float, default=10, help="seconds a row")
    parser.add_argument("--slew", type=int, default=0, metavar="PPM", help="500 is NTP's most")
    parser.add_argument("--cupti", help="a libcupti.so.12, say, for the program that is profiled")
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("needs an NVIDIA GPU and PyTorch")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    timex = read_timex()
    print(f"kernel clock: {timex.freq / 65536:.3f} ppm set, tick {timex.tick} us, "
          f"status {timex.status:#x}")
    profile = arguments.output / "drift.utlz"
    run = [arguments.utlz, "run", "-o", str(profile), "--no-report",
           "--overhead-budget=unlimited", "--"]
    process = (begin_demo(run, arguments.utlz, arguments.cupti, arguments.seconds)
               if arguments.cupti else begin_decode(run))
    ender = subprocess.Popen(["sleep", str(arguments.seconds)])
    try:
        watch(ender, process.pid, arguments.seconds, arguments.slew, arguments.slice)
        process.communicate("quit\n", timeout=60)
    finally:
        ender.kill()
        process.kill()
    print("\nshift of the samples against the kernels")
    return subprocess.run([arguments.shifts, str(profile), str(arguments.slice)],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
