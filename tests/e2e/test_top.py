"""utlz top beside profiled runs: the snapshots of their collectors, and utlz pause."""

import json
import os
import signal
import subprocess
import time
import unittest

from attaching import AttachTest, Followed
from harness import TIME_LIMIT_S, UTLZ
from written_frames import batches_of_samples

FAKE_NVML = os.environ["UTLZ_FAKE_NVML"]
MORE_BATCHES = 2


class TopTest(AttachTest):

    def setUp(self):
        super().setUp()
        self.test_environment = self.environment()
        self.program_under_test = self.start()
        self.program_under_test.do("busy 2")
        self.tool = self.attach_once()

    def tearDown(self):
        self.assertEqual(self.program_under_test.quit(), 0)

    def attach_once(self):
        profile = self.folder / "attachment.utlz"
        tool = Followed(
            [str(UTLZ), "attach", "--counters=sample", "--overhead-budget=5%", "-o", str(profile),
             "--duration", "1000", "--stop-limit=5000", str(self.program_under_test.pid)],
            "stderr", env=self.test_environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        tool.profile = profile
        self.addCleanup(tool.close)
        tool.wait_for(" seen;")
        return tool

    def top(self, *arguments):
        fakes = self.test_environment["LD_LIBRARY_PATH"]
        environment = {**self.test_environment, "LD_LIBRARY_PATH": f"{FAKE_NVML}:{fakes}"}
        tool = Followed([str(UTLZ), "top", "--json", "--interval=0.2", *arguments], "stdout",
                        env=environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.addCleanup(tool.close)
        return tool

    def run_told(self, top, is_enough):
        """The first snapshot of this test's collector that is enough."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            for run in json.loads(top.line())["runs"]:
                if run["collector_pid"] == self.tool.process.pid and is_enough(run):
                    return run
        raise AssertionError("the collector did not tell enough")

    def test_one_tick_misses_no_run(self):
        """The collector's first answer takes longer than the tick's own readings."""
        [tick] = [json.loads(line) for line in self.all_lines(self.top("--count=1"))]
        self.assertIn(self.tool.process.pid, [run["collector_pid"] for run in tick["runs"]])

    def all_lines(self, top):
        self.assertEqual(top.end(), 0, top.said)
        return top.said.splitlines()

    def test_a_collector_tells_of_its_processes_and_kernels(self):
        top = self.top()
        run = self.run_told(top, lambda run: (
            run.get("kernels") and run.get("span_ns", 0) > 0 and
            run["devices"][0].get("causes")))
        [process] = [one for one in run["processes"]
                     if one["pid"] == self.program_under_test.pid]
        self.assertTrue(process["live"])
        self.assertEqual(run["devices"][0]["uuid"], self.fake_gpu)
        self.assertAlmostEqual(1, sum(kernel["time_share"] for kernel in run["kernels"]), places=3)
        self.assertIn(self.program_under_test.pid, run["kernels"][0]["pids"])
        self.assertAlmostEqual(1, sum(cause["share"] for cause in run["devices"][0]["causes"]),
                               places=3)
        # Two see the same, and neither costs the profile anything.
        other = self.top()
        self.run_told(other, lambda run: run.get("kernels"))
        report = self.finish(self.tool)
        self.assertEqual(report["capture"].get("frames_refused", 0), 0)
        deadline = time.monotonic() + TIME_LIMIT_S
        while any(run["collector_pid"] == self.tool.process.pid
                  for run in json.loads(top.line())["runs"]):
            self.assertLess(time.monotonic(), deadline, "a run that has ended is still shown")

    def test_a_collector_that_is_killed_is_forgotten(self):
        top = self.top()
        self.run_told(top, lambda run: run.get("processes"))
        self.tool.process.kill()
        deadline = time.monotonic() + TIME_LIMIT_S
        while any(run["collector_pid"] == self.tool.process.pid
                  for run in json.loads(top.line())["runs"]):
            self.assertLess(time.monotonic(), deadline, "a run that has ended is still shown")

    def wait_for_more_samples(self):
        enough = batches_of_samples(self.tool.profile) + MORE_BATCHES
        deadline = time.monotonic() + TIME_LIMIT_S
        while batches_of_samples(self.tool.profile) < enough:
            self.assertLess(time.monotonic(), deadline, "no more samples came")
            time.sleep(0.02)

    def pause(self, *arguments):
        done = self.utlz("pause", *arguments, environment=self.test_environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_pause_lends_the_counters_and_its_end_takes_them_back(self):
        self.wait_for_more_samples()
        self.addCleanup(self.utlz, "pause", "--end", environment=self.test_environment)
        self.assertRegex(self.pause(), r"GPU 0: sampler process \d+ of \w+ has the counters\n")
        self.assertRegex(self.pause("1h"), r"GPU 0: sampler process \d+ of \w+ has given the "
                                           r"counters up until \d\d:\d\d:\d\d\n")
        self.assertRegex(self.pause(), "GPU 0: lent until")
        paused_at = batches_of_samples(self.tool.profile)
        self.assertEqual("GPU 0: utlz may take the counters again\n", self.pause("--end"))
        self.assertIn("not lent", self.pause("--end"))
        self.wait_for_more_samples()
        self.assertGreater(batches_of_samples(self.tool.profile), paused_at)
        notices = "".join(self.finish(self.tool)["run"]["notices"])
        self.assertIn("utlz pause of", notices)

    def test_a_pause_holds_for_those_that_start_meanwhile(self):
        self.tool.process.send_signal(signal.SIGINT)
        self.tool.end()
        self.addCleanup(self.utlz, "pause", "--end", environment=self.test_environment)
        self.assertRegex(self.pause("1h"), "no utlz has the counters, and none takes them until")
        self.tool = self.attach_once()
        self.run_told(self.top(),
                      lambda run: "lent by utlz pause" in run.get("counters_reason", ""))
        report = self.finish(self.tool)
        self.assertIn("lent by utlz pause", report["capture"]["counter_source_reason"])
        self.assertEqual(report["capture"].get("samples", 0), 0)

    def test_what_is_no_duration_is_refused(self):
        for text in ("0", "-1", "5d", "25h", "x"):
            done = self.utlz("pause", text, environment=self.test_environment)
            self.assertNotEqual(done.returncode, 0, text)


if __name__ == "__main__":
    unittest.main()
