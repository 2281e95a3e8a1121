"""Runs a case: alone, under `utlz run`, or under Nsight Compute, and reads what it printed."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import native_program

WORKLOADS = pathlib.Path(__file__).resolve().parent.parent / "workloads"


@dataclasses.dataclass
class Outcome:
    exit_status: int
    seconds: float
    result: dict | None       # the workload's own JSON; None: it printed none
    error_tail: str
    summary: dict | None = None   # utlz's report, where it ran under utlz


class Runner:

    def __init__(self, output, utlz, utlz_options=(), timeout_s=300):
        self.output = pathlib.Path(output)
        self.utlz = utlz
        self.utlz_options = list(utlz_options)
        self.timeout_s = timeout_s

    def alone(self, case, count):
        extra = ["--count-with-torch-profiler"] if count else []
        return self._execute(case, self._command(case, case.arguments) + extra)

    def profiled(self, case):
        profile = self.output / f"{case.name}.utlz"
        prefix = [self.utlz, "run", "-o", str(profile), "--no-report", *self.utlz_options, "--"]
        outcome = self._execute(case, prefix + self._command(case, case.arguments))
        report = subprocess.run([self.utlz, "report", str(profile), "--format", "json",
                                 "--top", "100000"], capture_output=True, text=True, check=False)
        if report.returncode == 0:
            (self.output / f"{case.name}.json").write_text(report.stdout)
            outcome.summary = json.loads(report.stdout)
        else:
            outcome.error_tail += report.stderr[-2000:]
        return outcome

    def under(self, prefix, case, arguments):
        """The case with other arguments behind another program; returns (outcome, its stdout)."""
        return self._execute(case, [*prefix, *self._command(case, arguments)])

    def _command(self, case, arguments):
        script = WORKLOADS / case.script
        if script.suffix == ".cu":
            program = native_program.build(script, self.output / script.stem)
            return [str(program), *arguments]
        return [sys.executable, str(script), *arguments]

    def _execute(self, case, command):
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **dict(case.environment)},
                              start_new_session=True) as process:
            try:
                output, error = process.communicate(timeout=self.timeout_s)
            except subprocess.TimeoutExpired:
                # A profiler's program would go on, and keep the counters from the next run.
                os.killpg(process.pid, signal.SIGKILL)
                _, error = process.communicate()
                return Outcome(124, self.timeout_s, None, error[-2000:])
        return Outcome(process.returncode, time.monotonic() - begin, last_json_of(output),
                       error[-2000:])


def last_json_of(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except json.JSONDecodeError:
                continue
    return None
