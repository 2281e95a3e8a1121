"""Forks, chains of processes, threads, contexts, and programs that change what is around them."""

import unittest

from harness import EndToEndTest


class ProcessesTest(EndToEndTest):
    def test_forked_child_that_exits(self):
        self.assert_exact(self.run_program("fork_without_exec", "exit"))

    def test_forked_child_that_exits_at_once(self):
        self.assert_exact(self.run_program("fork_without_exec", "_exit"))

    def test_forked_child_that_calls_cuda(self):
        self.assert_exact(self.run_program("fork_without_exec", "cuda"))

    def test_fifty_forked_children(self):
        self.assert_exact(self.run_program("fork_without_exec", "many"))

    def test_fork_before_cuda_is_used(self):
        run = self.run_program("fork_without_exec", "before")
        report = self.assert_exact(run)
        self.assertEqual(len(report["processes"]), 2)

    def chain(self, way):
        run = self.run_program("process_chain", "3", way)
        report = self.assert_exact(run)
        self.assertEqual(len(run.expectations), 4)
        self.assertEqual(len(report["processes"]), 4)
        self.assertEqual(len({process["pid"] for process in report["processes"]}), 4)

    def test_chain_by_fork_and_exec(self):
        self.chain("fork")

    def test_chain_by_spawn(self):
        self.chain("spawn")

    def test_chain_by_exec(self):
        """Nothing of ours runs at exec: at most a second is lost, and the report says so."""
        run = self.run_program("process_chain", "3", "exec")
        self.assertEqual(run.status, 0, run.stderr)
        self.assertEqual(len(run.expectations), 4)
        report = self.report(run)
        self.assertEqual(len(report["processes"]), 4)
        self.assertEqual(len({process["pid"] for process in report["processes"]}), 1)
        for process, expectation in zip(report["processes"], run.expectations):
            lost = expectation["launches"] - process.get("launches", 0)
            self.assertGreaterEqual(lost, 0)
            if lost > 0:
                self.assertIn("lost_at_most_ns", process)
                self.assertLess(process["lost_at_most_ns"], 1.5e9)

    def test_shell_script(self):
        ending = self.program("ending")
        run = self.run_command(["/bin/sh", "-c", f"'{ending}' return && '{ending}' status"])
        self.assert_exact(run, 42)

    def test_child_that_outlives_the_command(self):
        """The run is as long as what was recorded of it, and shares are of that time."""
        (self.folder / "commands").write_text("launch 2000\nquit\n")
        program = self.program("on_command")
        run = self.run_command(
            ["/bin/sh", "-c", f"'{program}' < commands > told & "
                              "until [ -s told ]; do sleep 0.01; done; exit 3"],
            options=("--counters=none", "--overhead-budget=unlimited"))
        self.assertEqual(run.status, 3, run.stderr)
        report = self.report(run)
        self.assertEqual(self.launches_by_name(report), {"_Z4gemmPfPKfS1_i": 2000})
        [process] = report["processes"]
        lived_ns = process["last_time_ns"] - process["first_time_ns"]
        self.assertGreaterEqual(lived_ns, 0.3e9)
        self.assertGreater(report["run"]["wall_ns"], 0.9 * lived_ns)
        self.assertLess(report["capture"]["slowdown"]["start_and_end_share"], 0.5)

    def test_threads_still_running_at_exit(self):
        run = self.run_program("running_threads")
        self.assertEqual(run.status, 0, run.stderr)
        seen = self.launches_by_name(self.report(run))
        expected = run.expected_kernels
        self.assertEqual(seen["_Z4gemmPfPKfS1_i"], expected["_Z4gemmPfPKfS1_i"])
        # The threads went on after the count was printed, and one call may have been under way.
        self.assertGreaterEqual(seen["_Z3addPfPKfi"], expected["_Z3addPfPKfi"])

    def test_thousand_contexts(self):
        self.assert_exact(self.run_program("many_contexts"))

    def test_descriptors_closed_and_used_again(self):
        self.assert_exact(self.run_program("closed_descriptors"))

    def test_changed_folder_root_and_environment(self):
        self.assert_exact(self.run_program("changed_surroundings"))

    def test_libraries_closed_and_loaded_again(self):
        self.assert_exact(self.run_program("reloaded_libraries"))

    def test_two_devices(self):
        run = self.run_program("streams_and_devices", environment=self.environment("devices=2"))
        report = self.assert_exact(run)
        self.assertEqual(len(report["devices"]), 2)
        self.assertEqual(len({device["uuid"] for device in report["devices"]}), 2)


if __name__ == "__main__":
    unittest.main()
