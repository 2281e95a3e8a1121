"""Sampled counters, attributed to kernels, against the counts that the program scripted."""

import fcntl
import os
import subprocess
import time
import unittest

from attaching import AttachTest
from harness import SANITIZER, TIME_LIMIT_S, UTLZ, EndToEndTest, Run
from written_frames import FRAME_RANGES, payloads

COUNTERS = ("--counters=sample", "--overhead-budget=unlimited")


class CountersTest(EndToEndTest):
    def test_flops_and_bytes_by_kernel(self):
        # A sanitized sampler starts so slowly beside other tests that four seconds have ended before.
        seconds = "16" if SANITIZER else "4"
        run = self.run_program("training_steps", seconds, options=COUNTERS)
        report = self.assert_exact(run)
        [device] = report["devices"]
        self.assertEqual(device["source"], "sampled", report["capture"])
        per_launch = {
            "_Z4gemmPfPKfS1_i": (1e11, 4e8),
            "_Z6reducePfPKfi": (0, 1.001e8),
            "_Z3addPfPKfi": (0, 8e7),
        }
        for kernel in report["kernels"]:
            flops, dram_bytes = per_launch[kernel["mangled_name"]]
            with self.subTest(kernel=kernel["name"]):
                self.assertAlmostEqual(kernel["dram_bytes"] / kernel["launches"], dram_bytes,
                                       delta=0.05 * dram_bytes)
                if flops > 0:
                    self.assertAlmostEqual(kernel["flops"] / kernel["launches"], flops,
                                           delta=0.05 * flops)

    def test_exact_flops_from_ranges(self):
        run = self.run_program("training_steps", "6", "apart",
                               options=("--counters=range", "--overhead-budget=unlimited"))
        report = self.assert_exact(run)
        self.assertGreater(report["capture"]["ranges"], 0)
        [gemm] = [kernel for kernel in report["kernels"]
                  if kernel["mangled_name"] == "_Z4gemmPfPKfS1_i"]
        self.assertEqual(gemm["flops_source"], "range", gemm)
        self.assertAlmostEqual(gemm["flops"] / gemm["launches"], 1e11, delta=1e9)

    def test_ranges_alone_that_could_not_be_counted(self):
        run = self.run_program("ending", options=("--counters=range",))
        capture = self.assert_exact(run)["capture"]
        self.assertEqual(capture["counter_source"], "time_only")
        self.assertIn("--counters=auto samples too", " ".join(run.stderr.split()))

    def test_what_the_stream_ordered_allocator_holds(self):
        run = self.run_program("training_steps", "2", options=COUNTERS,
                               environment=self.environment("pool_used_bytes=1000000000"))
        memory = self.assert_exact(run)["memory"]
        self.assertEqual(memory["pool_used_bytes_max"], 1e9)
        self.assertEqual(memory["pool_reserved_bytes_max"], 3e9)
        self.assertIn("1.00 GB in use of 3.00 GB reserved", " ".join(run.stderr.split()))

    def test_a_killed_program_has_counters_and_rates(self):
        """Of the time whose records came: the last of them did not."""
        program = [self.program("training_steps"), "20"]
        run = self.run_command(["timeout", "-s", "KILL", "6", *program], options=COUNTERS)
        report = self.report(run)
        self.assertGreater(report["capture"]["lost_at_most_ns"], 0)
        self.assertLess(report["capture"]["kernel_time_without_counters_share"], 0.1)
        [device] = report["devices"]
        in_steps = sum(kernel["dram_bytes"] * kernel["steady_state_share"]
                       for kernel in report["kernels"])
        self.assertAlmostEqual(
            device["dram_bytes_per_second"] * device["steady_state_ns"] * 1e-9, in_steps,
            delta=0.05 * in_steps)
        recomputed = self.report(run, "--recompute")
        for live, later in zip(report["kernels"], recomputed["kernels"], strict=True):
            self.assertAlmostEqual(live["dram_bytes"], later["dram_bytes"],
                                   delta=0.01 * later["dram_bytes"])

    def run_two(self, script, seconds="3"):
        """Runs `script` with the program as $0, which is to run for $1 seconds."""
        return self.run_command(["sh", "-c", script, self.program("training_steps"), seconds],
                                options=COUNTERS)

    def test_two_processes_at_once(self):
        """Nobody can tell whose bytes were counted: absent, and a notice says why."""
        # A sanitized sampler starts so slowly beside other tests that three have ended before.
        run = self.run_two('"$0" $1 & "$0" $1; wait', "12" if SANITIZER else "3")
        report = self.assert_exact(run)
        self.assertTrue(
            self.notices_with(report, "Kernels of 2 processes of this run ran beside another's"),
            report["run"])
        [device] = report["devices"]
        self.assertEqual(device["overlapping_processes"], 2)
        self.assertGreater(device["overlap_share"], 0.01)
        self.assertNotIn("flops", device)
        self.assertNotIn("hfu", device)
        self.assertEqual(len(report["kernels"]), 3)
        for kernel in report["kernels"]:
            for figure in ("dram_bytes", "flops", "flops_by_type", "roofline_time_ns"):
                self.assertNotIn(figure, kernel)
            self.assertIn("another process", kernel["withheld_reason"])
            self.assertGreater(kernel["time_ns"], 0)

    def test_two_processes_one_after_the_other(self):
        report = self.assert_exact(self.run_two('"$0" $1; "$0" $1'))
        self.assertFalse(self.notices_with(report, "at once"), report["run"])
        self.assertNotIn("overlap_share", report["devices"][0])
        self.assertIn("hfu", report["devices"][0])
        for kernel in report["kernels"]:
            self.assertIn("dram_bytes", kernel)

    def test_counters_that_cannot_be_shared(self):
        """Held by something that does not listen: times, and who has them."""
        self.lease.parent.mkdir(mode=0o755, exist_ok=True)
        self.lease.write_text(f"{os.getpid()}\n")
        with open(self.lease, encoding="utf-8") as lease:
            fcntl.flock(lease, fcntl.LOCK_EX)
            run = self.run_program("training_steps", "4", options=COUNTERS)
        capture = self.assert_exact(run)["capture"]
        self.assertEqual(capture["counter_source"], "time_only")
        self.assertIn(f"another utlz (sampler process {os.getpid()})", capture["counter_source_reason"])

    def capture_of(self, scenario):
        run = self.run_program("training_steps", "4", options=COUNTERS,
                               environment=self.environment(scenario))
        return self.assert_exact(run)

    def test_counters_denied(self):
        report = self.capture_of("counters=denied")
        self.assertEqual(report["capture"]["counter_source"], "time_only")
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", report["capture"]["counter_source_remedy"])

    def test_counters_busy(self):
        report = self.capture_of("counters=busy")
        self.assertEqual(report["capture"]["counter_source"], "time_only")
        self.assertTrue(report["capture"]["counter_source_reason"])

    def test_mig(self):
        report = self.capture_of("mig=1")
        self.assertEqual(report["capture"]["counter_source"], "time_only")

    def test_mps(self):
        report = self.capture_of("mps=1")
        self.assertEqual(report["capture"]["counter_source"], "time_only")


class ExitTest(AttachTest):
    """CUPTI's library behind ranges is torn down at exit before what was registered earlier."""

    def start_counting(self, *arguments, range_setup_ms=0):
        self.profile = self.folder / "run.utlz"
        return self.start(
            *arguments, environment=self.environment(f"range_setup_ms={range_setup_ms}"),
            prefix=(str(UTLZ), "run", "--counters=range", "--overhead-budget=unlimited", "-o",
                    str(self.profile), "--"))

    def reach(self, program, stage):
        """Has it launch until its calibration is at a stage."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while program.do(stage)["done"] == 0:
            self.assertLess(time.monotonic(), deadline, "it never came to that")
            program.do("launch 1")

    def end(self, program, command="quit"):
        """Ends it; its report."""
        self.assertEqual(program.quit(command), 0, program.said)
        report = self.report(Run(subprocess.CompletedProcess([], 0, "", program.said),
                                 self.profile))
        self.assertEqual(report["processes"][0]["end"], "exit")
        return report

    def test_while_they_are_set_up(self):
        program = self.start_counting(range_setup_ms=700)
        self.reach(program, "set_up")
        self.end(program)

    def test_while_they_are_set_up_and_cuda_began_on_another_thread(self):
        program = self.start_counting("later", range_setup_ms=700)
        program.do("init 1")
        self.reach(program, "set_up")
        self.end(program)

    def test_while_they_are_counted(self):
        program = self.start_counting()
        self.reach(program, "pushed")
        program.do("launch 1")
        self.assertGreater(self.end(program)["capture"]["ranges"], 0)

    def test_by_another_thread_while_they_are_counted(self):
        program = self.start_counting()
        self.reach(program, "pushed")
        program.do("launch 1")
        self.assertGreater(self.end(program, "exit")["capture"]["ranges"], 0)

    def test_of_a_child_while_its_parent_sets_them_up(self):
        """It has its parent's locks, held by a thread that it lacks."""
        program = self.start_counting(range_setup_ms=4000)
        self.reach(program, "set_up")
        self.assertEqual(program.do("brief"), {"done": 0})
        self.assertEqual(program.do("set_up"), {"done": 1})
        self.end(program)

    def test_where_the_main_thread_calls_nothing_none_is_counted(self):
        """Its end, which would kill it, could not be foreseen."""
        program = self.start_counting("later")
        program.do("init 1")
        deadline = time.monotonic() + TIME_LIMIT_S
        while not list(payloads(self.profile, FRAME_RANGES)):
            self.assertLess(time.monotonic(), deadline, "there was no word of ranges")
            self.assertEqual(program.do("set_up"), {"done": 0})
            program.do("aside 1")
        self.assertEqual(program.do("ranges"), {"done": 0})
        self.assertEqual(self.end(program)["capture"].get("ranges", 0), 0)


if __name__ == "__main__":
    unittest.main()
