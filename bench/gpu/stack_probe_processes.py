"""Runs each measurement in a process of its own, with a time limit and a log."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(__file__).resolve().parent / "stack_probe.py"


class Runner:

    def __init__(self, output, library, cubin, seconds):
        self.output, self.library, self.cubin = output, library, cubin
        self.results = output / "results.jsonl"
        self.failed = []
        self.scratch = tempfile.mkdtemp(prefix="stack_probe_")
        self.end = time.monotonic() + seconds

    def __call__(self, task):
        measurement, name, what, case, cupti, limit_s, _ = task
        log = self.output / f"{name}.log"
        label = f"{what}:{name}"
        command = [sys.executable, "-X", "faulthandler", PROGRAM, "--child", label, "--case", case,
                   "--cupti", cupti, "--library", str(self.library), "--cubin", self.cubin,
                   "--result", str(self.results)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1",
                       "TORCHINDUCTOR_CACHE_DIR": f"{self.scratch}/torchinductor_{name}"}
        begin = time.monotonic()
        limit_s = min(limit_s, self.end - begin)
        if limit_s < 5:
            log.write_text("no time was left\n", encoding="utf-8")
            self.report(measurement, name, "not begun", 0, log)
            return
        with open(log, "w", encoding="utf-8") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT,
                                       env=environment, start_new_session=True)
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                status = f"longer than {limit_s:.0f} s"
        self.report(measurement, name, status, time.monotonic() - begin, log)

    def report(self, measurement, name, status, took_s, log):
        text = log.read_text(encoding="utf-8", errors="replace")
        print(f"\n## {measurement}: {name} ({took_s:.1f} s, status {status})\n"
              f"{text if status == 0 and len(text) < 12000 else text[-6000:]}", flush=True)
        with open(self.results, "a", encoding="utf-8") as file:
            file.write(json.dumps({"measurement": name, "row": "ended", "status": status,
                                   "took_s": round(took_s, 1)}) + "\n")
        if status != 0:
            self.failed.append(name)
