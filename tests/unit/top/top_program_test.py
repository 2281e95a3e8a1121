#!/usr/bin/env python3
"""utlz top, with a made-up NVML: what it prints, and how it ends."""

import json
import os
import signal
import subprocess
import unittest

PROGRAM = os.environ["UTLZ_PROGRAM"]
FAKE = os.environ["UTLZ_FAKE_NVML"]


def start(*arguments):
    return subprocess.Popen([PROGRAM, "top", *arguments], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.PIPE, env={**os.environ, "LD_LIBRARY_PATH": FAKE})


class TopProgram(unittest.TestCase):
    def output(self, *arguments):
        with start(*arguments) as process:
            text, errors = process.communicate(timeout=60)
            self.assertEqual(0, process.returncode, errors)
        return text

    def test_json_has_one_object_a_tick_from_the_first_on_with_gpm(self):
        ticks = [json.loads(line) for line in
                 self.output("--json", "--count=3", "--interval=0.1").splitlines()]
        self.assertEqual(3, len(ticks))
        self.assertEqual(sorted(tick["time_ns"] for tick in ticks),
                         [tick["time_ns"] for tick in ticks])
        for tick in ticks:
            self.assertEqual("utlz.top/1", tick["schema"])
            (gpu,) = tick["gpus"]
            self.assertEqual({
                "index": 0, "name": "Fake GPU", "gpu_util_percent": 80, "compute_source": "GPM",
                "sm_active_percent": 20, "efficiency_score_percent": 25},
                {key: value for key, value in gpu.items() if key != "processes"})
            self.assertEqual((os.getpid(), 5 << 20), (gpu["processes"][0]["pid"],
                                                      gpu["processes"][0]["memory_bytes"]))

    def test_once_names_the_processes_and_plain_does_not(self):
        self.assertIn(str(os.getpid()), self.output("--once"))
        # Whatever else is recorded on this machine has lines of its own.
        lines = [line for line in self.output("--plain", "--count=2", "--interval=0.1").splitlines()
                 if "GPU-Util" in line]
        self.assertEqual(2, len(lines))
        self.assertIn("GPU-Util 80.0%  SM 20.0%  score 25.0%  (GPM)", lines[0])

    def test_an_interrupt_ends_it(self):
        with start("--interval=3600") as process:
            self.assertTrue(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            self.assertEqual(-signal.SIGINT, process.wait(timeout=60))

    def test_options_that_contradict_are_refused(self):
        with start("--json", "--plain") as process:
            process.communicate(timeout=60)
            self.assertEqual(2, process.returncode)


if __name__ == "__main__":
    unittest.main()
