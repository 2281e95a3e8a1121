#!/usr/bin/env python3
"""What a scrape a second costs a training, and whether `utlz top` is right, on a real GPU.

    on_gpu.py --utlz build/release/bin/utlz --output DIRECTORY [--windows 24] [--seconds 10]

A training and a decode that replays a graph run at once, each under `utlz run --metrics`. Windows in
which both pages are read once a second take turns with windows in which they are not. `utlz top --json`
runs all the while. Prints two tables:

- Of each window with scrapes against the mean of its neighbours without: the training's steps a second,
  and the processor time of both collectors.
- Of each window: top's figures, what NVML's GPM says between the window's ends (read here, by another
  program), and the bytes and FLOPs that the collectors counted, as shares of the peaks: as they are,
  and as docs/guide/metrics.md corrects them for kernels whose figures are not known.

Exits with 77 where there is no GPU with GPM or no PyTorch.
"""

import argparse
import ctypes
import importlib.util
import json
import pathlib
import re
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "bench/workloads"
SKIPPED = 77
GPM = {"sm": 2, "tensor": 5, "dram": 10}  # NVML_GPM_METRIC_SM_UTIL, ANY_TENSOR_UTIL, DRAM_BW_UTIL
GPM_CAPACITY = 1024  # longer than NVML's own array, which grows while its version stays 1
COUNTERS = {"flops": "utlz_flops_peak_seconds_total", "read": "utlz_dram_read_bytes_total",
            "written": "utlz_dram_write_bytes_total",
            "kernel_s": "utlz_kernel_seconds_total",
            "flops_uncounted_s": "utlz_kernel_uncounted_seconds_total",
            "dram_uncounted_s": "utlz_dram_uncounted_seconds_total",
            "collector_cpu_s": "utlz_collector_cpu_seconds_total"}
ANSWERING_THREAD = "utlz-metrics"

# Steps until its standard input ends, and the time of each on CLOCK_MONOTONIC.
TRAINING = """
import struct, sys, threading, time
sys.path.insert(0, {workloads!r})
import argparse, torch, gpt_train
training = gpt_train.GptTraining(argparse.Namespace(layers=12, batch=8, compile=False))
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
with open({steps!r}, "wb", buffering=0) as file:
    while not ended.is_set():
        training.step()
        torch.cuda.synchronize()
        file.write(struct.pack("d", time.monotonic()))
"""


class GpmMetric(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("result", ctypes.c_int), ("value", ctypes.c_double),
                ("names", ctypes.c_char_p * 3)]


class GpmMetricsGet(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint), ("first", ctypes.c_void_p),
                ("second", ctypes.c_void_p), ("metrics", GpmMetric * GPM_CAPACITY)]


class Gpm:
    """NVML's counters of the first GPU, in per cent between two readings."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        self.check(self.nvml.nvmlInit_v2())
        self.check(self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)))

    @staticmethod
    def check(result):
        if result != 0:
            raise OSError(f"NVML: {result}")

    def read(self):
        sample = ctypes.c_void_p()
        self.check(self.nvml.nvmlGpmSampleAlloc(ctypes.byref(sample)))
        self.check(self.nvml.nvmlGpmSampleGet(self.device, sample))
        return sample

    def between(self, first, second):
        request = GpmMetricsGet(version=1, count=len(GPM), first=first, second=second)
        for metric, number in zip(request.metrics, GPM.values()):
            metric.id = number
        self.check(self.nvml.nvmlGpmMetricsGet(ctypes.byref(request)))
        return {name: metric.value for name, metric in zip(GPM, request.metrics)}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def cpu_seconds(jobs, thread):
    """Of all threads of this name."""
    return sum(int((task / "schedstat").read_text().split()[0]) for job in jobs
               for task in pathlib.Path(f"/proc/{job.process.pid}/task").iterdir()
               if (task / "comm").read_text().strip() == thread) * 1e-9


class Job:
    """A program under `utlz run --metrics`."""

    def __init__(self, utlz, profile, program):
        self.port = free_port()
        self.profile = profile
        self.process = subprocess.Popen(
            [utlz, "run", "-o", profile, "--no-report", "--metrics", str(self.port), "--", *program],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=open(f"{profile}.log", "wb"))

    def page(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            return answer.read().decode()

    def counters(self):
        page = self.page()
        return {name: sum(float(value) for value in re.findall(rf"^{metric}(?:{{.*}})? (\S+)$", page, re.M))
                for name, metric in COUNTERS.items()}

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def read_pages_each_second(jobs, end):
    while time.monotonic() < end:
        began = time.monotonic()
        for job in jobs:
            job.page()
        time.sleep(max(0, min(began + 1, end) - time.monotonic()))


def corrected(rates):
    """Of one job: as if kernels without figures worked as its others do."""
    def known(uncounted):
        return 1 - rates[uncounted] / rates["kernel_s"] if rates["kernel_s"] > 0 else 0
    flops, dram = known("flops_uncounted_s"), known("dram_uncounted_s")
    return {"flops": rates["flops"] / flops if flops > 0 else 0,
            "dram": (rates["read"] + rates["written"]) / dram if dram > 0 else 0}


def sums(rates):
    return {name: sum(of_job[name] for of_job in rates) for name in rates[0]}


def measure_window(jobs, gpm, seconds, scraped):
    counters = [job.counters() for job in jobs]
    cpu_s = cpu_seconds(jobs, ANSWERING_THREAD)
    begin, wall, first = time.monotonic(), time.time(), gpm.read()
    if scraped:
        read_pages_each_second(jobs, begin + seconds)
    else:
        time.sleep(seconds)
    end, second = time.monotonic(), gpm.read()
    answering_s = cpu_seconds(jobs, ANSWERING_THREAD) - cpu_s
    after = [job.counters() for job in jobs]
    counted_s = time.monotonic() - begin
    rates = [{name: (b[name] - a[name]) / counted_s for name in COUNTERS}
             for a, b in zip(counters, after)]
    return {"scraped": scraped, "begin": begin, "end": end, "wall": wall,
            "answering": answering_s / (end - begin), "gpm": gpm.between(first, second),
            "jobs": rates, "counted": sums(rates), "corrected": sums([*map(corrected, rates)])}


def steps_in(path, window):
    """Steps a second between the first and the last step that ended in the window."""
    data = path.read_bytes()
    times = [time_s for (time_s,) in struct.iter_unpack("d", data[:len(data) // 8 * 8])
             if window["begin"] <= time_s < window["end"]]
    return (len(times) - 1) / (times[-1] - times[0])


def top_in(lines, window):
    ticks = [line["gpus"][0] for line in lines
             if window["wall"] + 1 <= line["time_ns"] * 1e-9 <= window["wall"] + window["end"] -
             window["begin"]]
    keys = {"sm": "sm_active_percent", "tensor": "tensor_active_percent",
            "dram": "dram_active_percent"}
    return {name: statistics.fmean(tick[key] for tick in ticks if key in tick)
            for name, key in keys.items()}


def median_and_quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:+.3f} ({low:+.3f} … {high:+.3f}; {len(values)})"


def print_costs(windows):
    print("| windows with scrapes against their neighbours without | median (quartiles; windows) |\n"
          "| --- | --- |")
    pairs = [(windows[i], [windows[i - 1], windows[i + 1]]) for i in range(1, len(windows) - 1)
             if windows[i]["scraped"]]
    for name, key, unit, relative in (("the training's steps a second", "steps", "%", True),
                                      ("processor time of the threads that answer, both jobs",
                                       "answering", "% of a core", False),
                                      ("of both collectors, analyses included", "collectors",
                                       "% of a core", False)):
        differences = []
        for window, beside in pairs:
            base = statistics.fmean(one[key] for one in beside)
            differences.append(100 * (window[key] - base) / (base if relative else 1))
        print(f"| {name} | {median_and_quartiles(differences)} {unit} |")


def shares_counted(windows, dram_peak):
    """In per cent of the peaks: as the counters stand, and corrected."""
    return {"dram": ([100 * (window["counted"]["read"] + window["counted"]["written"]) / dram_peak
                      for window in windows],
                     [100 * window["corrected"]["dram"] / dram_peak for window in windows]),
            "tensor": ([100 * window["counted"]["flops"] for window in windows],
                       [100 * window["corrected"]["flops"] for window in windows])}


def print_comparison(windows, dram_peak):
    print("\n| % of the peak, mean of windows; farthest in one window | top | GPM | collectors "
          "| corrected | top − GPM | top − collectors | top − corrected |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    counted = shares_counted(windows, dram_peak)
    for name in GPM:
        top = [window["top"][name] for window in windows]
        gpm = [window["gpm"][name] for window in windows]
        as_is, fixed = counted.get(name, (None, None))
        far = [f"{statistics.fmean(a - b for a, b in zip(top, other)):+.2f}; "
               f"{max((a - b for a, b in zip(top, other)), key=abs):+.2f}" if other else "–"
               for other in (gpm, as_is, fixed)]
        means = [f"{statistics.fmean(column):.2f}" if column else "–"
                 for column in (top, gpm, as_is, fixed)]
        print(f"| {name} | {' | '.join(means + far)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--windows", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warm-s", type=float, default=30)
    options = parser.parse_args()
    try:
        gpm = Gpm()
    except OSError as error:
        print(f"no GPU here whose NVML has GPM: {error}")
        return SKIPPED
    if importlib.util.find_spec("torch") is None:
        print("no PyTorch here")
        return SKIPPED
    utlz = str(options.utlz.resolve())
    options.output.mkdir(parents=True, exist_ok=True)
    steps = options.output / "steps.bin"
    training = TRAINING.format(workloads=str(WORKLOADS), steps=str(steps))
    jobs = [Job(utlz, options.output / "training.utlz", [sys.executable, "-c", training]),
            Job(utlz, options.output / "decode.utlz",
                [sys.executable, WORKLOADS / "endless_decode.py", "--mode", "graph"])]
    time.sleep(options.warm_s)
    top = subprocess.Popen([utlz, "top", "--json"], stdout=subprocess.PIPE, text=True)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(map(json.loads, top.stdout)))
    reader.start()
    try:
        windows = [measure_window(jobs, gpm, options.seconds, index % 2 == 1)
                   for index in range(options.windows)]
    finally:
        top.terminate()
        reader.join()
        for job in jobs:
            job.end()
    for window in windows:
        window |= {"steps": steps_in(steps, window), "top": top_in(lines, window),
                   "collectors": window["counted"]["collector_cpu_s"]}
    (options.output / "on_gpu.json").write_text(json.dumps(windows))
    report = json.loads(subprocess.run([utlz, "report", options.output / "training.utlz", "--format",
                                        "json"], capture_output=True, check=True).stdout)
    print_costs(windows)
    print_comparison(windows, report["devices"][0]["peak_dram_bytes_per_second"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
