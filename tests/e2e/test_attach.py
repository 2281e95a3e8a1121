"""utlz attach: to programs that nobody prepared, attachment by attachment."""

import os
import signal
import time
import unittest

from attaching import AttachTest, Program
from harness import TIME_LIMIT_S, UTLZ

GEMM = "_Z4gemmPfPKfS1_i"
REDUCE = "_Z6reducePfPKfi"
ADD = "_Z3addPfPKfi"
NOBODY = 65534
ATTACHMENTS = int(os.environ.get("UTLZ_ATTACH_ATTACHMENTS", "20"))


class Attaching(AttachTest):

    def test_exactly_the_launches_that_followed(self):
        program = self.start()
        program.do("launch 50")
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        program.do("launch 300")
        tool.wait_for(" seen;")
        report = self.finish(tool)
        self.assertEqual(self.launches_by_name(report), {GEMM: 300})
        self.assert_nothing_lost(report)
        self.assertTrue(report["run"]["attached"])
        program.do("launch 5")
        self.assertEqual(program.quit(), 0)

    def test_the_second_signal_ends_a_tool_whose_collector_is_stuck(self):
        """The program does not feel it, and can be attached to again."""
        program = self.start()
        fifo = self.folder / "stuck"
        usual = self.test_environment
        self.test_environment = dict(usual, LD_PRELOAD=self.program("stuck_collector.so"),
                                     UTLZ_TEST_STUCK=str(fifo))
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        os.mkfifo(fifo)
        with open(fifo, encoding="utf-8") as told:
            self.assertEqual(told.readline(), "stuck\n")
        tool.process.send_signal(signal.SIGINT)
        # Noted once it is no longer pending.
        status = f"/proc/{tool.process.pid}/status"
        deadline = time.monotonic() + TIME_LIMIT_S
        while self.pending_signals(status):
            self.assertLess(time.monotonic(), deadline)
        tool.process.send_signal(signal.SIGINT)
        self.assertEqual(tool.end(), 128 + signal.SIGINT, tool.said)
        program.do("launch 10")
        self.test_environment = usual
        report, _ = self.record(program, ["launch 30"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 30})
        self.assertEqual(program.quit(), 0)

    @staticmethod
    def pending_signals(status):
        with open(status, encoding="utf-8") as lines:
            return any(line.startswith("ShdPnd:") and int(line.split()[1], 16) for line in lines)

    def test_graph_that_was_there_before(self):
        program = self.start()
        program.do("graph 20")
        report, _ = self.record(program, ["graph 30"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 30, REDUCE: 30, ADD: 30})
        self.assertEqual(program.quit(), 0)

    def test_graph_that_is_being_captured(self):
        """No attachment disturbs the capture that it begins or ends in."""
        program = self.start()
        program.do("capture 1")
        self.record(program, [])
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        program.do("capture 0")
        program.do("graph 30")
        report = self.finish(tool)
        self.assertEqual(self.launches_by_name(report), {GEMM: 30, REDUCE: 30, ADD: 30})
        self.assertEqual(program.quit(), 0)

    def test_capture_on_one_gpu_of_two(self):
        """Nor does what is asked of the other GPU meanwhile."""
        program = self.start(environment=self.environment("instant=1,devices=2"))
        program.do("second 1")
        program.do("capture 1")
        self.record(program, [])
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        program.do("capture 0")
        program.do("graph 30")
        program.do("second 20")
        self.assertEqual(self.launches_by_name(self.finish(tool)), {GEMM: 30, REDUCE: 50, ADD: 30})
        self.assertEqual(program.do("cupti"), {"done": 0})
        self.assertEqual(program.quit(), 0)

    def wait_for_more_switched_on(self, program, before):
        deadline = time.monotonic() + TIME_LIMIT_S
        while program.do("cupti")["done"] <= before:
            self.assertLess(time.monotonic(), deadline, "no new context was switched on")
            time.sleep(0.01)

    def test_an_attachment_that_ends_while_ranges_are_counted(self):
        """The GPU's counters are given back with the program's next synchronization."""
        program = self.start()
        tool = self.attach(program.pid, counters="range")
        tool.wait_for("tracing")
        deadline = time.monotonic() + TIME_LIMIT_S
        while program.do("ranges")["done"] == 0:
            self.assertLess(time.monotonic(), deadline, "no ranges were taken")
            program.do("launch 1")
        tool.process.send_signal(signal.SIGINT)
        while self.agent_thread(program.pid) != "utlz-inactive":
            self.assertLess(time.monotonic(), deadline, "the attachment does not end")
            time.sleep(0.05)  # slowly, or the ranges are all taken before the attachment ends
            program.do("launch 1")
        self.result(tool)
        self.assertEqual(program.do("ranges"), {"done": 0})
        self.assertEqual(program.do("cupti"), {"done": 0})
        self.assertEqual(program.quit(), 0)

    def test_ranges_that_cannot_start_leave_nothing(self):
        program = self.start(
            environment=self.environment("instant=1,fail.cuptiRangeProfilerStart=8"))
        tool = self.attach(program.pid, counters="range")
        tool.wait_for("tracing")
        deadline = time.monotonic() + TIME_LIMIT_S
        active = program.do("cupti")["done"]
        # Subscribed and enabled, and neither again afterwards.
        while program.do("cupti")["done"] == active:
            self.assertLess(time.monotonic(), deadline, "no ranges were begun")
            program.do("launch 1")
        while program.do("cupti")["done"] != active:
            self.assertLess(time.monotonic(), deadline, "something is left on")
            program.do("launch 1")
        self.finish(tool)
        self.assertEqual(program.do("cupti"), {"done": 0})
        self.assertEqual(program.quit(), 0)

    def test_contexts_of_two_gpus_wake_and_sleep_together(self):
        program = self.start(environment=self.environment("instant=1,devices=2"))
        for _ in range(3):
            program.do("second 5")  # between attachments, seen by none
            report, _ = self.record(program, ["launch 10", "second 20"])
            self.assertEqual(self.launches_by_name(report), {GEMM: 10, REDUCE: 20})
            self.assertEqual(len(report["devices"]), 2)
            self.assert_nothing_lost(report)
            self.assertEqual(program.do("cupti"), {"done": 0})
        self.assertEqual(program.quit(), 0)

    def test_context_that_comes_during_an_attachment(self):
        program = self.start(environment=self.environment("instant=1,devices=2"))
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        switched_on = program.do("cupti")["done"]
        program.do("second 1")  # may come before it is noticed
        self.wait_for_more_switched_on(program, switched_on)
        program.do("second 20")
        launches = self.launches_by_name(self.finish(tool))
        self.assertIn(launches[REDUCE], (20, 21))
        self.assertEqual(program.do("cupti"), {"done": 0})
        self.assertEqual(program.quit(), 0)

    def test_context_of_its_own_is_left_as_it_was(self):
        """It has a primary context too, so the attachment is to that one."""
        program = self.start()
        program.do("own 5")
        report, _ = self.record(program, ["launch 10", "own 20"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 10})
        self.assertEqual(program.do("cupti"), {"done": 0})
        program.do("own 5")
        self.assertEqual(program.quit(), 0)

    def test_many_attachments_to_one_process(self):
        program = self.start()
        for attachment in range(1, ATTACHMENTS + 1):
            program.do("launch 7")  # between attachments, seen by none
            times = 1 + attachment % 40
            report, tool = self.record(program, [f"launch {times}", f"graph {times}"])
            self.assertEqual(self.launches_by_name(report),
                             {GEMM: 2 * times, REDUCE: times, ADD: times}, f"attachment {attachment}")
            self.assert_nothing_lost(report)
            self.assertIn("agent loaded" if attachment == 1 else "agent activated", tool.said)
            if attachment == 10:
                left = self.left_behind(program.pid)
        self.assertEqual(self.left_behind(program.pid), left)
        self.assertEqual(program.quit(), 0)

    def test_inactive_it_has_nothing_but_a_blocked_thread_and_a_socket_pair(self):
        program = self.start()
        before = set(os.listdir(f"/proc/{program.pid}/fd"))
        self.assertEqual(program.do("cupti"), {"done": 0})
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        self.assertGreater(program.do("cupti")["done"], 0)
        self.assertNotIn("utlz-inactive", self.thread_names(program.pid))
        program.do("launch 10")
        self.finish(tool)
        self.assertEqual(program.do("cupti"), {"done": 0})
        self.assertEqual(self.agent_thread(program.pid), "utlz-inactive")
        after = {number: os.readlink(f"/proc/{program.pid}/fd/{number}")
                 for number in set(os.listdir(f"/proc/{program.pid}/fd")) - before}
        self.assertTrue(all(int(number) >= 128 for number in after), after)
        self.assertEqual([name.split(":")[0] for name in after.values()], ["socket"] * 2, after)
        # Neither its subscriber nor a ring is left.
        maps = self.maps(program.pid)
        self.assertNotIn("utlz-ring", maps)
        self.assertEqual(program.quit(), 0)

    def test_inactive_no_thread_of_ours_ever_runs(self):
        program = self.start()
        threads = set(os.listdir(f"/proc/{program.pid}/task"))
        self.record(program, ["launch 10"])
        ours = set(os.listdir(f"/proc/{program.pid}/task")) - threads
        if "libtsan" in self.maps(program.pid):
            # ThreadSanitizer has a thread of its own, which starts with the second of a process.
            ours = {thread for thread in ours
                    if self.thread_name(program.pid, thread).startswith("utlz")}
        self.assertTrue(ours)
        self.assertIn("utlz-inactive", self.thread_names(program.pid))
        # None of them wakes by itself, and nothing that the program does wakes one.
        self.wait_until_all_wait_without_end(program.pid, ours)
        before = self.context_switches(program.pid, ours)
        program.do("launch 1000")
        program.do("graph 100")
        self.wait_until_all_wait_without_end(program.pid, ours)
        self.assertEqual(self.context_switches(program.pid, ours), before)
        self.assertEqual(program.quit(), 0)

    def test_attachments_while_it_launches_without_end(self):
        program = self.start()
        program.do("busy 1")
        for _ in range(5):
            tool = self.attach(program.pid)
            tool.wait_for(" seen;")
            report = self.finish(tool)
            self.assertGreater(self.launches_by_name(report)[ADD], 0)
        self.assertGreater(program.do("busy 0")["done"], 0)
        self.assertEqual(program.quit(), 0)

    def test_cuda_not_yet_initialized(self):
        program = self.start("later")
        tool = self.attach(program.pid)
        tool.wait_for("waiting for it to use CUDA")
        program.do("init")
        program.do("busy 1")
        tool.wait_for(" seen;")
        launches = program.do("busy 0")["done"]
        self.assertLessEqual(self.launches_by_name(self.finish(tool))[ADD], launches)
        report, _ = self.record(program, ["launch 40"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 40})
        self.assertEqual(program.quit(), 0)

    def test_kernels_that_are_handed_over_at_the_end_were_seen(self):
        """A recording may end before its agents hand over anything."""
        program = self.start()
        report, _ = self.record(program, ["launch 25"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 25})
        self.assertNotIn("No kernel was seen", " ".join(report["run"]["notices"]))
        report, _ = self.record(program, [])
        self.assertIn("No kernel was seen: the processes launch none.",
                      " ".join(report["run"]["notices"]))
        self.assertEqual(program.quit(), 0)

    def test_duration_ends_it(self):
        program = self.start()
        tool = self.attach(program.pid, duration=0.05)
        report = self.result(tool)
        self.assertEqual(self.launches_by_name(report), {})
        self.assertEqual(program.quit(), 0)

    def test_what_the_person_knows_is_recorded(self):
        program = self.start()
        report = self.result(self.attach(program.pid, "--price-per-hour=3.5", "--item-name=images",
                                         "--alert=idle_seconds=off", "--alert=temperature=70",
                                         duration=0.05))
        limits = report["alert_limits"]
        self.assertEqual(limits["temperature"], 70)
        self.assertNotIn("idle_seconds", limits)
        self.assertAlmostEqual(limits["memory_full"], 0.95)
        program.do("launch 1")
        report = self.result(self.attach(program.pid, "--price-per-hour=3.5", duration=0.05))
        self.assertEqual(report["efficiency"]["price_per_hour"], 3.5)
        self.assertEqual(program.quit(), 0)

    def test_target_that_ends_meanwhile(self):
        program = self.start()
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        program.do("launch 25")
        self.assertEqual(program.quit(), 0)
        tool.wait_for("every process has ended")
        report = self.result(tool)
        self.assertEqual(self.launches_by_name(report), {GEMM: 25})

    def end_while_an_attachment_begins(self, *, preloaded):
        """Parts of libcupti are torn down at exit before what was registered earlier."""
        program = self.start(environment=self.environment("instant=1,register_ms=1500"),
                             prefix=[str(UTLZ), "run", "--preload", "--"] if preloaded else ())
        tool = self.attach(program.pid)
        deadline = time.monotonic() + TIME_LIMIT_S
        while program.do("begin")["done"] == 0:
            self.assertLess(time.monotonic(), deadline, "CUPTI was never begun with")
        self.assertEqual(program.quit(), 0, program.said)
        tool.end()

    def test_target_that_ends_while_the_attachment_begins(self):
        self.end_while_an_attachment_begins(preloaded=False)

    def test_preloaded_target_that_ends_while_the_attachment_begins(self):
        self.end_while_an_attachment_begins(preloaded=True)

    def test_target_that_is_killed_meanwhile(self):
        program = self.start()
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        program.do("launch 25")
        tool.wait_for(" seen;")
        program.process.kill()
        tool.wait_for("every process has ended")
        self.result(tool)

    def test_tool_that_is_killed_meanwhile(self):
        """The agent goes to sleep by itself, and serves the next."""
        program = self.start()
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        tool.process.kill()
        tool.end()
        # Without launches: waiting takes no time here, so the GPU would still be busy with them.
        while self.agent_thread(program.pid) != "utlz-inactive":
            program.do("cupti")
        self.assertEqual(program.do("cupti"), {"done": 0})
        report, tool = self.record(program, ["launch 12"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 12},
                         f"{tool.said} {report['capture']} {report['processes']}")
        self.assertEqual(program.quit(), 0)

    def test_second_tool_is_refused(self):
        program = self.start()
        first = self.attach(program.pid)
        first.wait_for("tracing")
        second = self.attach(program.pid)
        self.assertEqual(second.end(), 1)
        self.assertIn("is being profiled by another utlz:", second.said)
        self.assertFalse(second.profile.exists())
        program.do("launch 30")
        first.wait_for(" seen;")
        self.assertEqual(self.launches_by_name(self.finish(first)), {GEMM: 30})
        self.assertEqual(program.quit(), 0)

    def test_process_of_utlz_run_is_refused(self):
        profile = self.folder / "run.utlz"
        program = self.start(prefix=[str(UTLZ), "run", "--counters=none", "-o", str(profile), "--"])
        tool = self.attach(self.children(program.pid)[0])
        self.assertEqual(tool.end(), 1)
        self.assertIn("was started by utlz run", tool.said)
        self.assertEqual(program.quit(), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root may attach to another user's process")
    def test_profile_of_another_users_process_is_for_its_owner_alone(self):
        for path in (self.folder, *self.folder.iterdir()):
            path.chmod(0o755)
        os.chown(self.folder, NOBODY, NOBODY)
        program = self.start(prefix=["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                     "--clear-groups"])
        _, tool = self.record(program, ["launch 3"])
        self.assertEqual(tool.profile.stat().st_mode & 0o777, 0o600)
        self.assertEqual(program.quit(), 0)
        own = self.start()
        _, tool = self.record(own, ["launch 3"])
        self.assertEqual(tool.profile.stat().st_mode & 0o777, 0o644)
        self.assertEqual(own.quit(), 0)

    def test_refusal_leaves_the_target_as_it_was(self):
        program = self.start()
        os.kill(program.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, program.pid, os.WSTOPPED)
        maps = self.maps(program.pid)
        tool = self.attach(program.pid)
        self.assertEqual(tool.end(), 1)
        self.assertIn("is stopped", tool.said)
        self.assertFalse(tool.profile.exists())
        older = self.folder / "2.utlz"
        older.write_bytes(b"UTLZPRF\n of an earlier attachment")
        tool = self.attach(program.pid)
        self.assertEqual((tool.end(), tool.profile), (1, older))
        self.assertEqual(older.read_bytes(), b"UTLZPRF\n of an earlier attachment")
        self.assertEqual(list(self.folder.glob("*2.utlz*")), [older], "nothing unfinished is left")
        self.assertEqual(self.maps(program.pid), maps)
        os.kill(program.pid, signal.SIGCONT)
        program.do("launch 3")
        self.assertEqual(program.quit(), 0)

    def test_another_subscriber(self):
        """CUPTI is taken: said, and the agent is there for the next attempt."""
        program = self.start(environment=self.environment("instant=1,subscriber_taken=1"))
        for _ in range(2):
            tool = self.attach(program.pid)
            self.assertEqual(tool.end(), 1)
            self.assertIn("another profiler holds CUPTI", tool.said)
        program.do("launch 3")
        self.assertEqual(program.quit(), 0)

    def test_child_of_fork(self):
        """It has the library, and neither a thread of the agent nor a way to it."""
        program = self.start()
        self.record(program, ["launch 1"])
        child = program.do("fork 1")["done"]
        tool = self.attach(child)
        self.assertEqual(tool.end(), 1)
        self.assertIn("attach to its parent", tool.said)
        self.assertEqual(self.agent_sockets(child), [])
        program.do("fork 0")
        report, _ = self.record(program, ["launch 2"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 2})
        self.assertEqual(program.quit(), 0)

    def test_child_of_fork_during_an_attachment(self):
        program = self.start()
        tool = self.attach(program.pid)
        tool.wait_for("tracing")
        self.assertNotEqual(self.agent_sockets(program.pid), [])
        child = program.do("fork 1")["done"]
        self.assertEqual(self.agent_sockets(child), [])
        self.finish(tool)
        program.do("fork 0")
        self.assertEqual(program.quit(), 0)

    def test_program_that_closes_every_descriptor(self):
        """The agent cannot be reached any more; the program is none the worse for it."""
        program = self.start()
        self.record(program, ["launch 1"])
        program.do("close 3")
        tool = self.attach(program.pid)
        self.assertEqual(tool.end(), 1)
        self.assertIn("closed the agent's descriptors", tool.said)
        program.do("launch 3")
        self.assertEqual(program.quit(), 0)

    def test_another_client_holds_the_buffers(self):
        """Its trace stays whole, and ours begins when it is done."""
        program = Program(self.program("other_client"), self.environment(), self.folder, "told")
        self.addCleanup(program.close)
        tool = self.attach(program.pid)
        self.wait_until_done(program, tool)
        self.assertEqual(set(self.launches_by_name(self.result(tool))), {REDUCE})

    def test_another_client_traces_while_the_agent_sleeps(self):
        """Its trace is whole, whatever CUPTI has kept since the attachment."""
        program = Program(self.program("other_client"), self.environment(), self.folder, "later")
        self.addCleanup(program.close)
        tool = self.attach(program.pid)
        tool.wait_for(" seen;")
        self.finish(tool)
        self.assertEqual(program.do("begin a window")["done"], 0)
        self.assertGreater(program.do("end the window")["done"], 0)
        self.assertEqual(program.quit(), 0, program.said)

    def test_started_by_utlz_run_and_no_cuda_yet(self):
        for option, name in (("--preload", "utlz run --preload"), ("--counters=none", "utlz run ")):
            program = self.start("later", prefix=[str(UTLZ), "run", option, "--"])
            children = self.children(program.pid)
            tool = self.attach(children[0] if children else program.pid)
            self.assertEqual(tool.end(), 1)
            self.assertIn(f"was started by {name}", tool.said)
            self.assertIn("has not used CUDA yet", tool.said)
            self.assertEqual(program.quit(), 0)

    def test_no_such_process(self):
        tool = self.attach(4194304)
        self.assertEqual(tool.end(), 1)
        self.assertIn("there is no process 4194304", tool.said)

    def test_stopped_with_an_agent_inactive(self):
        program = self.start()
        self.record(program, ["launch 1"])
        os.kill(program.pid, signal.SIGSTOP)
        os.waitpid(program.pid, os.WUNTRACED)
        tool = self.attach(program.pid)
        self.assertEqual(tool.end(), 1)
        self.assertIn("is stopped; resume it", tool.said)
        os.kill(program.pid, signal.SIGCONT)
        report, _ = self.record(program, ["launch 2"])
        self.assertEqual(self.launches_by_name(report), {GEMM: 2})
        self.assertEqual(program.quit(), 0)


if __name__ == "__main__":
    unittest.main()
