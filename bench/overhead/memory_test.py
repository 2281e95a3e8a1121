"""The memory bench: what it reads from /proc, whom it takes for whom, what it makes of readings."""

import os
import subprocess
import sys
import tempfile
import unittest

import memory

STATUS = """Name:\tpython3
VmPeak:\t  900000 kB
VmRSS:\t    2048 kB
RssAnon:\t    1024 kB
RssFile:\t     512 kB
RssShmem:\t     512 kB
Threads:\t3
"""


class ProcessTest(unittest.TestCase):

    def test_resident_memory_by_sort(self):
        self.assertEqual({"resident": 2 << 20, "anonymous": 1 << 20, "shared": 512 << 10},
                         memory.resident_bytes(STATUS))
        self.assertIsNone(memory.resident_bytes("Name:\tzombie\nState:\tZ (zombie)\n"))

    def test_reads_a_live_process_and_no_dead_one(self):
        self.assertGreater(memory.read_memory(os.getpid())["resident"], 1 << 20)
        child = subprocess.Popen([sys.executable, "-c", ""])
        child.wait()
        self.assertIsNone(memory.read_memory(child.pid))

    def test_roles_of_the_children(self):
        self.assertEqual("sampler", memory.role_of(["utlz", "sampler", "--channel=3", ""]))
        self.assertEqual("target", memory.role_of(["python3", "/bench/windows.py", "--load", ""]))
        self.assertIsNone(memory.role_of(["utlz", "run", "--", "python3", "/bench/windows.py", ""]))
        self.assertIsNone(memory.role_of([""]))

    def test_finds_the_child_that_runs_the_load(self):
        with subprocess.Popen([sys.executable, "-c", "input()", "windows.py"],
                              stdin=subprocess.PIPE) as child:
            self.assertIn(child.pid, memory.children_of(os.getpid()))
            self.assertEqual({"target": 17}, memory.processes(17, wrapped=False))
            # The child may not have come to its own command line yet.
            found = memory.processes(os.getpid(), wrapped=True)
            self.assertEqual(os.getpid(), found["collector"])
            self.assertIn(found.get("target", child.pid), (child.pid,))
            child.communicate(b"\n")


class SteadyTest(unittest.TestCase):

    def test_the_last_quarter_and_what_was_added_since_the_second(self):
        readings = [{"target resident": value} for value in (1, 2, 10, 10, 10, 12, 14, 14)]
        self.assertEqual({"target resident": (14, 4)}, memory.steady(readings))

    def test_what_appears_late_counts_from_where_it_appears(self):
        readings = [{"a": 5}, {"a": 5, "b": 7}]
        self.assertEqual({"a": (5, 0), "b": (7, 0)}, memory.steady(readings))

    def test_rows_compare_with_the_load_alone(self):
        mebibyte = 1 << 20
        rows = memory.rows_of("utlz", {"target resident": (30 * mebibyte, 0.5 * mebibyte),
                                       "gpu processes": (2, 0)},
                              {"target resident": (10 * mebibyte, 0)})
        self.assertEqual(["| utlz | target resident | 30.0 | +20.0 | +0.50 |",
                          "| utlz | gpu processes | 2 | | |"], rows)


class StandInGpu:
    """Says the same each time, and by a file when it was asked often enough."""

    def __init__(self, file, readings):
        self.file = file
        self.left = readings

    def used_bytes(self):
        self.left -= 1
        if self.left == 0:
            open(self.file, "w", encoding="utf-8").close()
        return 17

    def by_process(self):
        return {1: 5}


class WatchTest(unittest.TestCase):

    def test_readings_come_while_the_program_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            program = ("import os, sys, time\n"
                       "while not os.path.exists(sys.argv[1]): time.sleep(0.001)")
            gpu = StandInGpu(os.path.join(folder, "enough"), readings=5)
            readings = memory.watch([sys.executable, "-c", program, gpu.file], False, {}, gpu, 0.01)
        self.assertGreaterEqual(len(readings), 4)
        for reading in readings:
            self.assertGreater(reading["target resident"], 0)
            self.assertEqual(17, reading["gpu whole"])
            self.assertEqual(1, reading["gpu processes"])

    def test_a_load_that_was_not_seen_is_no_measurement(self):
        with self.assertRaisesRegex(RuntimeError, "never seen"):
            memory.watch([sys.executable, "-c", ""], True, {}, None, 0.01)

    def test_a_program_that_fails_is_no_measurement(self):
        with self.assertRaisesRegex(RuntimeError, "no such load"):
            memory.watch([sys.executable, "-c", "raise SystemExit('no such load')"], False, {}, None,
                         0.01)


if __name__ == "__main__":
    unittest.main()
