#!/usr/bin/env python3
"""Which threads of a PyTorch process take signals, and how long it takes to die of one, on a real GPU.

    signal_masks.py --utlz build/release/bin/utlz [--turns 5] [--json FILE]

Prints, for a training loop alone and under `utlz run`, the name, the blocked and the caught signals of every
thread (/proc/PID/task/*/status): whether the driver's and CUPTI's threads block signals, and whether the agent
has changed what the process catches. Then it measures the time from SIGTERM, SIGINT and abort() to the end of
the process, each so many times (docs/decisions/0021-signals-are-left-to-the-program.md). Exits with 1 where a process
does not end by its signal, with 77 without a GPU or PyTorch.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
MOST_SECONDS = 120
WAYS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT, "abort": signal.SIGABRT}

# Python's own handler for SIGINT would end it in an orderly way. For abort() it says when it begins.
LOAD = """
import os, signal, sys, time, torch
signal.signal(signal.SIGINT, signal.SIG_DFL)
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.randn(256, 1024, device="cuda")
def step():
    optimizer.zero_grad()
    model(data).square().mean().backward()
    optimizer.step()
end = time.monotonic() + 2
while time.monotonic() < end:
    for _ in range(20):
        step()
    torch.cuda.synchronize()
print(os.getpid(), flush=True)
if sys.argv[1] == "abort":
    for _ in range(200):
        step()
    print(time.monotonic(), flush=True)
    os.abort()
while True:
    step()
"""


class Training:
    """The loop, alone or under `utlz run`, in the middle of its work."""

    def __init__(self, way, utlz, folder):
        command = [sys.executable, "-c", LOAD, way]
        if utlz:
            command = [utlz, "run", "--no-report", "-o", str(folder / "run.utlz"), "--", *command]
        self.runner = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        line = self.runner.stdout.readline()
        if not line:
            raise RuntimeError(f"it ended early:\n{self.runner.communicate()[1]}")
        self.pid = int(line)
        self.end = os.pidfd_open(self.pid)

    def threads(self):
        rows = []
        for status in sorted(pathlib.Path(f"/proc/{self.pid}/task").glob("*/status"),
                             key=lambda path: int(path.parent.name)):
            try:
                fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            except (FileNotFoundError, ProcessLookupError):
                continue  # the thread has ended
            rows.append({"thread": int(status.parent.name), "name": fields["Name"].strip(),
                         "blocked": fields["SigBlk"].strip(), "caught": fields["SigCgt"].strip()})
        return rows

    def die(self, way):
        """Seconds from the signal to the end, and the exit status."""
        if way == "abort":
            begin = float(self.runner.stdout.readline())
        else:
            begin = time.monotonic()
            os.kill(self.pid, WAYS[way])
        ended, _, _ = select.select([self.end], [], [], MOST_SECONDS)
        took = time.monotonic() - begin
        if not ended:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.end)
        self.runner.communicate()
        status = self.runner.returncode
        return took, status - 128 if status > 128 else -status


def print_threads(title, rows):
    print(f"\n{title}\n\n| thread | blocked | caught |\n| --- | --- | --- |")
    for row in rows:
        print(f"| {row['name']} | {row['blocked']} | {row['caught']} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="where the same is written as JSON")
    arguments = parser.parse_args()
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU, or no PyTorch, on this machine")
        return SKIPPED
    results = {"threads": {}, "deaths": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sides = {"alone": None, "under utlz run": arguments.utlz}
        for side, utlz in sides.items():
            training = Training("SIGTERM", utlz, folder)
            results["threads"][side] = training.threads()
            training.die("SIGTERM")
            print_threads(side, results["threads"][side])
        print("\n| ends by | side | seconds until it has ended | median | died of it |\n"
              "| --- | --- | --- | --- | --- |")
        for way, number in WAYS.items():
            for side, utlz in sides.items():
                deaths = [Training(way, utlz, folder).die(way) for _ in range(arguments.turns)]
                seconds = [took for took, _ in deaths]
                died = sum(status == number for _, status in deaths)
                results["deaths"].append({"way": way, "side": side, "seconds": seconds,
                                          "of_it": died})
                print(f"| {way} | {side} | {' '.join(f'{took:.3f}' for took in seconds)} | "
                      f"{statistics.median(seconds):.3f} | {died} of {len(deaths)} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(row["of_it"] == arguments.turns for row in results["deaths"]) else 1


if __name__ == "__main__":
    sys.exit(main())
