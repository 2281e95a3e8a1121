"""Every kind of launch and of record, in each layout of CUPTI's."""

import unittest

from harness import EndToEndTest


class KernelsTest(EndToEndTest):
    def kernel_named(self, report, name):
        return [kernel for kernel in report["kernels"] if kernel["mangled_name"] == name]

    def test_kinds_of_launch(self):
        report = self.assert_exact(self.run_program("launch_kinds"))
        clusters = {tuple(kernel.get("cluster", ())) for kernel in
                    self.kernel_named(report, "_Z7clusterPf")}
        self.assertEqual(clusters, {(2, 1, 1), (4, 1, 1)})

    def test_same_name_in_two_modules(self):
        report = self.assert_exact(self.run_program("same_name"))
        fused = self.kernel_named(report, "_Z5fusedPf")
        by_registers = {kernel["registers_per_thread"]: kernel["launches"] for kernel in fused}
        self.assertEqual(by_registers, {40: 50, 96: 100})

    def test_times_are_those_of_the_gpu(self):
        report = self.assert_exact(self.run_program("ending"))
        durations = {"_Z4gemmPfPKfS1_i": 200000, "_Z6reducePfPKfi": 50000, "_Z3addPfPKfi": 20000}
        for name, duration_ns in durations.items():
            [kernel] = self.kernel_named(report, name)
            self.assertEqual(kernel["time_ns"], kernel["launches"] * duration_ns)
            self.assertEqual(kernel["grid"], [8, 4, 2])
            self.assertEqual(kernel["block"], [128, 1, 1])

    def test_ranges_hold_the_nodes_of_graphs_launched_in_them(self):
        run = self.run_program("graphs", "replay", options=("--counters=none", "--nvtx"))
        report = self.assert_exact(run)
        [replay] = [marker for marker in report["nvtx"] if marker["name"] == "replay"]
        self.assertEqual(replay["launches"], sum(run.expected_kernels.values()))

    def test_graph_replays(self):
        report = self.assert_exact(self.run_program("graphs", "replay"))
        self.assertTrue(all(kernel["graph"] for kernel in report["kernels"]))

    def test_graph_updated_in_place(self):
        self.assert_exact(self.run_program("graphs", "update"))

    def test_graph_with_conditional_body(self):
        self.assert_exact(self.run_program("graphs", "conditional"))

    def test_failing_calls(self):
        self.assert_exact(self.run_program("failing_calls"))

    def test_record_fates(self):
        run = self.run_program("record_fates")
        self.assertEqual(run.status, 0, run.stderr)
        fates = run.told[0]
        report = self.report(run)
        capture = report["capture"]
        self.assertEqual(capture["launches_untimed"], fates["zero_time"])
        self.assertEqual(capture["records_dropped"], fates["dropped"])
        [kernel] = self.kernel_named(report, "_Z6reducePfPKfi")
        timed = run.expected_kernels[kernel["mangled_name"]]
        self.assertEqual(kernel["launches"], timed + fates["zero_time"])
        # Those without times are taken to have lasted as long as the others.
        self.assertEqual(kernel["time_ns"], kernel["launches"] * 50000)

    def test_nvtx_ranges(self):
        run = self.run_program("nvtx_ranges", options=("--counters=none", "--nvtx"))
        report = self.assert_exact(run)
        seen = {marker["name"]: marker["count"] for marker in report["nvtx"]
                if marker["name"] != "step done"}
        self.assertEqual(seen, run.told[0]["ranges"])
        domains = {marker["name"]: marker.get("domain", "") for marker in report["nvtx"]}
        self.assertEqual(domains["update"], "optimizer")
        # Kernels belong to the ranges that were open on the thread that launched them, whenever
        # they ran: 2 GEMMs in `attention`, a reduction after it, 3 additions in `update`.
        expected = {"attention": (20, 20 * 200000), "forward": (30, 20 * 200000 + 10 * 50000),
                    "update": (30, 30 * 20000), "load batch": (0, 0)}
        expected["step"] = expected["epoch"] = (
            60, expected["forward"][1] + expected["update"][1])
        by_name = {marker["name"]: marker for marker in report["nvtx"]}
        names = {kernel["id"]: kernel["mangled_name"] for kernel in report["kernels"]}
        for name, (launches, time_ns) in expected.items():
            with self.subTest(range=name):
                self.assertEqual(by_name[name]["launches"], launches)
                self.assertEqual(by_name[name]["kernel_time_ns"], time_ns)
        self.assertEqual([names[kernel] for kernel in by_name["update"]["kernel_ids"]],
                         ["_Z3addPfPKfi"])
        text = self.utlz("report", "--by", "nvtx", str(run.profile)).stdout
        self.assertRegex(text, r"attention +10 .* 20 +– +–\n")

    def test_sizes_of_collectives(self):
        for words in ((), ("old",)):
            with self.subTest(words=words):
                run = self.run_program("nccl_calls", *words, options=("--counters=none", "--nvtx"))
                report = self.assert_exact(run)
                sizes = run.told[0]["sizes"]
                by_name = {row["collective"]: row for row in report["communication"]}
                self.assertEqual(sorted(by_name), sorted(sizes))
                for name, expected in sizes.items():
                    row = by_name[name]
                    # Each kernel of these lasts 200 µs.
                    seconds = expected["launches"] * 200e-6
                    self.assertEqual(row["sized_launches"], expected["launches"])
                    self.assertEqual(row["bytes"], expected["bytes"])
                    self.assertAlmostEqual(row["algorithm_bytes_per_second"] * seconds,
                                           expected["bytes"], delta=1)
                    self.assertAlmostEqual(row["bus_bytes_per_second"] * seconds,
                                           expected["link_bytes"], delta=1)
                    self.assertEqual([size.get("ranks") for size in row["sizes"]], [4])
                self.assertIn("10 of 20 traced launches", by_name["AllReduce"]["size_note"])
                self.assertNotIn("size_note", by_name["AllGather"])
                # The end of a communicator's making is an end for CUPTI too.
                [init] = [marker for marker in report["nvtx"]
                          if marker["name"] == "ncclCommInitRankConfig"]
                self.assertEqual(init["domain"], "NCCL")

    def test_sizes_of_collectives_want_nvtx(self):
        run = self.run_program("nccl_calls", options=("--counters=none",))
        report = self.assert_exact(run)
        for row in report["communication"]:
            self.assertNotIn("bytes", row)
            self.assertIn("--nvtx", row["size_note"])

    def test_layouts_of_every_cupti(self):
        for version in (24, 26, 27, 130000, 130001, 130100, 130400, 140000):
            with self.subTest(version=version):
                environment = self.environment(f"cupti_version={version}")
                report = self.assert_exact(self.run_program("ending", environment=environment))
                self.assertEqual(report["processes"][0]["cupti_version"], version)


class OtherClientTest(EndToEndTest):
    """Another client takes the buffer callbacks over, as torch.profiler does."""

    def run_other_client(self, way, seconds, **options):
        run = self.run_program("other_client", way, seconds, **options)
        self.assertEqual(run.status, 0, run.stderr)
        report = self.report(run)
        self.assertEqual(len(report["processes"]), 1, run.stderr)
        return run, report

    def test_other_client_keeps_its_trace_and_ours_resumes(self):
        self.assert_resumed(*self.run_other_client("imported", "5"))

    def test_other_client_that_tears_cupti_down(self):
        # So long that whatever the agent does each second falls into it.
        self.assert_resumed(*self.run_other_client(
            "torn_down", "5", environment=self.environment("finalize_ms=1200")))

    def assert_resumed(self, run, report):
        expected = run.expected_kernels["_Z6reducePfPKfi"]
        [traced] = [kernel["launches_traced"] for kernel in report["kernels"]
                    if kernel["mangled_name"] == "_Z6reducePfPKfi"]
        # Most of what ran after the other was done, and never more than ran.
        self.assertGreater(traced, expected * 0.25)
        self.assertLessEqual(traced, expected)
        self.assertLess(report["capture"]["coverage_share"], 1)

    def test_other_client_leaves_its_clock_behind(self):
        """torch.profiler makes CUPTI tell the processor's cycles, and never takes that back."""
        run, report = self.run_other_client("clocked", "5")
        self.assert_resumed(run, report)
        [kernel] = [kernel for kernel in report["kernels"]
                    if kernel["mangled_name"] == "_Z6reducePfPKfi"]
        self.assertAlmostEqual(kernel["time_p50_ns"], 50000, delta=1000)
        [process] = report["processes"]
        begin, wall = report["run"]["start_time_ns"], report["run"]["wall_ns"]
        self.assertGreaterEqual(process["first_time_ns"], begin)
        self.assertLessEqual(process["last_time_ns"], begin + wall)

    def test_other_client_finds_the_callbacks_free(self):
        """A calibration by ranges has CUPTI's one subscriber; torch.profiler may start meanwhile."""
        self.assert_resumed(*self.run_other_client(
            "subscribing", "5", environment=self.environment(),
            options=("--counters=range", "--overhead-budget=unlimited")))

    def test_takeover_too_short_to_be_noticed(self):
        self.assert_resumed(*self.run_other_client("short", "5"))

    def test_client_that_keeps_what_dlsym_returned(self):
        self.assert_resumed(*self.run_other_client("stored", "5"))

    def test_records_that_the_other_client_gets_lie_in_the_gap(self):
        """What ran just before a takeover is not lost silently: the gap begins before it."""
        run, report = self.run_other_client("looked_up", "1")
        traced = sum(kernel["launches_traced"] for kernel in report.get("kernels", [])
                     if kernel["mangled_name"] == "_Z6reducePfPKfi")
        self.assertLess(traced, run.expected_kernels["_Z6reducePfPKfi"])
        self.assertLess(report["capture"]["coverage_share"], 1)

    def test_other_client_that_cannot_be_watched(self):
        _, report = self.run_other_client("looked_up", "1")
        self.assertIn("another client", report["processes"][0]["agent"])

    def test_gap_that_lasts_to_the_end_lowers_the_coverage(self):
        _, report = self.run_other_client("looked_up", "1")
        self.assertLess(report["capture"]["coverage_share"], 0.9)


if __name__ == "__main__":
    unittest.main()
