"""Under an overhead budget: what is sampled is traced, in attachments to programs that launch too much
to be traced throughout."""

import itertools
import json
import subprocess
import time
import unittest

from attaching import AttachTest, Followed
from harness import EndToEndTest, TIME_LIMIT_S, UTLZ
from written_frames import batches_of_samples, flushes, windows_begun

TICK = "_Z4tickPf"
HUM = "_Z3humPf"
BYTES_OF_A_TICK = 4e6


class WindowsTest(AttachTest):

    def setUp(self):
        super().setUp()
        # The beginning of an attachment, which is traced whole, is over when the sampler begins.
        self.test_environment = self.environment("sampling_setup_ms=700")

    def attach_once(self, *programs, kernel, shows):
        """Attaches with the default budget until the profile shows that of the kernel; the report."""
        self.profiles += 1
        profile = self.folder / f"{self.profiles}.utlz"
        tool = Followed(
            [str(UTLZ), "attach", "--counters=sample", "-o", str(profile), "--duration", "1000",
             "--stop-limit=5000", *(str(program.pid) for program in programs)],
            "stderr", env=self.test_environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        tool.profile = profile
        self.addCleanup(tool.close)
        tool.wait_for(" seen;")
        self.wait_for_counters(tool, kernel, shows)
        return self.finish(tool)

    def wait_for_counters(self, tool, name, field):
        """On a busy machine the agent or the sampler may wake after a window of theirs has passed."""
        deadline = time.monotonic() + TIME_LIMIT_S * 3 / 4  # before the tool is killed
        batches = 0
        while time.monotonic() < deadline:
            if (newer := batches_of_samples(tool.profile)) > batches:
                batches = newer
                report = json.loads(self.utlz("report", "--format", "json", str(tool.profile)).stdout)
                if any(kernel["mangled_name"] == name and field in kernel
                       for kernel in report["kernels"]):
                    return
            time.sleep(0.05)
        self.fail(f"{name} never had {field}")

    def assert_counted_while_traced(self, report):
        capture = report["capture"]
        self.assertEqual(capture["counter_source"], "sampled", capture)
        [kernel] = [kernel for kernel in report["kernels"] if kernel["mangled_name"] == TICK]
        self.assertIn("dram_bytes", kernel, capture)
        self.assertAlmostEqual(kernel["dram_bytes"] / kernel["launches"], BYTES_OF_A_TICK,
                               delta=0.2 * BYTES_OF_A_TICK)

    def test_every_attachment_has_counters(self):
        program = self.start()
        program.do("busy 2")
        for _ in range(2):
            report = self.attach_once(program, kernel=TICK, shows="dram_bytes")
            self.assertLess(report["capture"]["coverage_share"], 1, "it was not launching enough")
            self.assert_counted_while_traced(report)
        self.assertEqual(program.quit(), 0)

    def test_two_processes_on_one_gpu_are_traced_together(self):
        programs = [self.start(), self.start()]
        for program in programs:
            program.do("busy 3")
        report = self.attach_once(*programs, kernel=HUM, shows="withheld_reason")
        # Each keeps the GPU busy. Kernels of both were seen at the same time, so they were traced in the
        # same windows; whose bytes the samples hold is then not known.
        [kernel] = [kernel for kernel in report["kernels"] if kernel["mangled_name"] == HUM]
        self.assertEqual(set(kernel["pids"]), {program.pid for program in programs})
        self.assertIn("another process", kernel.get("withheld_reason", ""), report["capture"])
        self.assertNotIn("dram_bytes", kernel)
        self.assertEqual(report["capture"]["counter_source"], "sampled", report["capture"])
        for program in programs:
            self.assertEqual(program.quit(), 0)


class NewWorkTest(AttachTest):

    # No planned window of an attachment begins so early after the one before it: the pause is five seconds
    # (WindowPlanner::kAttachmentPauseNs), and what is left in the account is spent right before its end.
    EARLY_NS = 4.5e9
    # WindowPlanner::kLongestWaitNs
    LONGEST_WAIT_NS = 6e9

    def test_a_kernel_that_begins_between_windows_is_traced_before_the_next_one(self):
        program = self.start()
        program.do("busy 2")
        tool = Followed(
            [str(UTLZ), "attach", "--counters=none", "--overhead-budget=5%", "-o", "run.utlz",
             "--duration", "1000", "--stop-limit=5000", str(program.pid)],
            "stderr", env=self.test_environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        tool.profile = self.folder / "run.utlz"
        self.addCleanup(tool.close)
        tool.wait_for(" seen;")
        begun = self.wait_for_window(tool.profile, 2)
        # On a slow machine what is new may come too late to be traced before the next planned window,
        # so something new follows every window until one is.
        news = itertools.chain(["launch 1", "graph 1"], itertools.repeat("module 1"))
        deadline = time.monotonic() + TIME_LIMIT_S / 2  # before the tool is killed
        early = False
        while not early:
            self.assertLess(time.monotonic(), deadline, "every window waited for its turn")
            program.do(next(news))
            last = begun
            begun = self.wait_for_window(tool.profile, len(last) + 1)
            early = begun[len(last)] - last[-1] < self.EARLY_NS
        report = self.finish(tool)
        self.assertLess(report["capture"]["coverage_share"], 0.5)
        # Inactive it watches for nothing.
        self.assertEqual(program.do("cupti")["done"], 0)
        self.assertEqual(program.quit(), 0)

    def test_a_module_that_is_loaded_between_windows_is_followed_by_one(self):
        """With so small a budget the next planned one is LONGEST_WAIT_NS and a pause away."""
        profile = self.folder / "run.utlz"
        program = self.start(prefix=(str(UTLZ), "run", "--counters=none", "--overhead-budget=0.001%",
                                     "--later-windows=always", "-o", str(profile), "--"))
        program.do("busy 4")
        begun = self.wait_for_rare_windows(profile)
        # One that is loaded within a window, or on a slow machine late, has the next planned one.
        deadline = time.monotonic() + TIME_LIMIT_S
        early = False
        while not early:
            self.assertLess(time.monotonic(), deadline, "every window waited for its turn")
            program.do("module 1")
            last = begun
            begun = self.wait_for_window(profile, len(last) + 1)
            early = begun[len(last)] - last[-1] < self.EARLY_NS
        self.assertEqual(program.quit(), 0)

    def wait_for_rare_windows(self, profile):
        """The account pays for some windows that follow each other soon."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            begun = windows_begun(profile)
            if len(begun) > 2 and begun[-1] - begun[-2] > self.LONGEST_WAIT_NS:
                return begun
            time.sleep(0.02)
        self.fail(f"windows are not rare: {begun}")

    def wait_for_window(self, profile, count):
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            if len(begun := windows_begun(profile)) >= count:
                return begun
            time.sleep(0.02)
        self.fail("no window began")


class EndedRecordsTest(AttachTest):

    HAUL_S = 1.6

    def test_they_end_for_a_program_that_does_much_between_its_launches(self):
        """So few launches are cheap, were each as cheap as in a tight loop; but each costs the more,
        the more the program does before it."""
        profile = self.folder / "run.utlz"
        # On a busy machine launches are fewer: with the usual budget few enough to record them on.
        program = self.start(prefix=(str(UTLZ), "run", "--counters=none", "--overhead-budget=0.5%",
                                     "--no-new-work", "-o", str(profile), "--"))
        program.do("busy 4")
        deadline = time.monotonic() + TIME_LIMIT_S
        while True:
            report = self.utlz("report", "--recompute", "--format", "json", str(profile)).stdout
            capture = json.loads(report)["capture"] if report else {}
            if "records_ended_after_ns" in capture:
                break
            self.assertLess(time.monotonic(), deadline, f"records go on: {capture}")
            time.sleep(0.2)
        self.assertEqual(program.quit(), 0)

    def test_records_end_once_everything_recorded_has_run(self):
        """CUPTI keeps buffers while a launch in them still runs: what comes late is no new record."""
        profile = self.folder / "run.utlz"
        program = self.start(environment=self.environment("devices=2,held_buffers=1"), prefix=(
            str(UTLZ), "run", "--counters=none", "--later-windows=never", "--no-new-work", "-o",
            str(profile), "--"))
        launched = time.monotonic()
        program.do("haul 1")
        program.do("busy 2")
        deadline = launched + TIME_LIMIT_S
        while program.do("cupti")["done"] != 0:
            self.assertLess(time.monotonic(), deadline, "CUPTI still records")
            time.sleep(0.05)
        self.assertGreater(time.monotonic() - launched, self.HAUL_S)
        # The agent has looked at what came late by the time of its second report from here.
        reports = len(flushes(profile))
        while len(flushes(profile)) < reports + 2:
            self.assertLess(time.monotonic(), deadline, "the agent reports no more")
            time.sleep(0.05)
        self.assertEqual(program.quit(), 0)
        report = json.loads(self.utlz("report", "--format", "json", str(profile)).stdout)
        self.assertIn("records_ended_after_ns", report["capture"])

    def test_records_end_for_the_process_and_what_follows_is_not_counted(self):
        profile = self.folder / "run.utlz"
        program = self.start(prefix=(
            str(UTLZ), "run", "--counters=none", "--later-windows=never", "--no-new-work", "-o",
            str(profile), "--"))
        program.do("busy 2")
        deadline = time.monotonic() + TIME_LIMIT_S
        while program.do("cupti")["done"] != 0:
            self.assertLess(time.monotonic(), deadline, "CUPTI still records")
            time.sleep(0.05)
        windows = windows_begun(profile)
        self.assertEqual(program.quit(), 0)
        report = json.loads(self.utlz("report", "--format", "json", str(profile)).stdout)
        capture = report["capture"]
        self.assertGreater(capture["records_ended_after_ns"], 0)
        self.assertLess(capture["coverage_share"], 1)
        self.assertNotIn("after_traced", report.get("steps", {}))
        text = self.utlz("report", str(profile)).stdout
        self.assertIn("--later-windows=always records on", " ".join(text.split()))
        # The last one is empty: it ends the gap at the program's end.
        self.assertLessEqual(len(windows_begun(profile)), len(windows) + 1)


class GapsTest(EndToEndTest):

    def test_what_ran_between_windows_is_counted(self):
        # It ends with an idle time in the gap after the last window.
        run = self.run_program("steady_launches", "4", "0.8",
                               options=("--counters=none", "--later-windows=always"))
        report = self.report(run)
        self.assertLess(report["capture"]["coverage_share"], 0.5)
        launches = self.launches_by_name(report)
        # Exact in sum; between kernels they are divided as beside the gaps.
        total = sum(run.expected_kernels.values())
        self.assertAlmostEqual(sum(launches.values()) / total, 1, delta=0.01)
        for name, expected in run.expected_kernels.items():
            self.assertAlmostEqual(launches[name] / expected, 1, delta=0.1, msg=name)


class RefusedWindowTest(AttachTest):

    def test_a_window_that_cupti_refuses_is_told(self):
        """The first one begins before there is a context, and is of the process; later ones are not."""
        environment = self.environment("fail.cuptiActivityEnableContext=999")
        profile = self.folder / "run.utlz"
        program = self.start(environment=environment, prefix=(
            str(UTLZ), "run", "--counters=none", "--later-windows=always", "-o", str(profile), "--"))
        program.do("busy 2")
        told = "partly traced: CUPTI returned an error"
        deadline = time.monotonic() + TIME_LIMIT_S
        while self.agent_of(profile) != told:
            self.assertLess(time.monotonic(), deadline, "no window was refused")
            time.sleep(0.1)
        self.assertEqual(program.quit(), 0)
        self.assertEqual(self.agent_of(profile), told)

    def agent_of(self, profile):
        """What the profile says of the one process's agent by now."""
        report = json.loads(self.utlz("report", "--format", "json", str(profile)).stdout)
        return report["processes"][0]["agent"] if report.get("processes") else None


if __name__ == "__main__":
    unittest.main()
