#include "tests/unit/export/profile_maker.h"

#include <gtest/gtest.h>

#include "collector/profile/profile_writer.h"
#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

constexpr uint32_t kSource = 1;

class Maker {
 public:
  explicit Maker(const std::string& path) : writer_(ProfileWriter::Open(path)) {
    EXPECT_TRUE(writer_.ok()) << writer_.status().ToString();
  }

  template <typename Message>
  void Append(FrameType type, const Message& message) {
    Append(type, message.SerializeAsString());
  }

  void Append(FrameType type, const std::string& payload) {
    const uint32_t source = type >= FRAME_RUN_START ? 0 : kSource;
    EXPECT_TRUE(writer_->Append(source, static_cast<uint16_t>(type), payload).ok());
  }

  void Finish() { EXPECT_TRUE(writer_->Finish().ok()); }

 private:
  absl::StatusOr<ProfileWriter> writer_;
};

Variants TwoVariants() {
  Variants variants;
  variants.set_first(1);
  for (const uint32_t name : {1u, 2u}) {
    variants.add_name(name);
    variants.add_module(0);
    for (auto* column :
         {variants.mutable_grid_x(), variants.mutable_grid_y(), variants.mutable_grid_z(),
          variants.mutable_block_x(), variants.mutable_block_y(), variants.mutable_block_z()}) {
      column->Add(name);
    }
    for (auto* column :
         {variants.mutable_cluster_x(), variants.mutable_cluster_y(), variants.mutable_cluster_z(),
          variants.mutable_static_shared_bytes(), variants.mutable_dynamic_shared_bytes(),
          variants.mutable_local_bytes_per_thread(), variants.mutable_graph(),
          variants.mutable_flags()}) {
      column->Add(0);
    }
    variants.add_registers_per_thread(168);
    variants.add_graph_node(0);
  }
  return variants;
}

// Launches one after the other: gaps and durations given, residuals against the variant's last.
LaunchBatch ThreeLaunches() {
  LaunchBatch batch;
  batch.set_base_ns(kStartNs);
  batch.set_launches(3);
  for (const uint32_t variant : {1u, 1u, 2u}) {
    batch.add_run_predicted(0);
    batch.add_run_variant(variant);
  }
  for (const int64_t residual : {0, 500, -2000}) batch.add_gap_residual(residual);
  for (const int64_t residual : {1000, 0, 400}) batch.add_duration_residual(residual);
  for (const uint32_t stream : {7u, 8u}) {
    batch.add_segment_launches(stream == 7 ? 2 : 1);
    batch.add_segment_stream(stream);
    batch.add_segment_context(1);
    batch.add_segment_correlation(0);
  }
  return batch;
}

CopyBatch OneCopy() {
  CopyBatch batch;
  batch.set_base_ns(kStartNs);
  batch.add_kind(COPY_HOST_TO_DEVICE);
  batch.add_start_delta_ns(1100);  // between two launches, which come before it
  batch.add_duration_ns(100);
  batch.add_bytes(4096);
  batch.add_stream(7);
  batch.add_context(1);
  batch.add_flags(COPY_HOST_PAGEABLE);
  batch.add_graph_node(0);
  return batch;
}

MarkerBatch NestedMarkers() {
  MarkerBatch batch;
  batch.set_base_ns(kStartNs);
  for (const int64_t delta : {100, -100}) batch.add_start_delta_ns(delta);
  for (const uint64_t duration : {200u, 4000u}) batch.add_duration_ns(duration);
  for (const uint32_t depth : {1u, 0u}) {
    batch.add_name(3);
    batch.add_domain(0);
    batch.add_thread(99);
    batch.add_depth(depth);
  }
  return batch;
}

MetricSet OneMetric(const std::string& uuid, uint32_t id) {
  MetricSet set;
  set.set_id(id);
  set.set_device_uuid(uuid);
  MetricSet::Metric* metric = set.add_metric();
  metric->set_name("dram__bytes_read.sum");
  metric->set_unit("byte");
  metric->set_resolution(32);
  set.set_interval_ns(1000);
  return set;
}

SampleBatch TwoSamples(const std::string& uuid, uint32_t set, uint64_t start_ns) {
  SampleBatch batch;
  batch.set_metric_set(set);
  batch.set_device_uuid(uuid);
  batch.set_base_ns(start_ns);
  batch.set_samples(2);
  batch.set_interval_ns(1000);
  batch.add_interval_residual_ns(0);
  batch.add_interval_residual_ns(0);
  SampleBatch::Column* column = batch.add_column();
  column->add_delta(10);
  column->add_delta(10);
  return batch;
}

Summary SummaryOfGemm() {
  Summary summary;
  summary.mutable_run()->set_start_time_ns(kStartNs);
  KernelSummary* kernel = summary.add_kernels();
  kernel->set_mangled_name("gemm");
  for (int axis = 0; axis < 3; ++axis) {
    kernel->add_grid(1);
    kernel->add_block(1);
  }
  kernel->set_registers_per_thread(168);
  kernel->set_shared_bytes(0);
  kernel->set_graph(false);
  kernel->set_launches(2);
  kernel->set_time_mean_ns(1000);
  kernel->set_dram_read_bytes(8192);
  kernel->set_flops(1e6);
  kernel->set_dram_peak_share(0.4);
  return summary;
}

}  // namespace

void MakeProfile(const std::string& path) {
  Maker maker(path);
  Process process;
  process.set_pid(4242);
  process.set_executable("/usr/bin/python3");
  maker.Append(FRAME_PROCESS, process);
  Context context;
  context.set_id(1);
  maker.Append(FRAME_CONTEXT, context);
  Strings strings;
  strings.set_first(1);
  strings.add_values("gemm");
  strings.add_values(kHostileName);
  strings.add_values("step");
  maker.Append(FRAME_STRINGS, strings);
  maker.Append(FRAME_VARIANTS, TwoVariants());
  maker.Append(FRAME_LAUNCHES, ThreeLaunches());
  maker.Append(FRAME_COPIES, OneCopy());
  maker.Append(FRAME_MARKERS, NestedMarkers());
  const std::string uuid(16, 'u');
  for (const uint32_t set : {5u, 6u}) {
    maker.Append(FRAME_METRIC_SET, OneMetric(uuid, set));
    maker.Append(FRAME_SAMPLES, TwoSamples(uuid, set, kStartNs + (set - 5) * 5000));
  }
  maker.Append(FRAME_LAUNCHES, std::string("no message"));
  maker.Append(FRAME_SUMMARY, SummaryOfGemm());
  maker.Finish();
}

}  // namespace utlz
