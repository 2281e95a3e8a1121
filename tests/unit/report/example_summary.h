// A small report's content, and its text line by line.
#ifndef UTLZ_TESTS_UNIT_REPORT_EXAMPLE_SUMMARY_H_
#define UTLZ_TESTS_UNIT_REPORT_EXAMPLE_SUMMARY_H_

#include <sstream>
#include <string>
#include <vector>

#include "proto/summary.pb.h"

namespace utlz {

inline Summary Example() {
  Summary summary;
  summary.set_schema("utlz.report/1");
  summary.mutable_run()->add_command("python");
  summary.mutable_run()->add_command("train.py");
  summary.mutable_run()->set_wall_ns(12'300'000'000);
  summary.mutable_run()->set_exit_status(0);
  DeviceSummary* device = summary.add_devices();
  device->set_name("NVIDIA H200");
  device->set_steady_state_ns(10'000'000'000);
  device->set_gpu_busy_share(0.98);
  device->set_sm_active_share(0.25);
  device->set_idle_time_ns(200'000'000);
  KernelSummary* gemm = summary.add_kernels();
  gemm->set_id(1);
  gemm->set_name("gemm");
  gemm->set_short_name("gemm");
  gemm->set_launches(1000);
  gemm->set_time_ns(5e9);
  gemm->set_time_share(0.6);
  gemm->set_flops(3e15);
  gemm->set_flops_per_second(6e14);
  gemm->set_dram_bytes(1e12);
  gemm->set_dram_bytes_per_second(2e11);
  gemm->set_arithmetic_intensity(3000);
  gemm->set_bound(BOUND_COMPUTE);
  gemm->set_roofline_efficiency(0.61);
  gemm->set_estimated_savings_ns(1.95e9);
  gemm->set_estimated_savings_error_ns(5e7);
  gemm->set_flops_source(SOURCE_SAMPLED);
  gemm->add_grid(132);
  gemm->add_grid(1);
  gemm->add_grid(1);
  KernelSummary* relu = summary.add_kernels();
  relu->set_id(2);
  relu->set_short_name("relu");
  relu->set_launches(2000);
  relu->set_time_ns(3e9);
  relu->set_time_share(0.4);
  summary.mutable_capture()->set_launches(3000);
  summary.mutable_capture()->set_counter_source(SOURCE_SAMPLED);
  return summary;
}

// With a roof over its GEMM.
inline Summary WithRoof() {
  Summary summary = Example();
  DeviceSummary* device = summary.mutable_devices(0);
  device->set_peak_dram_bytes_per_second(4.8e12);
  PeakSummary* peak = device->add_peaks();
  peak->set_data_type("bf16");
  peak->set_flops_per_second(9e14);
  DataTypeFlops* type = summary.mutable_kernels(0)->add_flops_by_type();
  type->set_data_type("bf16");
  type->set_flops(3e15);
  return summary;
}

inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string LineWith(const std::string& text, const std::string& word) {
  for (const std::string& line : Lines(text)) {
    if (line.find(word) != std::string::npos) return line;
  }
  return {};
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_REPORT_EXAMPLE_SUMMARY_H_
