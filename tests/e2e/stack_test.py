"""What tests of stacks share: programs in each interpreter that is here, and whose kernels are."""

import json
import pathlib
import sys

from harness import EndToEndTest

TESTS = pathlib.Path(__file__).resolve().parent.parent
PYTHON_PROGRAMS = TESTS / "programs" / "python"
sys.path.insert(0, str(TESTS / "unit" / "python_frames"))
from run_in_python import interpreter

VERSIONS = [version for version in ("3.11", "3.12", "3.13", "3.14") if interpreter(version)]
OPTIONS = ("--counters=none", "--stacks=auto", "--overhead-budget=unlimited")


class StackTest(EndToEndTest):

    def assert_sums(self, owners):
        """Times of owners add up to the total, to the nanosecond."""
        for rows in {"layers", "repeated_layers", "lines"} & set(owners):
            self.assertEqual(sum(row["own_time_ns"] for row in owners[rows]), owners["time_ns"])
            self.assertEqual(sum(row["own_idle_before_ns"] for row in owners[rows]),
                             owners["idle_time_ns"])
        self.assertEqual(sum(row["own_time_ns"] for row in owners["operations"]),
                         owners["time_ns"])

    def owned_kernels(self, run):
        """Of each kernel in its order: its name, layer, line, pass, whether that is inferred."""
        trace = self.folder / "trace.json"
        made = self.utlz("export", "--force", "--format", "chrome", "-o", str(trace), str(run.profile))
        self.assertEqual(made.returncode, 0, made.stderr)
        kernels = [event for event in json.loads(trace.read_text())["traceEvents"]
                   if event.get("cat") == "kernel"]
        kernels.sort(key=lambda event: event["ts"])
        return [[event["name"], *(event["args"].get(key) for key in ("layer", "line", "pass")),
                 event["args"].get("owner") == "inferred"] for event in kernels]
