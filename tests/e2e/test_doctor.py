"""`utlz doctor` tells whether the full job can run, and by its exit status too."""

import json
import subprocess
import unittest

from harness import TIME_LIMIT_S, UTLZ, EndToEndTest


class DoctorTest(EndToEndTest):
    def doctor(self, scenario="", **changes):
        """The facts by name, and the exit status."""
        environment = self.environment(scenario)
        environment.update(changes)
        completed = self.utlz("doctor", "--json", environment=environment)
        self.assertEqual(completed.stderr, "")
        document = json.loads(completed.stdout)
        self.assertEqual(document["schema"], "utlz.doctor/1")
        self.assertEqual(document["full_job"], completed.returncode == 0)
        self.assertIn(completed.returncode, (0, 1))
        for fact in document["facts"]:
            if fact["status"] == "bad":
                self.assertTrue(fact["remedy"], fact)
        return {fact["name"]: fact for fact in document["facts"]}, completed.returncode

    def test_all_is_well(self):
        facts, status = self.doctor()
        self.assertEqual(status, 0, facts)
        for name in ("driver", "GPU 0", "CUPTI", "counters of GPU 0"):
            self.assertEqual(facts[name]["status"], "ok", facts[name])
        self.assertIn("libcupti.so.13", facts["CUPTI"]["detail"])

    def test_no_permission(self):
        facts, status = self.doctor("counters=denied")
        self.assertEqual(status, 1)
        self.assertEqual(facts["counters of GPU 0"]["status"], "bad")
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", facts["counters of GPU 0"]["remedy"])

    def test_counters_held_by_another(self):
        facts, status = self.doctor("counters=busy")
        self.assertEqual(status, 1)
        self.assertEqual(facts["counters of GPU 0"]["status"], "bad")

    def test_no_gpu(self):
        facts, status = self.doctor("cu_init=100")
        self.assertEqual(status, 1)
        bad = [fact["name"] for fact in facts.values() if fact["status"] == "bad"]
        self.assertTrue(bad)

    def test_no_driver(self):
        facts, status = self.doctor(LD_LIBRARY_PATH="")
        self.assertEqual(status, 1)
        self.assertEqual(facts["driver"]["status"], "bad")
        self.assertIn("driver", facts["driver"]["remedy"])

    def test_environment_of_another_tool(self):
        """`utlz run` would be refused; the other tool gets into doctor no more than into a run."""
        completed = self.utlz("doctor", environment=self.environment(
            CUDA_INJECTION64_PATH="/opt/other/libinjection.so"))
        self.assertEqual(completed.returncode, 1)
        self.assertIn("/opt/other/libinjection.so", completed.stdout)
        self.assertIn("unset CUDA_INJECTION64_PATH", completed.stdout)
        self.assertEqual(completed.stderr, "")
        facts, status = self.doctor(NVTX_INJECTION64_PATH="/opt/other/libinjection.so")
        self.assertEqual((status, facts["injection"]["status"]), (0, "warning"))

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            completed = subprocess.run([str(UTLZ), "doctor"], env=self.environment(), stdout=full,
                                       stderr=subprocess.PIPE, text=True, timeout=TIME_LIMIT_S)
        self.assertEqual(completed.returncode, 1)
        self.assertIn("standard output", completed.stderr)

    def test_text_says_the_same(self):
        completed = self.utlz("doctor")
        self.assertEqual(completed.returncode, 0, completed.stdout)
        self.assertIn("The full job can run here", completed.stdout)
        completed = self.utlz("doctor", environment=self.environment("counters=denied"))
        self.assertEqual(completed.returncode, 1)
        self.assertIn("The full job cannot run here", completed.stdout)


if __name__ == "__main__":
    unittest.main()
