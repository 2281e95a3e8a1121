#!/usr/bin/env python3
"""Attaches to PyTorch programs in mid-run on a real GPU, and measures what they feel of it.

    attach_check.py --utlz build/release/bin/utlz --output DIRECTORY [--part NAME...] [--window S]
                    [--preload]

Parts, each in one process and about a minute long: `graph` and `eager` (a decode loop), `server`
(HTTP around a transformers model, under load), `cycles` (as many short attachments as fit, under load),
`identical` (outputs against those of a process that was never touched). Prints one object of JSON
and writes it to DIRECTORY/attach.json. Exits with 77 where there is no GPU or no torch.

Latencies are compared within one process: windows before the first attach (each against the next:
the control), then windows during an attachment and windows inactive, in turn.
"""

import argparse
import http.client
import importlib.util
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"
SKIPPED = 77
PARTS = ("graph", "eager", "server", "cycles", "identical")


def quantile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Program:
    """A workload that prints a line of JSON when it is ready, and lives until its input ends."""

    def __init__(self, prefix, script, *arguments):
        self.process = subprocess.Popen(
            [*prefix, sys.executable, str(WORKLOADS / script), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self._line()
        self.pid = self.ready["pid"]

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the program ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._line()

    def window(self, seconds):
        self.ask("mark")
        time.sleep(seconds)
        return self.ask("mark")

    def digest(self):
        return self.ask("digest")["digest"]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


class Server(Program):
    """The HTTP server with clients that ask without pause."""

    CLIENTS = 2

    def __init__(self, prefix):
        super().__init__(prefix, "http_server.py")
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._latencies_ms = []
        self.digests = {}
        self.wrong = 0
        self._clients = [threading.Thread(target=self._client, args=(i,))
                         for i in range(self.CLIENTS)]
        for client in self._clients:
            client.start()

    def _client(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.ready["port"])
        while not self._stop.is_set():
            number = (number + 1) % 8
            begin = time.perf_counter()
            connection.request("POST", "/generate", json.dumps({"prompt": number}))
            digest = json.loads(connection.getresponse().read())["digest"]
            with self._lock:
                self._latencies_ms.append((time.perf_counter() - begin) * 1e3)
                self.wrong += self.digests.setdefault(number, digest) != digest

    def window(self, seconds):
        with self._lock:
            self._latencies_ms = []
        time.sleep(seconds)
        with self._lock:
            ordered = sorted(self._latencies_ms)
        if not ordered:
            return {"steps": 0}
        return {"steps": len(ordered), "seconds": seconds, "p50_ms": quantile(ordered, 0.5),
                "p99_ms": quantile(ordered, 0.99), "mean_ms": statistics.fmean(ordered)}

    def end(self):
        self._stop.set()
        for client in self._clients:
            client.join()
        return super().end()


class Tool:
    """One `utlz attach`, followed by what it says."""

    def __init__(self, utlz, pid, profile, seconds, *options):
        self.began = time.perf_counter()
        self.seconds = seconds
        self.said = []
        self.process = subprocess.Popen(
            [utlz, "attach", str(pid), "-o", str(profile), "--duration", str(seconds), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.times = {}

    def wait_for(self, text):
        """True once it says this; False if it ends without."""
        for line in self.process.stderr:
            self.said.append(line.rstrip())
            for mark in ("tracing", " seen;", "profile:"):
                if mark in line:
                    self.times.setdefault(mark, time.perf_counter() - self.began)
            if text in line:
                return True
        return False

    def finish(self):
        self.wait_for("\0")
        return self.process.wait(timeout=60)

    def facts(self):
        report_s = self.times.get("profile:")
        traced_s = self.times.get("tracing")
        return {
            "first_kernels_s": self.times.get(" seen;"),
            "report_after_duration_s":
                None if report_s is None or traced_s is None
                else report_s - traced_s - self.seconds,
            "said": [line for line in self.said
                     if " seen;" in line or "process" in line or "no kernel" in line][:6],
        }


def capture_of(utlz, profile):
    completed = subprocess.run([utlz, "report", str(profile), "--format", "json"],
                               capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        return {"error": completed.stderr[-500:]}
    report = json.loads(completed.stdout)
    kernels = report.get("kernels", [])
    launches = sum(kernel.get("launches", 0) for kernel in kernels)
    time_ns = sum(kernel.get("time_ns", 0) for kernel in kernels)
    # The same in every attachment, unless CUPTI's times of graph nodes are wrong after a pause.
    return {"launches": launches, "mean_kernel_ns": time_ns / launches if launches else None,
            "flops": report["run"].get("flops"), "capture": report.get("capture"),
            "dram_bytes": report["run"].get("dram_bytes")}


def change(after, before):
    """In per cent, of every number that both have."""
    return {key: 100 * (after[key] / before[key] - 1)
            for key in ("p50_ms", "p99_ms", "mean_ms") if before.get(key) and after.get(key)}


def median_of(changes):
    return {key: statistics.median(entry[key] for entry in changes if key in entry)
            for key in ("p50_ms", "p99_ms", "mean_ms") if any(key in entry for entry in changes)}


def measure(program, arguments, name, rounds=4):
    """Windows before, and then during and inactive in turn."""
    seconds = arguments.window
    before = [program.window(seconds) for _ in range(4)]
    during, inactive, attachments = [], [], []
    for number in range(rounds):
        profile = arguments.output / f"{name}-{number}.utlz"
        tool = Tool(arguments.utlz, program.pid, profile, seconds + 1, *arguments.attach_option)
        if not tool.wait_for(" seen;"):
            attachments.append({"failed": tool.said[-5:]})
            break
        during.append(program.window(seconds))
        status = tool.finish()
        attachments.append({"status": status, **tool.facts(), **capture_of(arguments.utlz, profile)})
        inactive.append(program.window(seconds))
    untouched = {key: statistics.median(window[key] for window in before)
                 for key in ("p50_ms", "p99_ms", "mean_ms")}
    return {
        "before": before, "during": during, "inactive": inactive, "attachments": attachments,
        "change_percent": {
            "control": median_of([change(b, a) for a, b in zip(before, before[1:])]),
            "during_against_inactive": median_of([change(d, a) for d, a in zip(during, inactive)]),
            "during_against_before": median_of([change(d, untouched) for d in during]),
            "inactive_against_before": median_of([change(a, untouched) for a in inactive]),
        },
    }


def decode_part(arguments, mode):
    program = Program(arguments.prefix, "endless_decode.py", "--mode", mode)
    first = program.digest()
    result = measure(program, arguments, mode)
    result["same_output"] = program.digest() == first
    result["exit_status"] = program.end()
    return result


def server_part(arguments):
    server = Server(arguments.prefix)
    time.sleep(1)
    result = measure(server, arguments, "server")
    result["wrong_answers"] = server.wrong
    result["exit_status"] = server.end()
    return result


def cycles_part(arguments):
    """Short attachments one after another until the time is up."""
    program = Program(arguments.prefix, "endless_decode.py", "--mode", "graph")
    first = program.digest()
    before = program.window(arguments.window)
    failures = []
    attachments = 0
    memory_kib = []
    end = time.perf_counter() + arguments.cycles_seconds
    while time.perf_counter() < end and attachments < arguments.cycles:
        tool = Tool(arguments.utlz, program.pid, arguments.output / "cycle.utlz", 0.05,
                    "--counters=none", "--no-report")
        if tool.finish() != 0:
            failures.append(tool.said[-3:])
        attachments += 1
        memory_kib.append(resident_kib(program.pid))
    after = program.window(arguments.window)
    return {"attachments": attachments, "failures": failures[:5], "failed": len(failures),
            "resident_kib_after_10th": memory_kib[9] if len(memory_kib) > 9 else None,
            "resident_kib_at_end": memory_kib[-1], "before": before, "after": after,
            "change_percent": change(after, before), "same_output": program.digest() == first,
            "exit_status": program.end()}


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return None


def identical_part(arguments):
    """Digests of the fixed batch: untouched processes, and one that is attached to in between."""
    untouched = []
    for _ in range(2):
        program = Program(arguments.prefix, "endless_decode.py", "--mode", "graph")
        untouched.append(program.digest())
        program.end()
    program = Program(arguments.prefix, "endless_decode.py", "--mode", "graph")
    digests = []
    for _ in range(3):
        tool = Tool(arguments.utlz, program.pid, arguments.output / "identical.utlz", 1,
                    "--counters=none", "--no-report")
        tool.wait_for(" seen;")
        digests.append(program.digest())
        tool.finish()
        digests.append(program.digest())
    program.end()
    return {"untouched_agree": untouched[0] == untouched[1],
            "attached_agree": all(digest == untouched[0] for digest in digests)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--utlz", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--window", type=float, default=4, help="seconds")
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--cycles-seconds", type=float, default=60)
    parser.add_argument("--attach-option", action="append", default=[],
                        help="handed on to utlz attach, such as --counters=none")
    parser.add_argument("--preload", action="store_true",
                        help="start the programs by utlz run --preload, where ptrace is forbidden")
    arguments = parser.parse_args()
    arguments.prefix = [arguments.utlz, "run", "--preload", "--"] if arguments.preload else []
    if not shutil.which("nvidia-smi") or not importlib.util.find_spec("torch"):
        print("no NVIDIA GPU or no torch on this machine")
        return SKIPPED
    arguments.output.mkdir(parents=True, exist_ok=True)
    parts = {"graph": lambda: decode_part(arguments, "graph"),
             "eager": lambda: decode_part(arguments, "eager"),
             "server": lambda: server_part(arguments), "cycles": lambda: cycles_part(arguments),
             "identical": lambda: identical_part(arguments)}
    results = {}
    for name in arguments.part or PARTS:
        try:
            results[name] = parts[name]()
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as error:
            results[name] = {"error": repr(error)}
        (arguments.output / "attach.json").write_text(json.dumps(results, indent=2))
    print(json.dumps(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
