#!/usr/bin/env python3
"""Whether callbacks of launches may be switched while a program launches, on a real GPU.

    stack_switching.py --output DIRECTORY [--seconds 125] [--only native torch profiler capture]

Answers the open points of docs/decisions/0022-stacks-are-read-in-callbacks-of-windows.md, each in
processes of their own with the agent's own code (stack_switching.cc):

native    threads launch kernels, sets of memory and graphs through the driver without pause, or
          live for fifty launches; about a thousand times a second a window subscribes, switches
          callbacks and records of the context on, off, and unsubscribes (`both`); with one of the
          two alone (`callbacks`, `records`), under one subscription throughout (`kept`), fifteen
          times a second (`slow`), and so that 10 ms without callbacks pass beside the subscription
          (`grace`)
torch     the same beside a training (two threads launch) and a decode, with the walk over Python's
          frames in each callback
profiler  torch.profiler first starts in such a window, and we give way to it
capture   the imports of cudaStreamBeginCapture, cudaStreamEndCapture and cudaGraphInstantiate lead
          to observers, which subscribe for the capture alone

Prints a line of JSON for each process, also into DIRECTORY/results.jsonl. Exits with 77 without a
GPU, a C++20 compiler or PyTorch, with 1 where a process died, hung, or a profiler saw no kernel.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORKLOADS = HERE.parent / "workloads"
OWN = ["stack_switching.cc", "stack_switching_captures.cc", "stack_switching_loads.cc"]
AGENT = ["inject/python/python_code.cc", "inject/python/python_frames.cc",
         "inject/python/memory_pages.cc", "inject/python/python_layout.cc",
         "inject/python/python_memory.cc", "inject/python/python_text.cc",
         "inject/tracing/import_slot.cc",
         "inject/tracing/other_client.cc", "inject/tracing/registration.cc",
         "inject/driver/cuda_api.cc", "inject/driver/cupti_api.cc", "inject/driver/cupti_file.cc",
         "inject/driver/cupti_search.cc", "inject/base/page_protection.cc",
         "inject/base/own_descriptor.cc", "inject/driver/primary_contexts.cc",
         "cupti/file_pages.cc", "cupti/zero_pages.cc"]
COUNTS = ["windows", "refused", "refused_code", "callbacks", "callbacks_after_unsubscribe",
          "callbacks_running_at_unsubscribe", "kernels", "kernels_joined", "node_kernels",
          "node_kernels_joined", "walks", "launches_without_frames", "gave_way", "taken", "begins",
          "ends", "instantiations", "created", "cloned", "created_with_stack", "capture_refused",
          "failures"]
STEPS = ["subscribe", "callbacks_on", "kinds_on", "kinds_off", "callbacks_off", "unsubscribe"]


def compile_library(output):
    library = output / "libstack_switching.so"
    subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{ROOT}", "-o", library,
                    *(HERE / source for source in OWN), *(ROOT / source for source in AGENT),
                    "-ldl", "-lpthread"], check=True)
    return library


class Switching:

    def __init__(self, arguments):
        self.library = library = ctypes.CDLL(str(arguments.library))
        library.switching_count.restype = ctypes.c_uint64
        library.switching_stacks.restype = library.switching_clones_with.restype = ctypes.c_uint64
        library.switching_cupti.restype = library.switching_example.restype = ctypes.c_char_p
        library.switching_took_ns.argtypes = [ctypes.c_int, ctypes.c_double]
        library.switching_add_module_code.argtypes = [ctypes.c_uint64]
        self.check("open", library.switching_open(arguments.cupti.encode()))

    @staticmethod
    def check(what, status):
        if status != 0:
            raise RuntimeError(f"{what}: {status}")

    def open_python(self):
        self.check("CPython", self.library.switching_open_python())
        import torch
        for name in ("_wrapped_call_impl", "_call_impl"):
            self.library.switching_add_module_code(id(getattr(torch.nn.Module, name).__code__))

    def result(self):
        row = {name: self.library.switching_count(i) for i, name in enumerate(COUNTS)}
        row = {name: value for name, value in row.items() if value}
        row["us_median_p99_most"] = {
            step: [round(self.library.switching_took_ns(i, share) / 1e3, 1)
                   for share in (.5, .99, 1)] for i, step in enumerate(STEPS)}
        return row


def resident_mib():
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


# Records, callbacks, a kept subscription, µs of grace, on, off.
HOW = {"both": (1, 1, 0, 0, 500, 200), "callbacks": (0, 1, 0, 0, 500, 200),
       "records": (1, 0, 0, 0, 500, 200), "kept": (1, 1, 1, 0, 500, 200),
       "grace": (1, 1, 0, 10000, 25000, 15000), "slow": (1, 1, 0, 0, 25000, 35000)}


def native(arguments):
    switching = Switching(arguments)
    load, how = arguments.case.split("-")
    switching.check("load", switching.library.switching_load(load.encode(),
                                                             arguments.cubin.encode()))
    time.sleep(.2)
    resident = [resident_mib()]
    switching.library.switching_start(*HOW[how])
    for _ in range(2):
        time.sleep(arguments.seconds / 2)
        resident.append(resident_mib())
    switching.library.switching_stop()
    switching.library.switching_end_load()
    return {"cupti": switching.library.switching_cupti().decode(),
            "resident_mib": [round(mib) for mib in resident], **switching.result()}


def workload(name):
    if name == "train":
        from gpt_train import GptTraining
        return GptTraining(argparse.Namespace(layers=4, batch=4, compile=False))
    from gpt_decode import GptDecode
    return GptDecode(argparse.Namespace(layers=12, batch=16, mode="eager"))


def torch_load(arguments):
    import torch
    loads = [workload(name) for name in arguments.case.split("+")]
    for load in loads:
        load.step()
    torch.cuda.synchronize()
    switching = Switching(arguments)
    switching.open_python()
    switching.library.switching_start(1, 1, 0, 0, 3000, 1000)
    end, steps = time.monotonic() + arguments.seconds, collections.Counter()

    def run(load):
        while time.monotonic() < end:
            for _ in range(10):
                load.step()
            torch.cuda.synchronize()
            steps[type(load).__name__] += 10

    threads = [threading.Thread(target=run, args=(load,)) for load in loads]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(.05)
        switching.library.switching_stacks(b"")
    switching.library.switching_stop()
    return {"steps": steps, "stacks": switching.library.switching_stacks(b""),
            "with_forward": switching.library.switching_stacks(b"forward"),
            "example": switching.library.switching_example().decode().splitlines()[:30],
            **switching.result()}


def profiler(arguments):
    """torch.profiler's first start, in a window of ours; case: slow, fast or none."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    load = workload("decode")
    load.step()
    torch.cuda.synchronize()
    switching = None
    if arguments.case != "none":
        switching = Switching(arguments)
        switching.open_python()
        times = (400000, 1000) if arguments.case == "slow" else (300, 300)
        switching.library.switching_start(1, 1, 0, 0, *times)
        for _ in range(20):
            load.step()
        torch.cuda.synchronize()

    def profiled():
        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
            for _ in range(3):
                load.step()
            torch.cuda.synchronize()
        return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in seen.events())

    row = {"kernels_seen": [profiled(), profiled()]}
    time.sleep(1)
    row["kernels_seen"].append(profiled())
    if switching:
        switching.library.switching_stop()
        row |= switching.result()
    if 0 in row["kernels_seen"]:
        print(json.dumps(row), flush=True)
        raise SystemExit("a profiler saw no kernel")
    return row


def capture(arguments):
    import torch
    load = workload("decode")
    load.step()
    torch.cuda.synchronize()
    switching = Switching(arguments)
    switching.open_python()
    row = {"slots": switching.library.switching_watch_captures()}

    def captured():
        graph = torch.cuda.CUDAGraph()
        begin = time.perf_counter_ns()
        with torch.inference_mode(), torch.cuda.graph(graph):
            load._forward()
        return graph, (time.perf_counter_ns() - begin) / 1e6

    (graph, first_ms), (_, second_ms) = captured(), captured()
    switching.library.switching_record(1)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    switching.library.switching_record(0)
    return {**row, "capture_ms": [first_ms, second_ms],
            "clones_with_model_frames": switching.library.switching_clones_with(b"forward"),
            "clones_at_capture_end": switching.library.switching_clones_with(b"capture_end"),
            **switching.result()}


CHILDREN = {"native": native, "torch": torch_load, "profiler": profiler, "capture": capture}


def child(arguments):
    sys.path.insert(0, str(WORKLOADS))
    row = CHILDREN[arguments.child](arguments)
    print(json.dumps(row), flush=True)
    os._exit(0)  # as first_subscription.py's programs end


def copies_of_cupti():
    """PyTorch's, and Triton's."""
    found = []
    for folder in [pathlib.Path(entry) for entry in sys.path if entry.endswith("-packages")]:
        found += sorted(folder.glob("nvidia/*/lib/libcupti.so.1?"))[:1]
        found += sorted(folder.glob("triton/backends/nvidia/lib/cupti/libcupti.so*"))[:1]
    return [str(path) for path in found] or [""]


def tasks(seconds, native_seconds, copies):
    """(child, case, libcupti, seconds of the load, limit)"""
    listed = []
    for case in ("kernels-grace", "threads-grace", "kernels-callbacks", "kernels-records",
                 "kernels-kept", "threads-kept", "kernels-slow", "mixed-grace", "threads-records",
                 "kernels-grace", "threads-grace", "kernels-both", "threads-callbacks",
                 "mixed-kept", "graphs-grace", "kernels-kept", "kernels-slow"):
        listed.append(("native", case, copies[0], native_seconds, native_seconds + 15))
    listed += [("native", "mixed-grace", path, native_seconds, native_seconds + 15)
               for path in copies[1:]]
    listed += [("torch", case, "", .15 * seconds, .15 * seconds + 70)
               for case in ("train", "train+decode", "decode+decode")]
    listed += [("profiler", case, "", 0, 75)
               for case in ("none", "slow", "slow", "slow", "fast", "fast", "fast", "fast")]
    listed += [("capture", "", "", 0, 75)] * 2
    return listed


class Runner:

    def __init__(self, arguments, library, cubin):
        self.output, self.library, self.cubin = arguments.output, library, cubin
        self.end = time.monotonic() + arguments.seconds
        self.failed = 0
        self.lock = threading.Lock()

    def __call__(self, numbered):
        number, (what, case, cupti, seconds, limit_s) = numbered
        name = f"{number:02}-{what}-{case or 'one'}"
        limit_s = min(limit_s, self.end - time.monotonic())
        if limit_s < seconds + 3:
            return self.report(name, "no time was left", {}, "")
        command = [sys.executable, "-X", "faulthandler", __file__, "--child", what, "--case", case,
                   "--cupti", cupti, "--library", str(self.library), "--cubin", self.cubin,
                   "--seconds", str(seconds), "--output", str(self.output)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            try:
                said, _ = process.communicate(timeout=limit_s)
                status = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said, _ = process.communicate()
                status = f"longer than {limit_s:.0f} s"
        (self.output / f"{name}.log").write_text(said, encoding="utf-8")
        rows = [line for line in said.splitlines() if line.startswith("{")]
        return self.report(name, status, json.loads(rows[-1]) if rows else {}, said)

    def report(self, name, status, row, said):
        with self.lock:
            self.failed += status != 0
            line = json.dumps({"process": name, "status": status, **row})
            print(line, flush=True)
            if status != 0:
                print(said[-1500:], flush=True)
            with open(self.output / "results.jsonl", "a", encoding="utf-8") as results:
                results.write(line + "\n")


def measure(arguments):
    if (not shutil.which("nvidia-smi") or not shutil.which("g++")
            or not importlib.util.find_spec("torch")):
        print("no NVIDIA GPU, no g++ or no PyTorch on this machine")
        return SKIPPED
    from stack_probe_setup import compile_kernel
    arguments.output = arguments.output.resolve()
    arguments.output.mkdir(parents=True, exist_ok=True)
    runner = Runner(arguments, compile_library(arguments.output), compile_kernel(arguments.output))
    chosen = [task for task in tasks(arguments.seconds, arguments.native_seconds, copies_of_cupti())
              if task[0] in arguments.only]
    # What loads PyTorch first: it takes longest.
    chosen.sort(key=lambda task: task[0] == "native")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(runner, enumerate(chosen)))
    print(f"failed: {runner.failed} of {len(chosen)}", flush=True)
    return 1 if runner.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=125, help="for everything")
    parser.add_argument("--native-seconds", type=float, default=13, help="for each load")
    parser.add_argument("--only", nargs="+", choices=list(CHILDREN), default=list(CHILDREN))
    parser.add_argument("--jobs", type=int, default=5)
    for hidden in ("--child", "--case", "--cupti", "--cubin", "--library"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    return child(arguments) if arguments.child else measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
