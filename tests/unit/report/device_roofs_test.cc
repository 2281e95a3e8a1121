// What the text reports say where GPUs differ, and that nothing is said where they do not.
#include "tools/report/device_roofs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "collector/text/shown_text.h"
#include "tests/unit/report/example_summary.h"
#include "tools/report/markdown.h"
#include "tools/report/text.h"
#include "tools/report/text_sections.h"

namespace utlz {
namespace {

constexpr char kH100[] = "NVIDIA H100 80GB HBM3";
constexpr char kH200[] = "NVIDIA H200";

void AddDevice(Summary* summary, const std::string& name, double bytes_per_second,
               double flops_per_second) {
  DeviceSummary* device = summary->add_devices();
  device->set_uuid("GPU-" + std::to_string(summary->devices_size()));
  device->set_name(name);
  device->set_peak_dram_bytes_per_second(bytes_per_second);
  PeakSummary* peak = device->add_peaks();
  peak->set_data_type("bf16");
  peak->set_flops_per_second(flops_per_second);
  peak->set_flops_per_second_maximum_clock(1.1 * flops_per_second);
}

KernelSummary* AddKernel(Summary* summary, const std::string& name, int device, double time_ns) {
  KernelSummary* kernel = summary->add_kernels();
  kernel->set_short_name(name);
  kernel->set_device_uuid(summary->devices(device).uuid());
  kernel->set_time_ns(time_ns);
  kernel->set_time_share(time_ns / 10e9);
  kernel->set_arithmetic_intensity(100);
  kernel->set_flops_per_second(3e14);
  DataTypeFlops* type = kernel->add_flops_by_type();
  type->set_data_type("bf16");
  type->set_flops(1e12);
  return kernel;
}

// The second GPU's kernels take most time.
Summary Mixed() {
  Summary summary;
  AddDevice(&summary, kH100, 3.35e12, 9e14);
  AddDevice(&summary, kH200, 4.8e12, 8e14);
  AddKernel(&summary, "seldom", 0, 3e9);
  AddKernel(&summary, "often", 1, 7e9);
  return summary;
}

Summary Alike() {
  Summary summary = Mixed();
  for (int i : {0, 1}) {
    summary.mutable_devices(i)->set_name(kH200);
    summary.mutable_devices(i)->set_peak_dram_bytes_per_second(4.8e12);
    summary.mutable_devices(i)->mutable_peaks(0)->set_flops_per_second_maximum_clock(9e14);
  }
  return summary;
}

TEST(DeviceRoofsTest, RoofsOfOtherNamesOrPeaksAreOthers) {
  const Summary mixed = Mixed();
  EXPECT_TRUE(ShareRoof(mixed.devices(0), mixed.devices(0)));
  EXPECT_FALSE(ShareRoof(mixed.devices(0), mixed.devices(1)));
  EXPECT_FALSE(AllShareRoof(mixed));
  EXPECT_TRUE(AllShareRoof(Summary()));

  Summary alike = Alike();
  EXPECT_TRUE(AllShareRoof(alike));
  alike.mutable_devices(0)->mutable_peaks(0)->set_flops_per_second(5e14);
  EXPECT_TRUE(AllShareRoof(alike)) << "a clock that is held down makes no other GPU";
  alike.mutable_devices(0)->mutable_peaks(0)->set_flops_per_second_maximum_clock(8e14);
  EXPECT_FALSE(AllShareRoof(alike));
  alike.mutable_devices(0)->clear_peaks();
  EXPECT_TRUE(AllShareRoof(alike)) << "what is not known does not speak against it";
  alike.mutable_devices(0)->set_peak_dram_bytes_per_second(3.35e12);
  EXPECT_FALSE(AllShareRoof(alike));
  alike.mutable_devices(0)->clear_peak_dram_bytes_per_second();
  alike.mutable_devices(0)->set_name(kH100);
  EXPECT_FALSE(AllShareRoof(alike));
}

TEST(DeviceRoofsTest, AKernelThatNamesNoListedGpuIsOfTheFirst) {
  Summary summary = Mixed();
  EXPECT_EQ(DeviceIndex(summary).Of(summary.kernels(0)), 0);
  EXPECT_EQ(DeviceIndex(summary).Of(summary.kernels(1)), 1);
  summary.mutable_kernels(1)->set_device_uuid("GPU-9");
  EXPECT_EQ(DeviceIndex(summary).Of(summary.kernels(1)), 0);
}

TEST(DeviceRoofsTest, TheRooflineIsOfTheGpuWithMostTimeAndNamesOthers) {
  Summary summary = Mixed();
  std::string text = RenderRoofline(summary, {});
  EXPECT_NE(LineWith(text, "Roofline of GPU 1:").find("800 TFLOP/s and 4.80 TB/s"),
            std::string::npos)
      << text;
  EXPECT_FALSE(LineWith(text, "often").empty()) << text;
  EXPECT_TRUE(LineWith(text, "seldom").empty()) << text;
  EXPECT_FALSE(LineWith(text, "1 kernel (30.0 % of kernel time) stand").empty()) << text;
  EXPECT_NE(text.find(kH100), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(ColumnsOf(line), 100u) << line;

  // Two of one kind together have more.
  AddDevice(&summary, kH100, 3.35e12, 9e14);
  AddKernel(&summary, "another", 2, 5e9);
  text = RenderRoofline(summary, {});
  EXPECT_NE(LineWith(text, "Roofline of GPU 0:").find("900 TFLOP/s and 3.35 TB/s"),
            std::string::npos)
      << text;
  EXPECT_FALSE(LineWith(text, "another").empty()) << text;
  EXPECT_FALSE(LineWith(text, "seldom").empty()) << text;
  EXPECT_TRUE(LineWith(text, "often").empty()) << text;
}

TEST(DeviceRoofsTest, TimesThatAreNoNumbersHarmNothing) {
  Summary summary = Mixed();
  for (KernelSummary& kernel : *summary.mutable_kernels()) kernel.set_time_ns(std::nan(""));
  EXPECT_FALSE(RenderText(summary).empty());
}

TEST(DeviceRoofsTest, TablesNumberGpusThatDiffer) {
  Summary summary = Mixed();
  std::string text = RenderText(summary);
  EXPECT_FALSE(LineWith(text, std::string("GPU 0: ") + kH100).empty()) << text;
  EXPECT_FALSE(LineWith(text, std::string("GPU 1: ") + kH200).empty()) << text;
  std::string table = RenderKernels(summary, {});
  EXPECT_NE(LineWith(table, "kernel").find(" GPU "), std::string::npos) << table;
  EXPECT_NE(LineWith(table, "often").find(" 1 "), std::string::npos) << table;
  EXPECT_NE(LineWith(table, "seldom").find(" 0 "), std::string::npos) << table;
  std::string markdown = RenderMarkdown(summary);
  EXPECT_NE(markdown.find("1 × NVIDIA H100 80GB HBM3, 1 × NVIDIA H200"), std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("| 1: NVIDIA H200 |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| 1 | <code>often</code>"), std::string::npos) << markdown;
}

TEST(DeviceRoofsTest, KernelsOfGpusOfOneKindNeedNoNumber) {
  const Summary summary = Alike();
  EXPECT_EQ(RenderKernels(summary, {}).find("GPU"), std::string::npos);
  const std::string roofline = RenderRoofline(summary, {});
  EXPECT_FALSE(LineWith(roofline, "Roofline: ").empty()) << roofline;
  EXPECT_FALSE(LineWith(roofline, "often").empty()) << roofline;
  EXPECT_FALSE(LineWith(roofline, "seldom").empty()) << roofline;
  const std::string markdown = RenderMarkdown(summary);
  EXPECT_NE(markdown.find("| NVIDIA H200 |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("2 × NVIDIA H200"), std::string::npos) << markdown;
  EXPECT_EQ(markdown.find("| GPU | kernel"), std::string::npos) << markdown;
}

}  // namespace
}  // namespace utlz
