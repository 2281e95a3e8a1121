"""Alarms of a job of four ranks that goes on: who keeps the others waiting, and who does not come.
They take what docs/reference/alerts.md says: half a minute, and a minute."""

import signal
import subprocess
import unittest

from attaching import Followed
from harness import FAKES, UTLZ
from job_of_ranks import JobOfRanksTest

PLANTED = 2


class AlarmsTest(JobOfRanksTest):
    def environment(self, scenario="", **additions):
        """With an NVML, which tells a GPU that waits from one that does nothing."""
        environment = super().environment(scenario, **additions)
        environment["LD_LIBRARY_PATH"] += f":{FAKES}/nvml"
        return environment

    def follow(self, *job):
        self.profile = self.folder / "run.utlz"
        run = Followed([str(UTLZ), "run", "-o", str(self.profile), "--no-report", "--alarms",
                        "--counters=none", "--", *self.launcher(*job)],
                       "stderr", env=self.test_environment, cwd=self.folder,
                       stdin=subprocess.DEVNULL)
        self.addCleanup(self.end, run)
        return run

    @staticmethod
    def end(run):
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGTERM)
        if not run.process.stdout.closed:
            run.end()

    def alarms_of(self, run, name):
        """Those that its profile keeps, after its end."""
        self.end(run)
        return [alarm for alarm in self.report_of(self.profile)["alarms"]
                if alarm["name"] == name]

    def test_a_rank_that_lags(self):
        run = self.follow(10**9, "slow", PLANTED)
        said = run.wait_for("keeps the others waiting")
        self.assertIn(f"rank {PLANTED} ", said)
        self.assertIn("its kernels take", said)
        alarm = self.alarms_of(run, "rank_lags")[0]
        self.assertEqual(alarm["rank"], PLANTED)

    def test_a_rank_that_does_not_come(self):
        run = self.follow(200, "missing", PLANTED)
        said = run.wait_for("no process has done anything")
        self.assertIn("ranks 0, 1, 3 wait", said)
        self.assertIn("AllReduce", said)
        self.assertIn(f"rank {PLANTED} does not come to it", said)
        alarm = self.alarms_of(run, "collective_hangs")[0]
        self.assertEqual((alarm["rank"], alarm["collective"]), (PLANTED, "AllReduce"))


if __name__ == "__main__":
    unittest.main()
