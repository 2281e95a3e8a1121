"""utlz calibrate on the fake GPU, whose kernels take times that are known."""

import json
import unittest

from harness import EndToEndTest, FAKES


class CalibrateTest(EndToEndTest):
    def calibrate(self, *options, scenario="instant=1"):
        environment = self.environment(scenario, XDG_STATE_HOME=str(self.folder / "state"))
        return self.utlz("calibrate", "--cublas-lt", str(FAKES / "libcublasLt.so.13"), *options,
                         environment=environment), environment

    def kept(self):
        [path] = (self.folder / "state" / "utlz" / "ceilings").iterdir()
        return json.loads(path.read_text())

    def test_measures_and_keeps_what_later_runs_and_reports_show(self):
        completed, environment = self.calibrate()
        self.assertEqual(completed.returncode, 0, completed.stderr)
        kept = self.kept()
        # A copy kernel of 1 ms moves two arrays, a triad three; a product takes 2 ms.
        ratio = kept["triad_bytes_per_second"] / kept["copy_bytes_per_second"]
        self.assertAlmostEqual(ratio, 1.5, delta=0.05)
        rates = {rate["data_type"]: rate["flops_per_second"] for rate in kept["rates"]}
        # One GPU has 18 s, which a slow machine may not get through.
        sizes = {"bf16": 8192, "fp16": 8192, "tf32": 8192, "fp32": 4096, "int8": 8192,
                 "fp64_tensor": 4096}
        self.assertLessEqual(set(rates), set(sizes))
        for data_type in set(sizes) - set(rates):
            self.assertIn(f"  {data_type}: no time was left\n", completed.stdout)
        for data_type, rate in rates.items():
            self.assertAlmostEqual(rate / (2 * sizes[data_type]**3 / 2e-3), 1, delta=0.05,
                                   msg=data_type)
        self.assertIn("no fp8 product here", completed.stdout)
        self.assertFalse(kept["idle"], "there is no NVML here to tell")
        run = self.run_program("ending", environment=environment)
        self.assertEqual(run.status, 0, run.stderr)
        [device] = self.report(run)["devices"]
        self.assertEqual(device["uuid"], kept["uuid"])
        self.assertEqual(device["ceilings_time_ns"], kept["time_ns"])
        self.assertEqual(device["attained_dram_bytes_per_second"], kept["triad_bytes_per_second"])

    def test_keeps_the_bandwidth_where_there_is_no_cublas(self):
        environment = self.environment("instant=1", XDG_STATE_HOME=str(self.folder / "state"))
        completed = self.utlz("calibrate", "--cublas-lt", "/no/library", environment=environment)
        self.assertEqual(completed.returncode, 1)
        self.assertIn("--cublas-lt", completed.stderr)
        self.assertGreater(self.kept()["copy_bytes_per_second"], 0)
        self.assertEqual(self.kept()["rates"], [])

    def test_says_why_it_cannot(self):
        completed, _ = self.calibrate("--device", "7")
        self.assertEqual(completed.returncode, 1)
        self.assertIn("no such GPU", completed.stderr)
        environment = self.environment("instant=1", HOME="", XDG_STATE_HOME="")
        completed = self.utlz("calibrate", environment=environment)
        self.assertEqual(completed.returncode, 1)
        self.assertIn("HOME or XDG_STATE_HOME", completed.stderr)


if __name__ == "__main__":
    unittest.main()
