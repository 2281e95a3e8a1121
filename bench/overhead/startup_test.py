"""The start-up bench: what it times, how it pairs, what it makes of the pairs."""

import sys
import unittest

import startup

MARK = "import time; print('hello'); print(time.monotonic_ns())"


class TimedRunTest(unittest.TestCase):

    def test_the_mark_parts_the_run(self):
        start, end = startup.timed_run([sys.executable, "-c", MARK], {})
        self.assertGreater(start, 0)
        self.assertGreater(end, 0)

    def test_the_environment_is_added_to(self):
        command = [sys.executable, "-c", "import os; assert os.environ['ADDED'] == 'yes'\n" + MARK]
        startup.timed_run(command, {"ADDED": "yes"})

    def test_a_run_that_fails_or_marks_nothing_is_no_measurement(self):
        for program in ("raise SystemExit(3)", "print('hello')", MARK + "\nprint(17)", "print(17)"):
            with self.assertRaises(startup.FailedRun):
                startup.timed_run([sys.executable, "-c", program], {})


class PairsTest(unittest.TestCase):

    def test_order_alternates_and_the_first_runs_do_not_count(self):
        order = []

        def without():
            order.append("without")
            return (1.0, 0.5)

        def wrapped():
            order.append("with")
            return (1.25, 0.625)
        pairs = startup.measure_pairs(without, wrapped, 3)
        self.assertEqual(["without", "with"] + ["without", "with", "with", "without"] +
                         ["without", "with"], order)
        self.assertEqual([((1.0, 0.5), (1.25, 0.625))] * 3, pairs)

    def test_each_part_is_compared_with_its_own(self):
        pairs = [((1.0, 0.5), (1.25, 0.625)), ((2.0, 0.5), (2.5, 0.5))]
        self.assertEqual({"start": [0.25, 0.5], "end": [0.125, 0.0], "both": [0.375, 0.5]},
                         startup.added_seconds(pairs))
        self.assertEqual("| short | utlz | +0.250 (+0.250 … +0.250) | +0.125 (+0.125 … +0.125) | "
                         "+0.375 (+0.375 … +0.375) | 1.500 | 4 |",
                         startup.row_of("short", "utlz", pairs[:1] * 4))


if __name__ == "__main__":
    unittest.main()
