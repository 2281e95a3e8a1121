#include "collector/sampler/counters/sample_batch_encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace utlz {
namespace {

// Far above what any counter can do in a sample, far below where integers lose steps in a double.
constexpr double kLargestValue = 0x1p52;

}  // namespace

SampleBatchEncoder::SampleBatchEncoder(uint32_t metric_set, std::string device_uuid,
                                       uint64_t interval_ns, std::vector<double> resolutions)
    : metric_set_(metric_set),
      device_uuid_(std::move(device_uuid)),
      interval_ns_(interval_ns),
      resolutions_(std::move(resolutions)),
      current_(resolutions_.size()) {
  Reset();
}

void SampleBatchEncoder::Add(uint64_t start_ns, uint64_t end_ns, std::span<const double> values) {
  const int64_t residual_ns = static_cast<int64_t>(end_ns - start_ns - interval_ns_);
  const bool time_is_right = start_ns != 0 && end_ns > start_ns &&
                             residual_ns <= std::numeric_limits<int32_t>::max() &&
                             residual_ns >= std::numeric_limits<int32_t>::min();
  if (!time_is_right || values.size() != resolutions_.size()) {
    AddLost(1);
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double steps = values[i] / resolutions_[i];
    // Written so that NaN fails.
    if (!(steps >= 0 && steps <= kLargestValue)) {
      AddLost(1);
      return;
    }
    current_[i] = std::llround(steps);
  }

  if (batch_.samples() == 0) {
    batch_.set_base_ns(start_ns);
  } else if (start_ns != last_end_ns_) {
    batch_.add_gap_sample(batch_.samples());
    batch_.add_gap_ns(static_cast<int64_t>(start_ns - last_end_ns_));
  }
  batch_.add_interval_residual_ns(static_cast<int32_t>(residual_ns));
  for (size_t i = 0; i < current_.size(); ++i) {
    batch_.mutable_column(static_cast<int>(i))->add_delta(current_[i] - last_[i]);
    last_[i] = current_[i];
  }
  batch_.set_samples(batch_.samples() + 1);
  last_end_ns_ = end_ns;
}

void SampleBatchEncoder::AddLost(uint64_t samples) {
  const uint64_t most = std::numeric_limits<uint32_t>::max();
  batch_.set_lost(static_cast<uint32_t>(std::min(most, batch_.lost() + samples)));
}

SampleBatch SampleBatchEncoder::Take() {
  SampleBatch batch = std::move(batch_);
  Reset();
  return batch;
}

void SampleBatchEncoder::Reset() {
  batch_ = SampleBatch();
  batch_.set_metric_set(metric_set_);
  batch_.set_device_uuid(device_uuid_);
  batch_.set_interval_ns(interval_ns_);
  for (size_t i = 0; i < resolutions_.size(); ++i) batch_.add_column();
  last_.assign(resolutions_.size(), 0);
}

}  // namespace utlz
