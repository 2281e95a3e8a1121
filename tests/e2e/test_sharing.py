"""Several collectors on one GPU: one sampler counts for all of them, whoever comes and goes."""

import json
import os
import signal
import subprocess
import time
import unittest

from attaching import AttachTest, Followed
from harness import TIME_LIMIT_S, UTLZ, Run
from written_frames import batches_of_samples

# Read in windows of one plan; a few are enough to see that they go on.
MORE_BATCHES = 2


class SharingTest(AttachTest):

    def setUp(self):
        super().setUp()
        self.test_environment = self.environment()
        self.programs = [self.start() for _ in range(2)]
        for program in self.programs:
            program.do("busy 2")
        # The second attaches when the first has the counters.
        self.first = self.attach_once(self.programs[0])
        self.wait_for_more_samples(self.first)
        self.second = self.attach_once(self.programs[1])
        for tool in (self.first, self.second):
            self.wait_until_traced_while_sampled(tool)

    def tearDown(self):
        for program in self.programs:
            self.assertEqual(program.quit(), 0)

    def attach_once(self, program):
        self.profiles += 1
        profile = self.folder / f"{self.profiles}.utlz"
        tool = Followed(
            [str(UTLZ), "attach", "--counters=sample", "--overhead-budget=5%", "-o", str(profile),
             "--duration", "1000", "--stop-limit=5000", str(program.pid)],
            "stderr", env=self.test_environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        tool.profile = profile
        self.addCleanup(tool.close)
        tool.wait_for(" seen;")
        return tool

    def wait_for_more_samples(self, tool):
        enough = batches_of_samples(tool.profile) + MORE_BATCHES
        deadline = time.monotonic() + TIME_LIMIT_S
        while batches_of_samples(tool.profile) < enough:
            self.assertLess(time.monotonic(), deadline, "no more samples came")
            time.sleep(0.02)

    def wait_until_traced_while_sampled(self, tool):
        """Its process traced in a window that was sampled, whoever asked for it: a process that
        does not get its share of the processors misses windows."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while not self.traced_samples(self.so_far(tool)):
            self.assertLess(time.monotonic(), deadline, "no sampled window was traced")
            self.wait_for_more_samples(tool)

    def so_far(self, tool):
        return self.report(Run(subprocess.CompletedProcess([], 0, "", ""), tool.profile))

    @staticmethod
    def traced_samples(report):
        capture = report["capture"]
        return capture.get("samples", 0) - capture.get("samples_untraced", 0)

    def assert_sampled(self, report):
        capture = report["capture"]
        self.assertEqual(capture["counter_source"], "sampled", capture)
        self.assertEqual(capture.get("frames_refused", 0), 0)
        self.assertGreater(self.traced_samples(report), 0, capture)

    def sampler_of(self, tool):
        """Started by a thread of the collector."""
        pid = tool.process.pid
        children = [int(child) for task in os.listdir(f"/proc/{pid}/task")
                    for child in self.text(f"/proc/{pid}/task/{task}/children").split()]
        [sampler] = [child for child in children if self.name_of(child) == "utlz-sampler"]
        return sampler

    def name_of(self, pid):
        return self.text(f"/proc/{pid}/comm").strip()

    @staticmethod
    def text(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_who_looks_meanwhile(self):
        """Counters that are shared stand in nobody's way, and samplers are nobody's work."""
        completed = self.utlz("doctor", "--json", environment=self.test_environment)
        facts = {fact["name"]: fact for fact in json.loads(completed.stdout)["facts"]}
        self.assertEqual(completed.returncode, 0, facts)
        self.assertIn(f"sampler process {self.sampler_of(self.first)}",
                      facts["counters of GPU 0"]["detail"])
        self.assertEqual(facts["other profilers"]["status"], "ok")
        listed = self.utlz("ps", environment=self.test_environment).stdout
        for program in self.programs:
            self.assertIn(str(program.pid), listed)
        self.assertNotIn("sampler", listed)

    def test_the_first_ends_first(self):
        sampler = self.sampler_of(self.first)
        self.assert_sampled(self.finish(self.first))
        self.assertEqual(self.name_of(sampler), "utlz-sampler")
        self.wait_for_more_samples(self.second)
        self.assert_sampled(self.finish(self.second))

    def test_the_second_ends_first(self):
        second = self.finish(self.second)
        self.assert_sampled(second)
        self.wait_for_more_samples(self.first)
        first = self.finish(self.first)
        self.assert_sampled(first)
        self.assert_merged_samples_count_once(first, second)

    def assert_merged_samples_count_once(self, *reports):
        """Both collectors read the same ones while both were there."""
        merged = self.folder / "merged.utlz"
        merging = self.utlz("merge", self.first.profile, self.second.profile, "-o", merged)
        self.assertEqual(merging.returncode, 0, merging.stderr)
        self.assertIn("merged.utlz holds 2 profiles;", merging.stderr)
        one = self.utlz("merge", self.first.profile, "-o", self.folder / "one.utlz")
        self.assertIn("one.utlz holds 1 profile;", one.stderr)
        report = json.loads(self.utlz("report", "--format=json", merged).stdout)
        self.assert_sampled(report)
        counts = [one["capture"]["samples"] for one in reports]
        self.assertLess(report["capture"]["samples"], sum(counts))
        self.assertGreaterEqual(report["capture"]["samples"], max(counts))

    def test_the_first_collector_is_killed(self):
        self.first.process.kill()
        self.wait_for_more_samples(self.second)
        self.assert_sampled(self.finish(self.second))

    def test_the_sampler_is_killed(self):
        os.kill(self.sampler_of(self.first), signal.SIGKILL)
        self.wait_for_more_samples(self.second)
        self.assert_sampled(self.finish(self.second))
        report = self.finish(self.first)
        self.assertIn("Device counters end early", "".join(report["run"]["notices"]))


if __name__ == "__main__":
    unittest.main()
