"""A hundred million launches through the real agent and the real collector: every one is in the
report or counted as dropped, and neither process grows.
"""

import os
import subprocess
import threading
import time
import unittest

from harness import UTLZ, EndToEndTest, Run
from memory import children_of, read_memory

MILLIONS = int(os.environ.get("UTLZ_SOAK_MILLIONS", "100"))
MEBIBYTE = 1 << 20
PERIOD_S = 0.5
COLLECTOR_LIMIT = 256 * MEBIBYTE
# What the second half of the run may add to the first, in which the collector had to catch up with a
# full ring; a leak of one byte a launch would be 48 MiB.
GROWTH_LIMIT = 8 * MEBIBYTE


class Watch:
    """Resident bytes of the collector and of the target, twice a second."""

    def __init__(self, process):
        self.readings = {"collector": [], "target": []}
        self._process = process
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self):
        self._over.set()
        self._thread.join()

    def _watch(self):
        while not self._over.wait(PERIOD_S):
            # No sampler runs beside it: the fake GPU has one client, the target.
            for role, pids in (("collector", [self._process.pid]),
                               ("target", self._targets())):
                memory = read_memory(pids[0]) if pids else None
                if memory is not None:
                    self.readings[role].append(memory["resident"])

    def _targets(self):
        targets = []
        for pid in children_of(self._process.pid):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                    if comm.read().strip() == "launch_flood":
                        targets.append(pid)
            except (FileNotFoundError, ProcessLookupError):
                pass
        return targets


def growth(readings):
    middle = len(readings) // 2
    return max(readings[middle:]) - max(readings[:middle])


class LaunchesTest(EndToEndTest):

    def flood(self):
        profile = self.folder / "run.utlz"
        command = [str(UTLZ), "run", "-o", str(profile), "--counters=none",
                   "--overhead-budget=unlimited", "--", self.program("launch_flood"), str(MILLIONS)]
        begin = time.monotonic()
        with subprocess.Popen(command, env=self.environment("instant=1"), cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            watch = Watch(process)
            try:
                stdout, stderr = process.communicate()
            finally:
                watch.end()
        seconds = time.monotonic() - begin
        done = subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
        return Run(done, profile), watch.readings, seconds

    def test_nothing_is_lost_uncounted_and_nothing_grows(self):
        run, readings, seconds = self.flood()
        self.assertEqual(run.status, 0, run.stderr)
        report = self.report(run)
        capture = report["capture"]
        launched = sum(run.expected_kernels.values())
        dropped = capture.get("launches_dropped", 0)
        print(f"\n{launched:,} launches in {seconds:.0f} s ({launched / seconds:,.0f} a second), "
              f"{dropped:,} dropped while the collector was stopped, "
              f"{capture['wire_bytes_per_launch']:.2f} bytes a launch on the wire, "
              f"profile {run.profile.stat().st_size / MEBIBYTE:.0f} MiB")
        for role, values in readings.items():
            print(f"{role}: at most {max(values) / MEBIBYTE:.1f} MiB resident, "
                  f"{growth(values) / MEBIBYTE:+.1f} MiB in the second half")

        reported = self.launches_by_name(report)
        self.assertEqual(sum(reported.values()) + dropped, launched)
        self.assertEqual(capture["launches"] + dropped, launched)
        self.assertEqual(set(reported), set(run.expected_kernels))
        for name, launches in reported.items():
            self.assertLessEqual(launches, run.expected_kernels[name])
        self.assertGreater(dropped, 0, "the collector was stopped for longer than the ring holds")
        self.assertEqual(capture.get("records_dropped", 0), 0)
        self.assertEqual(capture.get("frames_refused", 0), 0)
        self.assertEqual(capture.get("bytes_unreadable", 0), 0)
        self.assertLess(max(readings["collector"]), COLLECTOR_LIMIT)
        for role, values in readings.items():
            self.assertLess(growth(values), GROWTH_LIMIT, role)


if __name__ == "__main__":
    unittest.main()
