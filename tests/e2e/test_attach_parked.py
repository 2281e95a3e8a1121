"""utlz run --asleep, and what utlz ps says of agents."""

import unittest

from attaching import AttachTest
from harness import UTLZ

GEMM = "_Z4gemmPfPKfS1_i"


class Parked(AttachTest):

    def start_parked(self, *arguments):
        return self.start(*arguments, prefix=[str(UTLZ), "run", "--asleep", "--"])

    def test_attach_wakes_it(self):
        program = self.start_parked()
        self.assertEqual(self.agent_thread(program.pid), "utlz-asleep")
        program.do("launch 10")
        for visit in (1, 2):
            report, tool = self.record(program, [f"launch {visit}"])
            self.assertEqual(self.launches_by_name(report), {GEMM: visit})
            self.assertIn("agent woken", tool.said)
        self.assertEqual(program.quit(), 0)

    def test_nothing_is_traced_until_then(self):
        program = self.start_parked()
        maps = self.maps(program.pid)
        self.assertNotIn("libcupti", maps)
        self.assertEqual(program.quit(), 0)

    def test_exit_status_is_the_command_s(self):
        completed = self.utlz("run", "--asleep", "--", self.program("ending"), "status",
                              environment=self.test_environment)
        self.assertEqual(completed.returncode, 42, completed.stderr)

    def test_other_options_make_no_sense(self):
        completed = self.utlz("run", "--asleep", "-o", "x.utlz", "--", "true")
        self.assertEqual(completed.returncode, 125)
        self.assertIn("--asleep", completed.stderr)
        for option in ("--price-per-hour=3", "--alert=temperature=70", "--nvtx"):
            completed = self.utlz("run", "--asleep", option, "--", "true")
            self.assertEqual(completed.returncode, 125, option)


class Listing(AttachTest):

    def ps(self, pid):
        completed = self.utlz("ps", environment=self.test_environment)
        self.assertEqual(completed.returncode, 0, completed.stderr)
        rows = [line.split() for line in completed.stdout.splitlines()]
        return next((row for row in rows if row and row[0] == str(pid)), None)

    def test_agent_absent_awake_asleep(self):
        program = self.start()
        self.assertIn("absent", self.ps(program.pid))
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        self.assertIn("awake", self.ps(program.pid))
        self.finish(tool)
        self.assertIn("asleep", self.ps(program.pid))
        self.assertIn(self.program("on_command")[:20], " ".join(self.ps(program.pid)))


if __name__ == "__main__":
    unittest.main()
