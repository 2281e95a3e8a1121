#include "tests/unit/compare/run_maker.h"

#include <cmath>

#include "tools/compare/statistics.h"

namespace utlz {
namespace {

constexpr double kKernelShare = 0.8;

void AddSlice(Summary& run, const char* name, double time_ns) {
  WaterfallSlice* slice = run.mutable_waterfall()->add_slices();
  slice->set_name(name);
  slice->set_time_ns(time_ns);
  slice->set_share(time_ns / run.waterfall().total_ns());
}

}  // namespace

double RunMaker::Normal(double mean, double deviation) {
  return std::normal_distribution<double>(mean, deviation)(random_);
}

Summary RunMaker::Make(const RunShape& shape) {
  Summary run;
  const double speed = Normal(1, shape.run_deviation_share);
  double wall = 0;
  for (uint32_t i = 0; i < shape.steps; ++i) {
    const double step = shape.step_ns * speed * Normal(1, shape.step_deviation_share);
    run.mutable_steps()->add_time_ns(step);
    wall += step;
  }
  run.mutable_steps()->set_steps(shape.steps);
  run.mutable_steps()->set_time_mean_ns(wall / shape.steps);
  run.mutable_steps()->set_time_p50_ns(
      Median({run.steps().time_ns().begin(), run.steps().time_ns().end()}));
  run.mutable_steps()->set_launches(shape.kernels);
  run.mutable_run()->set_wall_ns(static_cast<uint64_t>(wall));
  run.mutable_run()->set_finished(true);
  run.mutable_capture()->set_counter_source(SOURCE_SAMPLED);

  double kernel_time = 0;
  for (uint32_t i = 0; i < shape.kernels; ++i) {
    const double mean = kKernelShare * shape.step_ns * speed / shape.kernels;
    const double deviation = 0.05 * mean;
    KernelSummary* kernel = run.add_kernels();
    kernel->set_short_name("elementwise_" + std::to_string(i));
    kernel->set_mangled_name("_Z" + std::to_string(i) + "elementwise");
    kernel->add_grid(i + 1);
    kernel->add_block(128);
    kernel->set_launches(shape.steps);
    kernel->set_time_p50_ns(mean);
    kernel->set_time_p99_ns(mean + 2.326 * deviation);
    kernel->set_time_ns(Normal(mean * shape.steps, deviation * std::sqrt(shape.steps)));
    kernel_time += kernel->time_ns();
  }
  DeviceSummary* device = run.add_devices();
  device->set_name("NVIDIA H200");
  device->set_steady_state_ns(static_cast<uint64_t>(wall));
  device->set_kernel_time_ns(static_cast<uint64_t>(kernel_time));
  device->set_gpu_busy_share(kernel_time / wall);
  device->set_sm_clock_hz(1.7e9);
  device->set_sm_clock_error_hz(5e6);
  run.mutable_waterfall()->set_total_ns(wall);
  AddSlice(run, "useful", kernel_time);
  AddSlice(run, "idle: launch-bound", wall - kernel_time);
  return run;
}

KernelSummary* FindKernel(Summary& run, const std::string& short_name) {
  for (KernelSummary& kernel : *run.mutable_kernels()) {
    if (kernel.short_name() == short_name) return &kernel;
  }
  return nullptr;
}

}  // namespace utlz
