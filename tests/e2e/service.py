"""A collector as a service, and what it recorded."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from attaching import Followed
from harness import STAGE, TIME_LIMIT_S, UTLZ, EndToEndTest, Run

AGENT = STAGE / "lib" / "libutlz_inject.so"


class Service(Followed):
    """`utlz collector`, followed by what it says."""

    def __init__(self, test, *options, environment=None, patience_s=TIME_LIMIT_S, **more):
        self.test = test
        self.folder = test.folder / "profiles"
        super().__init__(
            [str(UTLZ), "collector", "--socket", f"unix:{test.socket}", "-o", str(self.folder),
             *options],
            "stderr", env=environment or test.test_environment, cwd=test.folder,
            stdin=subprocess.DEVNULL, **more)
        self._guard.cancel()  # a service outlives what it serves
        self._guard = threading.Timer(patience_s, self.process.kill)
        self._guard.daemon = True
        self._guard.start()
        test.addCleanup(self.close)
        self.wait_for("collector: unix:")

    def memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.test.assertEqual(self.end(), 0, self.said)


class ServiceTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.socket = self.folder / "collector"
        self.test_environment = self.environment("instant=1")

    def service(self, *options, linger="0.5", **more):
        return Service(self, "--counters=none", "--overhead-budget=unlimited",
                       "--linger", linger, *options, **more)

    def target_environment(self, **additions):
        """Nothing but variables: what docs/guide/collector.md says."""
        return {**self.test_environment, "CUDA_INJECTION64_PATH": str(AGENT),
                "UTLZ_COLLECTOR": f"unix:{self.socket}", **additions}

    def run_target(self, name, *arguments, **additions):
        return subprocess.run(
            [self.program(name), *arguments], env=self.target_environment(**additions),
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=TIME_LIMIT_S, check=False)

    def profiles(self):
        return sorted((self.folder / "profiles").glob("*.utlz"))

    def profiles_of(self, job):
        return [profile for profile in self.profiles() if profile.name.startswith(f"utlz-{job}-")]

    def report_of(self, profile):
        return self.report(Run(subprocess.CompletedProcess([], 0, "", ""), profile))

    def reports(self):
        return [self.report_of(profile) for profile in self.profiles()]

    def launches_in(self, reports):
        totals = {}
        for report in reports:
            for name, launches in self.launches_by_name(report).items():
                totals[name] = totals.get(name, 0) + launches
        return totals

    def told_launches(self, *outputs):
        totals = {}
        for output in outputs:
            for line in output.splitlines():
                told = json.loads(line) if line.startswith("{") else {}
                for name, launches in told.get("kernels", {}).items():
                    totals[name] = totals.get(name, 0) + launches
        return totals

    def wait_until(self, condition, what):
        deadline = time.monotonic() + TIME_LIMIT_S / 2
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def processes_in(self, profile):
        """How many processes a profile has that is still being written."""
        completed = self.utlz("report", "--format", "json", "--recompute", str(profile))
        return len(json.loads(completed.stdout).get("processes", [])) if completed.stdout else 0
