#!/usr/bin/env python3
"""What it costs a program that the GPU's counters are taken, set or sampled, on a real GPU.

    counter_states.py --states build/release/bin/counter_states [--rounds 12] [--seconds 2]
                      [--only set given-up …] [--batch 16]

A training runs all the time, alone; another process brings the counters into a state and out of
it again. Each state lies between two stretches without, and is compared with their mean. Prints
each state's change of the time of a step, in the median and with the standard error of the mean,
how long CUPTI's calls took, and by how much the steps in which they were called took longer. Exits with 77
where there is no GPU or no torch.
"""

import argparse
import ctypes
import importlib.util
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77
WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"
SETTLED_S = 0.25
NVML_PAUSE_S = 0.2
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum", "gpc__cycles_elapsed.max",
           "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.sum",
           "TPC.TriageCompute.sm__cycles_active.sum")
# Into the state, and out of it.
STATES = {
    "nothing": ([], []),
    "taken": (["enable"], ["disable"]),
    "set": (["enable", "configure"], ["disable"]),
    "set-to-one": (["enable", "configure-one"], ["disable"]),
    "sampled": (["enable", "configure", "start"], ["stop", "disable"]),
    "given-up": (["enable", "configure", "start", "stop", "decode", "disable"], []),
    "gpm": ([], []),
}


class Gpm:
    """Reads the GPU's activity by NVML, five times a second, while it is on."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.device, self.sample = ctypes.c_void_p(), ctypes.c_void_p()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))
        self.nvml.nvmlGpmSampleAlloc(ctypes.byref(self.sample))
        self.on = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            self.on.wait()
            self.nvml.nvmlGpmSampleGet(self.device, self.sample)
            time.sleep(NVML_PAUSE_S)


class Counters:

    def __init__(self, program):
        self.process = subprocess.Popen([program, *METRICS], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.calls = []  # (word, begin, end, of a processor)

    def do(self, words):
        for word in words:
            begin = time.time()
            self.process.stdin.write(word + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            if not answer:
                raise RuntimeError(f"counter_states ended at {word}")
            self.calls.append((word, begin, time.time(), json.loads(answer)["cpu_ms"]))


def train(path, batch):
    """Writes when each step began and how long it took, without end."""
    sys.path.insert(0, str(WORKLOADS))
    import gpt_train
    import torch
    training = gpt_train.GptTraining(argparse.Namespace(layers=12, batch=batch, compile=False))
    with open(path, "w", encoding="ascii") as file:
        while True:
            begin = time.time()
            training.step()
            torch.cuda.synchronize()
            file.write(f"{begin:.6f} {time.time() - begin:.6f}\n")
            file.flush()


def wait_for_steps(path, load, steps=40):
    while not path.exists() or path.read_text(encoding="ascii").count("\n") < steps:
        if load.poll() is not None:
            raise RuntimeError("the training ended")
        time.sleep(0.1)


def stretch(seconds):
    time.sleep(SETTLED_S)
    begin = time.time()
    time.sleep(seconds)
    return begin, time.time()


def take_turns(arguments, counters):
    """[(state, begin, end)], each state between two of "nothing"."""
    gpm = Gpm()
    stretches = [("nothing", *stretch(arguments.seconds))]
    for _ in range(arguments.rounds):
        for state in arguments.only:
            enter, leave = STATES[state]
            counters.do(enter)
            if state == "gpm":
                gpm.on.set()
            stretches.append((state, *stretch(arguments.seconds)))
            gpm.on.clear()
            counters.do(leave)
            stretches.append(("nothing", *stretch(arguments.seconds)))
    return stretches


def print_changes(steps, stretches, states):
    means = []
    for _, begin, end in stretches:
        means.append(statistics.mean(took for at, took in steps if begin < at and at + took < end))
    print(f"a step takes {statistics.median(means) * 1e3:.2f} ms\n")
    print("| state | median | mean ± standard error | range | stretches |\n"
          "| --- | --- | --- | --- | --- |")
    for state in states:
        changes = [means[i] / ((means[i - 1] + means[i + 1]) / 2) - 1
                   for i in range(1, len(means), 2) if stretches[i][0] == state]
        error = statistics.stdev(changes) / len(changes)**0.5
        print(f"| {state} | {statistics.median(changes):+.2%} | {statistics.mean(changes):+.2%} ± "
              f"{error:.2%} | {min(changes):+.2%} … {max(changes):+.2%} | {len(changes)} |")


def print_calls(steps, calls):
    usual = statistics.median(took for _, took in steps)
    print("\n| call | ms, median | of a processor | steps were longer by, ms | range | calls |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for word in dict.fromkeys(call[0] for call in calls):
        walls, processors, longer = [], [], []
        for _, begin, end, processor in (call for call in calls if call[0] == word):
            met = [took for at, took in steps if at < end and begin < at + took]
            walls.append((end - begin) * 1e3)
            processors.append(processor)
            longer.append(sum(took - usual for took in met) * 1e3)
        print(f"| {word} | {statistics.median(walls):.2f} | {statistics.median(processors):.2f} | "
              f"{statistics.median(longer):+.2f} | {min(longer):+.2f} … {max(longer):+.2f} | "
              f"{len(walls)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", default="build/release/bin/counter_states")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a stretch")
    parser.add_argument("--only", nargs="+", choices=STATES, default=list(STATES)[1:])
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--train", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine", file=sys.stderr)
        return SKIPPED
    if arguments.train:
        return train(arguments.train, arguments.batch)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "steps"
        with subprocess.Popen([sys.executable, __file__, "--train", str(path), "--batch",
                               str(arguments.batch)]) as load:
            try:
                wait_for_steps(path, load)
                counters = Counters(arguments.states)
                stretches = take_turns(arguments, counters)
            finally:
                load.kill()
        lines = path.read_text(encoding="ascii").splitlines()[:-1]
        steps = [tuple(map(float, line.split())) for line in lines]
        print_changes(steps, stretches, arguments.only)
        print_calls(steps, counters.calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
