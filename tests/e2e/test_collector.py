"""Whatever befalls the collector, the program goes on as without it, and nothing is lost silently."""

import os
import signal
import unittest

from harness import EndToEndTest


class CollectorTest(EndToEndTest):
    def run_unsteady(self, *arguments):
        """The program as the child of a shell, which tells how it ended whoever is dead by then."""
        program = self.program("unsteady_collector")
        words = " ".join(arguments)
        return self.run_command(
            ["/bin/sh", "-c", f"'{program}' $PPID {words}; echo \"{{\\\"status\\\": $?}}\""],
            options=("--counters=none", "--overhead-budget=unlimited"))

    def assert_unharmed(self, run):
        self.assertEqual(run.told[-1], {"status": 42}, run.stderr)
        self.assertEqual(run.expectations[0]["launches"], 32000)

    def test_stopped_collector_catches_up(self):
        run = self.run_unsteady("stopped")
        self.assert_unharmed(run)
        self.assert_exact(run)

    def test_full_ring_drops_and_counts(self):
        run = self.run_unsteady("stopped", "overflow")
        self.assert_unharmed(run)
        self.assertEqual(run.status, 0, run.stderr)
        report = self.report(run)
        capture = report["capture"]
        self.assertGreater(capture["launches_dropped"], 0)
        self.assertGreater(capture["launches"], 0)
        self.assertEqual(capture["launches"] + capture["launches_dropped"], 32000)
        self.assertEqual(report["processes"][0]["launches_dropped"], capture["launches_dropped"])
        self.assertIn("dropped", run.stderr)
        expected = run.expected_kernels
        for name, launches in self.launches_by_name(report).items():
            self.assertLessEqual(launches, expected[name])

    def test_killed_collector(self):
        run = self.run_unsteady("killed")
        self.assertEqual(run.status, -signal.SIGKILL)
        self.assert_unharmed(run)
        # What was written until then is still a profile, or is refused with a sentence.
        completed = self.utlz("report", str(run.profile))
        self.assertIn(completed.returncode, (0, 1), completed.stderr)
        if completed.returncode == 1:
            self.assertIn("run.utlz", completed.stderr)

    def test_full_disk(self):
        """The profile may not grow beyond a few kilobytes; Python ignores the signal of that."""
        profile = self.folder / "run.utlz"
        completed = self.utlz(
            "run", "-o", str(profile), "--counters=none", "--",
            "/bin/sh", "-c", f"ulimit -f unlimited; '{self.program('ending')}' status",
            preexec_fn=limit_file_size, restore_signals=False)
        self.assertEqual(completed.returncode, 42, completed.stderr)
        self.assertIn("run.utlz", completed.stderr)
        self.assertIn("incomplete", completed.stderr)
        self.assertIn("File too large", completed.stderr.splitlines()[-2])
        # The report is made from what was received, not from what could be written.
        self.assertIn("gemm", completed.stderr)


def limit_file_size():
    import resource

    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))


class WindowOfTheRunTest(EndToEndTest):
    """--delay and --duration."""

    def launches_traced(self, run):
        return sum(kernel["launches_traced"] for kernel in self.report(run).get("kernels", []))

    def test_delay_beyond_the_end_traces_nothing(self):
        run = self.run_program("ending", "status", options=("--counters=none", "--delay", "3600"))
        self.assertEqual(run.status, 42, run.stderr)
        self.assertEqual(len(run.expectations), 1)
        self.assertEqual(self.launches_traced(run), 0)

    def test_duration_ends_the_tracing_and_not_the_program(self):
        run = self.run_program("training_steps", "2",
                               options=("--counters=none", "--duration", "0.5"))
        self.assertEqual(run.status, 0, run.stderr)
        traced = self.launches_traced(run)
        self.assertLess(traced, 0.75 * run.expectations[0]["launches"])
        # What was asked for was recorded without a gap.
        self.assertEqual(self.report(run)["capture"].get("coverage_share", 1), 1)

    def test_delay_ends(self):
        run = self.run_program("training_steps", "2",
                               options=("--counters=none", "--delay", "0.2"))
        self.assertEqual(run.status, 0, run.stderr)
        self.assertGreater(self.launches_traced(run), 0)


@unittest.skipUnless(os.geteuid() == 0, "only root can make a program of another user's set-user-ID")
class RaisedPrivilegesTest(EndToEndTest):
    def test_set_user_id_program(self):
        program = self.folder / "raised"
        program.write_bytes((self.folder / self.program("no_cuda")).read_bytes())
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        run = self.run_command([str(program), "one"])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(run.stdout, "one\nno CUDA here\n")
        self.assertIn("set-user-ID", run.stderr)
        self.assertIn("raised privileges", run.stderr)


if __name__ == "__main__":
    unittest.main()
