"""The comparison must see what it is there to see: a count off by one, a byte too many."""

import unittest

import comparison
import first_minute
import kernel_accuracy
import nsight_compute
import rank_windows
from workload_runs import Outcome, last_json_of

SUMMARY = {"kernels": [
    {"name": "void scale<4, float >(float*)", "mangled_name": "_Z5scale", "grid": [8, 1, 1],
     "launches": 10, "dram_read_bytes": 1010.0, "dram_write_bytes": 1000.0, "dram_bytes": 2010.0,
     "flops": 50.0, "flops_by_type": [{"data_type": "fp32", "flops": 50.0}]},
    {"name": "gemm", "mangled_name": "gemm", "grid": [2, 2, 1], "launches": 5}],
    "copies": [{"copies": 3}], "capture": {"launches": 15}}


def run_of(summary, counts, output=1, status=0):
    profiled = Outcome(status, 1.0, {"output": output}, "", summary)
    alone = Outcome(0, 1.0, {"output": 1, "counts": counts}, "")
    return comparison.compare_run(profiled, alone)


class ComparisonTest(unittest.TestCase):

    COUNTS = {"kernel_launches": 15, "copies": {"Memcpy HtoD": 3},
              "kernels": {"void scale<4, float>(float*)": 10, "gemm": 5}}

    def test_equal_counts_pass_whatever_the_spaces_in_names(self):
        row = run_of(SUMMARY, self.COUNTS)
        self.assertEqual(0, row["counts"]["names_that_differ_count"])
        self.assertEqual(row["counts"]["copies_known"], row["counts"]["copies"])
        self.assertTrue(comparison.passed(row))

    def test_work_outside_the_run_fails(self):
        run = {"start_time_ns": 1000, "wall_ns": 500}
        for last_ns, expected in ((1400, True), (1600, False)):
            summary = {**SUMMARY, "run": run,
                       "processes": [{"first_time_ns": 1100, "last_time_ns": last_ns}]}
            self.assertEqual(comparison.passed(run_of(summary, self.COUNTS)), expected)

    def test_one_launch_less_fails_and_is_named(self):
        row = run_of(SUMMARY, {"kernel_launches": 16, "kernels": {
            "void scale<4, float>(float*)": 10, "gemm": 6}})
        self.assertEqual({"gemm": [5, 6]}, row["counts"]["names_that_differ"])
        self.assertFalse(comparison.passed(row))

    def test_another_output_or_exit_status_or_no_report_fails(self):
        self.assertFalse(comparison.passed(run_of(SUMMARY, self.COUNTS, output=2)))
        self.assertFalse(comparison.passed(run_of(SUMMARY, self.COUNTS, status=1)))
        self.assertFalse(comparison.passed(run_of(None, self.COUNTS)))

    def test_errors_of_known_work_and_absence_where_a_part_is_unknown(self):
        rows = comparison.compare_kernels(SUMMARY, {
            "scale": {"launches": 10, "dram_read_bytes": 1000, "dram_write_bytes": 1000},
            "gemm": {"launches": 5, "flops": 7}})
        self.assertAlmostEqual(0.01, rows["scale"]["dram_read_bytes_error"])
        self.assertAlmostEqual(0.0, rows["scale"]["dram_write_bytes_error"])
        self.assertIsNone(rows["gemm"]["flops_error"])

    def test_known_work_that_is_plainly_wrong_fails_and_what_is_not_told_is_named(self):
        for known_bytes, passes in ((1010, True), (980, True), (950, False)):
            row = run_of(SUMMARY, self.COUNTS)
            row["known_work"] = comparison.compare_kernels(
                SUMMARY, {"scale": {"launches": 10, "dram_read_bytes": known_bytes},
                          "gemm": {"launches": 5, "flops": 7}})
            self.assertEqual(comparison.passed(row), passes, known_bytes)
            self.assertEqual(comparison.not_told(row), ["gemm flops"])

    def test_the_last_line_of_json_is_the_result(self):
        self.assertEqual({"a": 2}, last_json_of('{"a": 1}\n{"a": 2}\nnoise\n{broken\n'))
        self.assertIsNone(last_json_of("no json\n"))


class NsightComputeTest(unittest.TestCase):

    CSV = '==PROF== Connected\n' + "\n".join(
        ['"ID","Process ID","Kernel Name","Grid Size","Metric Name","Metric Value"'] + [
            f'"{launch}","7","_Z5scale","(8, 1, 1)","{metric}","{value}"'
            for launch in (0, 1) for metric, value in (("dram__bytes_read.sum", "1,000"),
                                                       ("dram__bytes_write.sum", "1,000"))])

    def test_reads_grouped_numbers_and_joins_the_metrics_of_a_launch(self):
        kernels = nsight_compute.parse_csv(self.CSV)
        self.assertEqual(2, len(kernels))
        self.assertEqual([8, 1, 1], kernels[0]["grid"])
        self.assertEqual(1000.0, kernels[1]["dram__bytes_write.sum"])

    def test_weighs_errors_by_its_own_bytes(self):
        row = nsight_compute.compare_step(SUMMARY, nsight_compute.parse_csv(self.CSV))["bytes"]
        self.assertAlmostEqual(201 / 2000 - 1, row["worst_of_one_percent"])
        self.assertAlmostEqual(1 - 201 / 2000, row["weighted_error"])
        self.assertEqual(0, row["not_measured"])

    def test_kernels_without_a_measurement_are_not_counted_as_right(self):
        row = nsight_compute.compare_step({}, nsight_compute.parse_csv(self.CSV))["bytes"]
        self.assertIsNone(row["weighted_error"])
        self.assertEqual(1, row["not_measured"])


class KnownWorkTest(unittest.TestCase):

    def test_a_products_flops_are_all_of_its_kernel(self):
        summary = {"kernels": [
            {"flops": 105.0, "flops_by_type": [{"data_type": "tf32", "flops": 100.0},
                                               {"data_type": "fp32", "flops": 5.0}]},
            {"flops": 50.0, "flops_by_type": [{"data_type": "fp64_tensor", "flops": 50.0}]}]}
        rows = comparison.compare_flops_by_type(summary, {"tf32": 100, "fp64": 50, "fp32": 7})
        self.assertAlmostEqual(0.05, rows["tf32"]["flops_error"])
        self.assertEqual(0, rows["fp64"]["flops_error"])
        self.assertIsNone(rows["fp32"]["flops_error"])

    def test_what_may_be_nothing_is_not_told(self):
        kernel = {"flops": 50.0, "flops_error": 25.0}
        self.assertEqual(50, comparison.total_of([kernel], "flops"))
        self.assertIsNone(comparison.total_of([{**kernel, "flops_error": 26.0}], "flops"))
        self.assertEqual(0, comparison.total_of([{"flops": 0}], "flops"))

    def test_xlas_products_are_those_of_every_step(self):
        kernels = [{"name": "gemm_fusion_dot", "launches": 10, "flops": 100.0},
                   {"name": "gemm_fusion_dot", "launches": 2, "flops": 7.0},
                   {"name": "loop_add_fusion", "launches": 10}]
        self.assertEqual(100, comparison.flops_of_products({"kernels": kernels}, 10))


class KernelAccuracyTest(unittest.TestCase):

    REFERENCE = nsight_compute.parse_csv(NsightComputeTest.CSV)

    @staticmethod
    def summary(**kernel):
        return {"kernels": [{"mangled_name": "_Z5scale", "grid": [8, 1, 1], "short_name": "scale",
                             "launches": 10, "time_share": 0.5, "dram_bytes": 20200.0,
                             "dram_bytes_error": 60.0, **kernel}]}

    def test_errors_and_intervals_are_of_one_launch(self):
        row, = kernel_accuracy.compare_kernels(self.summary(), self.REFERENCE)
        self.assertAlmostEqual(0.01, row["bytes"].error)
        self.assertAlmostEqual(1.959964 * 6, row["bytes"].half_width)
        self.assertFalse(row["bytes"].held)
        self.assertIsNone(row["flops"])
        wider, = kernel_accuracy.compare_kernels(self.summary(dram_bytes_error=110.0),
                                                 self.REFERENCE)
        self.assertTrue(wider["bytes"].held)
        self.assertIn("0 of 1 intervals hold", kernel_accuracy.markdown({"case": [row]}))
        nothing, = kernel_accuracy.compare_kernels(self.summary(dram_bytes_error=20000.0),
                                                   self.REFERENCE)
        self.assertEqual(["< 5.94e+03", "–"], kernel_accuracy.cells_of(nothing["bytes"]))

    def test_short_kernels_are_left_out_and_unknown_ones_are_no_zeros(self):
        self.assertEqual([], kernel_accuracy.compare_kernels(self.summary(time_share=0.009),
                                                             self.REFERENCE))
        row, = kernel_accuracy.compare_kernels(self.summary(), [])
        self.assertIsNone(row["bytes"])
        self.assertEqual(["–", "–"], kernel_accuracy.cells_of(row["bytes"]))

    def test_flops_are_compared_type_by_type(self):
        reference = [{**kernel, "sm__ops_path_tensor_src_bf16_dst_fp32.sum": 100.0}
                     for kernel in self.REFERENCE]
        of_types = [{"data_type": "bf16", "flops": 1010.0, "flops_error": 10.0},
                    {"data_type": "fp32", "flops": 500.0, "flops_error": 1.0}]
        row, = kernel_accuracy.compare_kernels(self.summary(flops=1510.0, flops_by_type=of_types),
                                               reference)
        self.assertAlmostEqual(0.01, row["flops"].error)
        self.assertAlmostEqual(1.959964, row["flops"].half_width)
        missing, = kernel_accuracy.compare_kernels(
            self.summary(flops=500.0, flops_by_type=of_types[1:]), reference)
        self.assertEqual(-1, missing["flops"].error)
        self.assertFalse(missing["flops"].held)

    def test_what_pipes_did_is_told_as_anything_up_to_a_most(self):
        metric = nsight_compute.SASS.format("ffma")
        for counted, expected in ((25.0, "50 %"), (75.0, "**150 %**")):
            reference = [{**kernel, metric: counted} for kernel in self.REFERENCE]
            row, = kernel_accuracy.compare_kernels(self.summary(flops_by_type=[
                {"data_type": "fp32", "flops": 500.0, "flops_error": 255.107}]), reference)
            self.assertEqual(expected, kernel_accuracy.share_counted(row["others"]))

    def test_counts_of_two_runs_are_joined_launch_by_launch(self):
        def kernel(name, **counts):
            return {"name": name, "grid": [1], **counts}
        joined = nsight_compute.joined(
            [kernel("a", bytes=1), kernel("b", bytes=2), kernel("a", bytes=3)],
            [kernel("a", flops=10), kernel("a", flops=30)])
        self.assertEqual([kernel("a", bytes=1, flops=10), kernel("b", bytes=2),
                          kernel("a", bytes=3, flops=30)], joined)

    def test_known_products_need_no_reference(self):
        row, = kernel_accuracy.compare_kernels(self.summary(flops=105.0, flops_error=1.0), [], 10)
        self.assertAlmostEqual(0.05, row["flops"].error)


class FirstMinuteTest(unittest.TestCase):

    @staticmethod
    def summary(time_ns, share=0.5, error_ns=0):
        return {"kernels": [{"mangled_name": "gemm", "grid": [2, 2, 1], "time_ns": time_ns,
                             "time_error_ns": error_ns, "time_share": share}]}

    def test_times_are_compared_step_by_step(self):
        row, = first_minute.compare_times(self.summary(2060, error_ns=10), 20,
                                          self.summary(1000), 10)
        self.assertAlmostEqual(row["error"], 0.03)
        self.assertAlmostEqual(row["stated"], 1.959964 * 10 / 2060)
        self.assertEqual(first_minute.within([row["error"]], 0.02), "0 of 1")

    def test_a_kernel_that_the_budget_never_met_is_not_within_any_limit(self):
        row, = first_minute.compare_times({"kernels": []}, 20, self.summary(1000), 10)
        self.assertIsNone(row["error"])
        self.assertEqual(first_minute.within([row["error"]], 0.02), "0 of 1")

    @staticmethod
    def counted(bytes_error, flops_error, assumed=0.0):
        return {"kernels": [{"time_ns": 10, "time_share": 1.0, "flops": 100.0, "dram_bytes": 100.0,
                             "dram_peak_share": 0.5, "tensor_active_share": 0.5,
                             "dram_bytes_error": bytes_error, "flops_error": flops_error,
                             "flops_error_assumed": assumed}]}

    def test_a_goal_is_told_when_every_interval_is_as_narrow(self):
        wide, narrow = first_minute.GOALS
        self.assertNotIn(wide, first_minute.things_told(self.counted(5.2, 1.0)))
        self.assertNotIn(wide, first_minute.things_told(self.counted(1.0, 2.6)))
        told = first_minute.things_told(self.counted(5.0, 2.5))
        self.assertIn(wide, told)
        self.assertNotIn(narrow, told)
        self.assertIn(narrow, first_minute.things_told(self.counted(2.5, 2.0)))

    def test_what_is_assumed_makes_no_measured_interval_wider(self):
        self.assertEqual(first_minute.widest(self.counted(0.0, 5.0, 4.0)["kernels"])[1],
                         1.959964 * 3.0 / 100)

    def test_kernels_without_bytes_leave_all_bytes_untold(self):
        summary = self.counted(1.0, 1.0)
        summary["kernels"].append({"time_ns": 1, "time_share": 0.1})
        self.assertNotIn("all bytes", first_minute.things_told(summary))

    def test_small_kernels_are_left_out(self):
        self.assertEqual(first_minute.compare_times(self.summary(2000), 20,
                                                    self.summary(1000, share=0.009), 10), [])

    def test_the_kernel_that_takes_most_time_must_tell_its_bytes(self):
        small = {"time_ns": 1, "dram_bytes": 5}
        self.assertEqual(first_minute.things_told({"kernels": [small, {"time_ns": 9}]}),
                         ["time_ns"])
        self.assertEqual(first_minute.things_told({}), [])


class RankWindows(unittest.TestCase):
    def test_times_in_which_so_many_traced(self):
        self.assertEqual(rank_windows.times_by_depth([[(0, 10), (20, 30)], [(5, 15)], [(5, 10)]]),
                         [25, 5, 5])
        self.assertEqual(rank_windows.times_by_depth([[(0, 10)], [(10, 20)]]), [20, 0])

    def test_fields_of_a_status(self):
        fields = rank_windows.profile_frames.message_fields(
            bytes([0x0a, 2]) + b"ab" + bytes([0x11]) + (7).to_bytes(8, "little") + bytes([0x30, 0xac, 0x02]))
        self.assertEqual(fields, {1: b"ab", 2: 7, 6: 300})
        self.assertRaises(ValueError, rank_windows.profile_frames.message_fields, bytes([0x0b]))


if __name__ == "__main__":
    unittest.main()
