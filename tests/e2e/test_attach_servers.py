"""utlz attach to servers: several processes in one profile."""

import os
import pathlib
import subprocess
import time
import unittest

from attaching import AttachTest
from harness import TIME_LIMIT_S, UTLZ

GEMM = "_Z4gemmPfPKfS1_i"


class Servers(AttachTest):

    def test_several_processes_in_one_profile(self):
        programs = [self.start() for _ in range(3)]
        tool = self.attach(*[program.pid for program in programs])
        for _ in programs:
            tool.wait_for("tracing")
        for number, program in enumerate(programs, 1):
            program.do(f"launch {number}")
        tool.wait_for(" seen;")
        report = self.finish(tool)
        self.assertEqual(self.launches_by_name(report), {GEMM: 6})
        self.assertEqual({process["pid"]: process["launches"] for process in report["processes"]},
                         {program.pid: number for number, program in enumerate(programs, 1)})

    def test_first_process_of_a_server(self):
        """It waits for requests, and its worker does the work."""
        server = self.start(prefix=[self.program("server")])
        tool = self.attach(server.pid, duration=0.1)
        self.assertEqual(tool.end(), 0, tool.said)
        self.assertRegex(" ".join(tool.said.split()),
                         rf"No kernel was seen: process {server.pid} does not use CUDA, but process "
                         r"\d+ of the same server does: --all takes it\.")
        # Said before anything is done to it.
        self.assertLess(tool.said.index("does not use CUDA, but"), tool.said.index("agent loaded"))

    def test_another_process_than_a_server(self):
        """Nobody near it uses CUDA."""
        other = subprocess.Popen([self.program("server"), "/bin/sh", "-c", "echo ready; exec cat"],
                                 start_new_session=True, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, env=self.test_environment)
        self.addCleanup(other.stdout.close)
        self.addCleanup(other.wait)
        self.addCleanup(other.stdin.close)
        self.assertEqual(other.stdout.readline(), b"ready\n")
        tool = self.attach(other.pid, duration=0.1)
        self.assertEqual(tool.end(), 0, tool.said)
        self.assertIn(f"No kernel was seen: process {other.pid} does not use CUDA so far; utlz ps "
                      "lists those that do.", " ".join(tool.said.split()))

    def test_a_sampler_is_left_alone(self):
        """Whoever has the number of a utlz run has its sampler as a relative, which uses CUDA."""
        run = self.start(prefix=[str(UTLZ), "run", "--counters=sample", "--no-report", "-o",
                                 str(self.folder / "run.utlz"), "--"])
        sampler = self.sampler_of(run.pid)
        tool = self.attach("--all", run.pid)
        self.assertEqual(tool.end(), 1)
        self.assertIn("was started by utlz run", tool.said)
        self.assertNotIn("sampler", tool.said)
        tool = self.attach(sampler)
        self.assertEqual(tool.end(), 1)
        self.assertIn(f"process {sampler} is a sampler of utlz's own", tool.said)
        self.assertNotIn("utlz_inject", self.maps(sampler))
        self.assertIsNone(self.agent_thread(sampler))
        self.assertEqual(run.quit(), 0)

    def sampler_of(self, pid):
        """Started by a thread of the collector, sooner or later."""
        deadline = time.monotonic() + TIME_LIMIT_S / 2
        while time.monotonic() < deadline:
            for task in os.listdir(f"/proc/{pid}/task"):
                children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text()
                for child in map(int, children.split()):
                    if self.thread_name(child, child) == "utlz-sampler":
                        return child
        raise AssertionError("no sampler came")

    def test_all_processes_of_a_server(self):
        """A shell that started two: neither it nor its parent uses CUDA."""
        pipes = " ".join(f"'{self.program('on_command')}' < {self.folder}/in{i} > "
                         f"{self.folder}/out{i} &" for i in (1, 2))
        for i in (1, 2):
            os.mkfifo(self.folder / f"in{i}")
            os.mkfifo(self.folder / f"out{i}")
        server = subprocess.Popen(["/bin/sh", "-c", pipes + " wait"], env=self.test_environment)
        self.addCleanup(server.wait)
        inputs = [open(self.folder / f"in{i}", "w", encoding="utf-8") for i in (1, 2)]
        outputs = [open(self.folder / f"out{i}", encoding="utf-8") for i in (1, 2)]
        for stream in inputs + outputs:
            self.addCleanup(stream.close)
        for output in outputs:
            output.readline()
        # The shell's own number is what a person has first; it waits for its children.
        tool = self.attach(server.pid)
        tool.wait_for("of the same server does: --all takes it")
        self.assertEqual(tool.end(), 1)
        tool = self.attach("--all", server.pid)
        for _ in inputs:
            tool.wait_for("tracing")
        for stream, output in zip(inputs, outputs):
            stream.write("launch 11\n")
            stream.flush()
            output.readline()
        tool.wait_for(" seen;")
        report = self.finish(tool)
        self.assertEqual(self.launches_by_name(report), {GEMM: 22})


if __name__ == "__main__":
    unittest.main()
