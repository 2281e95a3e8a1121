"""However a program ends, its exit status is passed on and its launches are all there."""

import subprocess
import unittest

from harness import EndToEndTest
from written_frames import flushes


class EndingsTest(EndToEndTest):
    def ends(self, way, status):
        run = self.run_program("ending", way)
        report = self.assert_exact(run, status)
        copies = report["copies"]
        expected = run.expectations[0]
        self.assertEqual(sum(copy["copies"] for copy in copies), expected["copies"])
        self.assertEqual(sum(copy["bytes"] for copy in copies), expected["copy_bytes"])

    def test_return(self):
        self.ends("return", 0)

    def test_return_with_a_status(self):
        self.ends("status", 42)

    def test_exit(self):
        self.ends("exit", 7)

    def delayed_ns(self, scenario):
        """How long the agent kept the program's threads, as a share of no less than its life."""
        run = self.run_program("ending", "return", environment=self.environment(scenario))
        report = self.report(run)
        slowdown = report["capture"]["slowdown"]
        self.assertGreaterEqual(slowdown["share"], slowdown["start_and_end_share"])
        return slowdown["start_and_end_share"] * report["run"]["wall_ns"]

    def test_what_start_and_end_took_is_part_of_the_slowdown(self):
        self.assertGreater(self.delayed_ns("instant=1"), 0)
        self.assertGreaterEqual(self.delayed_ns("instant=1,register_ms=300"), 0.3e9)
        self.assertGreaterEqual(self.delayed_ns("instant=1,flush_ms=300"), 0.3e9)

    def test_quick_exit(self):
        self.ends("quick_exit", 11)

    def test_signals_are_left_to_the_program(self):
        """A program that installs a handler where it finds none does so under the agent too."""
        def caught(output):
            [line] = [line for line in output.splitlines() if line.startswith("SigCgt")]
            of_the_c_library = 0b11 << 31  # 32 and 33, with the first thread
            return int(line.split()[1], 16) & ~of_the_c_library
        alone = subprocess.run([self.program("ending"), "caught_signals"], capture_output=True,
                               text=True, env=self.environment(), check=False)
        run = self.run_program("ending", "caught_signals")
        self.assertEqual(caught(run.stdout), caught(alone.stdout), run.stderr)
        self.assertGreater(sum(self.launches_by_name(self.report(run)).values()), 0)

    def test_fatal_signals(self):
        for way, number in (("exception", 6), ("abort", 6), ("sigterm", 15), ("sigint", 2)):
            with self.subTest(way):
                _, _, process = self.loses_at_most_a_second(self.run_program("ending", way),
                                                            128 + number)
                self.assertIn("lost_at_most_ns", process)

    def loses_at_most_a_second(self, run, status):
        self.assertEqual(run.status, status, run.stderr)
        report = self.report(run)
        expected = run.expected_kernels
        seen = self.launches_by_name(report)
        for name, launches in seen.items():
            self.assertLessEqual(launches, expected[name])
        process = report["processes"][0]
        self.assertLessEqual(process.get("lost_at_most_ns", 0), 1.5e9)
        return sum(seen.values()), sum(expected.values()), process

    def test_underscore_exit(self):
        self.loses_at_most_a_second(self.run_program("ending", "_exit"), 9)

    def test_kill_nine_after_three_seconds(self):
        run = self.run_program("ending", "sigkill", "3",
                               options=("--counters=none", "--overhead-budget=unlimited"))
        seen, expected, process = self.loses_at_most_a_second(run, 128 + 9)
        # Evenly spread work of three seconds: what came before the last second is there.
        self.assertGreater(seen, expected * 0.5, run.stderr)
        self.assertIn("lost_at_most_ns", process)
        # Where the collector is killed too, only this tells up to when records are complete.
        told = flushes(run.profile)
        self.assertGreaterEqual(len(told), 2)
        self.assertEqual(told, sorted(told))
        self.assertLess(told[-1] - told[0], 4e9)
        self.assertGreater(told[-1] - told[0], 0.5e9)


if __name__ == "__main__":
    unittest.main()
