#include "collector/sampler/counters/window_activity.h"

#include <cstddef>

namespace utlz {
namespace {

// Below this share of SM cycles a window saw no work worth sampling.
constexpr double kIdleShare = 0.002;
// And below this traffic nothing was copied either: an idle GPU's own is a thousandth of it.
constexpr double kIdleBytesPerNs = 2;

int IndexOfRole(const SelectedMetrics& metrics, MetricRole role) {
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].role == role) return static_cast<int>(i);
  }
  return -1;
}

double ValueAt(std::span<const double> values, int index) {
  return index < 0 ? 0 : values[static_cast<size_t>(index)];
}

}  // namespace

WindowActivity::WindowActivity(const SelectedMetrics& metrics)
    : elapsed_(IndexOfRole(metrics, METRIC_SM_CYCLES_ELAPSED)),
      active_(IndexOfRole(metrics, METRIC_SM_CYCLES_ACTIVE)),
      read_(IndexOfRole(metrics, METRIC_DRAM_READ_BYTES)),
      write_(IndexOfRole(metrics, METRIC_DRAM_WRITE_BYTES)) {}

void WindowActivity::Add(uint64_t time_ns, std::span<const double> values) {
  elapsed_cycles_ += ValueAt(values, elapsed_);
  active_cycles_ += ValueAt(values, active_);
  dram_bytes_ += ValueAt(values, read_) + ValueAt(values, write_);
  sampled_ns_ += static_cast<double>(time_ns);
}

bool WindowActivity::Computes(int multiprocessors) const {
  return active_ < 0 || active_cycles_ > kIdleShare * elapsed_cycles_ * multiprocessors;
}

bool WindowActivity::Copies() const { return dram_bytes_ > kIdleBytesPerNs * sampled_ns_; }

}  // namespace utlz
