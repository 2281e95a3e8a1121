#!/usr/bin/env python3
"""What CUPTI leaves in a launch after records of kernels have ended, and what takes it away again.

    launch_hooks.py --output DIRECTORY [--only NAME…]

Counts the instructions of single launches (bench/overhead/step_launches.c) after each of a list of
CUPTI's calls, in one process a line of the list: records that were on before CUDA began, windows of
records by context or for the process, kinds one by one, another copy of libcupti; and then whatever
CUPTI offers that might undo it. Prints the median of each. Exits with 77 without a GPU or PyTorch.
"""

import argparse
import concurrent.futures
import ctypes
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
OVERHEAD = HERE.parent / "overhead"
sys.path.insert(0, str(OVERHEAD))
import launch_instructions  # noqa: E402
import price_ways  # noqa: E402

SKIPPED = 77
LIMIT_S = 55
CONTEXT, PROCESS = 1, 0
DRIVER_DOMAIN, RUNTIME_DOMAIN, RESOURCE_DOMAIN = 1, 2, 3
LAUNCH_CALLS = (307, 442, 514, 652)
DRIVER_KIND, RUNTIME_KIND, OVERHEAD_KIND, SERIAL_KERNEL_KIND = 4, 5, 17, 3
PAIRS = 5

# name: (mode of presence_cupti.c, copy, kinds, what to do)
CASES = {
    "context": ("both", "torch", None, ["stop", "window-context"]),
    "process": ("both", "torch", None, ["stop", "window-process"]),
    "process-unwatched": ("recorded", "torch", None, ["stop", "window-process"]),
    "first-window": ("watching", "torch", None, ["window-process"]),
    "kernels": ("both", "torch", "10", ["stop", "window-process"]),
    "copies": ("both", "torch", "1", ["stop", "window-process"]),
    "triton": ("both", "triton", None, ["stop", "window-context", "graph"]),
    "agent": ("paused", "torch", None,
              ["stop", "window-context", "window-context", "off-process", "window-context",
               "off-process", "graph"]),
    "agent-graph": ("paused", "torch", None,
                    ["stop", "window-context", "graph", "off-process", "graph", "window-context",
                     "graph"]),
    "undo": ("both", "torch", None,
             ["stop", "window-context", "flush", "off-process", "resubscribe", "domains-off",
              "domains-on-off", "callbacks-on-off", "calls-off", "api-kinds-on-off", "overhead-off",
              "all-kinds-off", "all-kinds-off-context", "serial-on-off", "register-again",
              "new-context", "second-window-process", "resource-on-off", "graph"]),
    "undo-process": ("recorded", "torch", None,
                     ["stop", "window-process", "all-kinds-off", "resubscribe", "domains-on-off",
                      "api-kinds-on-off", "resource-on-off", "window-process", "graph"]),
}


class Cupti:

    def __init__(self, path, presence):
        self.library = ctypes.CDLL(path)
        self.presence = presence
        self.callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint,
                                         ctypes.c_void_p)(lambda *_: None)
        self.requested = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

    def subscribed(self, work):
        subscriber = ctypes.c_void_p()
        codes = [self.library.cuptiSubscribe(ctypes.byref(subscriber), self.callback, None)]
        codes += work(subscriber)
        return [*codes, self.library.cuptiUnsubscribe(subscriber)]

    def domains(self, *states):
        def work(subscriber):
            return [self.library.cuptiEnableDomain(on, subscriber, domain) for on in states
                    for domain in (DRIVER_DOMAIN, RUNTIME_DOMAIN)]
        return self.subscribed(work)

    def launch_callbacks(self, subscriber):
        return [self.library.cuptiEnableCallback(on, subscriber, DRIVER_DOMAIN, call)
                for on in (1, 0) for call in LAUNCH_CALLS]

    def resources(self, subscriber):
        return [self.library.cuptiEnableDomain(on, subscriber, RESOURCE_DOMAIN) for on in (1, 0)]

    def on_off(self, *kinds):
        codes = [self.library.cuptiActivityEnable(kind) for kind in kinds]
        return codes + [self.library.cuptiActivityDisable(kind) for kind in kinds]


def new_context():
    cuda = ctypes.CDLL("libcuda.so.1")
    before, context = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.cuCtxGetCurrent(ctypes.byref(before))
    code = cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
    codes = [code, cuda.cuCtxDestroy_v2(context), cuda.cuCtxSetCurrent(before)]
    return codes


def current_context():
    context = ctypes.c_void_p()
    ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context))
    return context


def window(loads, presence, how, steps):
    codes = [presence.PresenceWindow(1, how)]
    for _ in range(20):
        steps["add"]()
    loads.wait()
    time.sleep(0.05)
    codes += [presence.PresenceWindow(0, how), presence.PresenceFlush(0)]
    time.sleep(0.15)
    return codes


def act(name, loads, presence, cupti, steps):
    library = cupti.library
    acts = {
        "stop": presence.PresenceStop,
        "window-context": lambda: window(loads, presence, CONTEXT, steps),
        "window-process": lambda: window(loads, presence, PROCESS, steps),
        "second-window-process": lambda: window(loads, presence, PROCESS, steps),
        "flush": lambda: library.cuptiActivityFlushAll(1),
        "off-process": presence.PresenceEnd,
        "resubscribe": lambda: cupti.subscribed(lambda _: []),
        "domains-off": lambda: cupti.domains(0),
        "domains-on-off": lambda: cupti.domains(1, 0),
        "callbacks-on-off": lambda: cupti.subscribed(cupti.launch_callbacks),
        "resource-on-off": lambda: cupti.subscribed(cupti.resources),
        "calls-off": lambda: [library.cuptiActivityEnableDriverApi(call, 0)
                              for call in LAUNCH_CALLS],
        "api-kinds-on-off": lambda: cupti.on_off(DRIVER_KIND, RUNTIME_KIND),
        "overhead-off": lambda: library.cuptiActivityDisable(OVERHEAD_KIND),
        "all-kinds-off": lambda: max(library.cuptiActivityDisable(kind) for kind in range(1, 60)),
        "all-kinds-off-context": lambda: max(
            library.cuptiActivityDisableContext(current_context(), kind) for kind in range(1, 60)),
        "serial-on-off": lambda: cupti.on_off(SERIAL_KERNEL_KIND),
        "register-again": lambda: presence.PresenceRegister(),
        "new-context": new_context,
    }
    try:
        return acts[name]()
    except (AttributeError, OSError, ctypes.ArgumentError) as error:  # this copy lacks a function
        return str(error)


def child(arguments):
    actions = CASES[arguments.child][3]
    loads = launch_instructions.Loads(["add", "graph"] if "graph" in actions else ["add"])
    for step in loads.steps.values():
        for _ in range(20):
            step()
    loads.wait()
    presence = launch_instructions.presence_library()
    cupti = Cupti(os.environ["PRESENCE_CUPTI"], presence)
    mark = ctypes.PyDLL(str(arguments.mark)).Mark
    mark()
    mark()
    said = []

    def count(load, pairs):
        for _ in range(20 if load == "add" else 2):
            loads.steps[load]()
        loads.wait()
        for _ in range(pairs):
            mark()
            loads.steps[load]()
            mark()
            loads.wait()

    count("add", PAIRS)
    said.append(("while recorded", "add", None))
    for action in actions:
        if action == "graph":
            count("graph", 1)
            said.append((action, "graph", None))
            continue
        codes = act(action, loads, presence, cupti, loads.steps)
        count("add", PAIRS)
        said.append((action, "add", codes))
        arguments.result.write_text(json.dumps(said))
    arguments.result.write_text(json.dumps(said))
    os._exit(0)


def measure(name, bench, copies):
    mode, copy, kinds, _ = CASES[name]
    paths = price_ways.resolve_copies(copy, copies)
    if not paths:
        return f"{name}: no such copy of libcupti"
    counts, result = bench["output"] / f"{name}.counts", bench["output"] / f"{name}.json"
    added = {"CUDA_INJECTION64_PATH": str(bench["presence"]), "PRESENCE_CUPTI": paths[0],
             "PRESENCE_MODE": mode, "PRESENCE_UNSUBSCRIBE": "1", **({"PRESENCE_KINDS": kinds} if kinds else {})}
    command = [str(bench["stepper"]), str(counts), sys.executable, __file__, "--child", name,
               "--mark", str(bench["mark"]), "--result", str(result), "--output",
               str(bench["output"])]
    try:
        ended = subprocess.run(command, env={**os.environ, **added}, capture_output=True, text=True,
                               errors="replace", timeout=LIMIT_S, check=False)
        status, words = ended.returncode, ended.stderr.strip()[-300:]
    except subprocess.TimeoutExpired:
        status, words = "hung", ""
    lines = [json.loads(line) for line in counts.read_text().splitlines()][1:]
    rows = [f"{name} ({paths[0]}): status {status} {words if status else ''}"]
    for action, load, codes in json.loads(result.read_text()) if result.exists() else []:
        pairs = PAIRS if load == "add" else 1
        of_action, lines = lines[:pairs], lines[pairs:]
        total = statistics.median(each["total"] for each in of_action)
        library = statistics.median(sum(value for file, value in each.items() if "cupti" in file)
                                    for each in of_action)
        rows.append(f"  {action}: {total:.0f} instructions, {library:.0f} in libcupti  {codes}")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--child", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--mark", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    if importlib.util.find_spec("torch") is None or not shutil.which("nvidia-smi"):
        print("launch_hooks.py: skipped: needs torch and an NVIDIA GPU")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    bench = launch_instructions.build(arguments.output.resolve())
    copies = price_ways.find_copies()
    with concurrent.futures.ThreadPoolExecutor(len(arguments.only)) as pool:
        for rows in pool.map(lambda name: measure(name, bench, copies), arguments.only):
            print(rows, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
