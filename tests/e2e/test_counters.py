"""Sampled counters, attributed to kernels, against the counts that the program scripted."""

import fcntl
import json
import os
import subprocess
import time
import unittest

from harness import FAKE_GPU, TIME_LIMIT_S, UTLZ, EndToEndTest

COUNTERS = ("--counters=sample", "--overhead-budget=unlimited")


class CountersTest(EndToEndTest):
    def test_flops_and_bytes_by_kernel(self):
        run = self.run_program("training_steps", "4", options=COUNTERS)
        report = self.assert_exact(run)
        [device] = report["devices"]
        self.assertEqual(device["source"], "sampled", report["capture"])
        per_launch = {
            "_Z4gemmPfPKfS1_i": (1e11, 4e8),
            "_Z6reducePfPKfi": (0, 1.001e8),
            "_Z3addPfPKfi": (0, 8e7),
        }
        for kernel in report["kernels"]:
            flops, dram_bytes = per_launch[kernel["mangled_name"]]
            with self.subTest(kernel=kernel["name"]):
                self.assertAlmostEqual(kernel["dram_bytes"] / kernel["launches"], dram_bytes,
                                       delta=0.05 * dram_bytes)
                if flops > 0:
                    self.assertAlmostEqual(kernel["flops"] / kernel["launches"], flops,
                                           delta=0.05 * flops)

    def test_exact_flops_from_ranges(self):
        run = self.run_program("training_steps", "6", "apart",
                               options=("--counters=range", "--overhead-budget=unlimited"))
        report = self.assert_exact(run)
        self.assertGreater(report["capture"]["ranges"], 0)
        [gemm] = [kernel for kernel in report["kernels"]
                  if kernel["mangled_name"] == "_Z4gemmPfPKfS1_i"]
        self.assertEqual(gemm["flops_source"], "range", gemm)
        self.assertAlmostEqual(gemm["flops"] / gemm["launches"], 1e11, delta=1e9)

    def test_two_runs_at_once(self):
        """The second has times, and says who has the counters."""
        environment = self.environment()
        program = self.program("training_steps")
        first = subprocess.Popen(
            [str(UTLZ), "run", "-o", str(self.folder / "first.utlz"), "--no-report", *COUNTERS,
             "--", "/bin/sh", "-c", f"'{program}' 1; read line; exit 7"],
            env=environment, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        with first:
            self.wait_for_holder()
            run = self.run_program("training_steps", "1", options=COUNTERS,
                                   environment=environment)
            _, errors = first.communicate("", timeout=TIME_LIMIT_S)
        self.assertEqual(first.returncode, 7, errors)
        capture = self.assert_exact(run)["capture"]
        self.assertEqual(capture["rung"], "time_only")
        self.assertIn("another utlz", capture["rung_reason"])
        first_profile = self.utlz("report", "--format", "json", str(self.folder / "first.utlz"))
        [device] = json.loads(first_profile.stdout)["devices"]
        self.assertEqual(device["source"], "sampled")

    def wait_for_holder(self):
        """Until some process holds the fake GPU's counters."""
        path = f"/tmp/utlz-counters-{FAKE_GPU}.lock"
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            finally:
                os.close(file)
            time.sleep(0.01)
        self.fail("the first run never took the counters")

    def rung(self, scenario):
        run = self.run_program("training_steps", "2", options=COUNTERS,
                               environment=self.environment(scenario))
        return self.assert_exact(run)

    def test_counters_denied(self):
        report = self.rung("counters=denied")
        self.assertEqual(report["capture"]["rung"], "time_only")
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", report["capture"]["rung_remedy"])

    def test_counters_busy(self):
        report = self.rung("counters=busy")
        self.assertEqual(report["capture"]["rung"], "time_only")
        self.assertTrue(report["capture"]["rung_reason"])

    def test_mig(self):
        report = self.rung("mig=1")
        self.assertEqual(report["capture"]["rung"], "time_only")

    def test_mps(self):
        report = self.rung("mps=1")
        self.assertEqual(report["capture"]["rung"], "time_only")


if __name__ == "__main__":
    unittest.main()
