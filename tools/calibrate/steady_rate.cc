#include "tools/calibrate/steady_rate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "collector/median.h"

namespace utlz {
namespace {

constexpr int kLargestBatch = 1000;

absl::StatusOr<double> TimeBatchMs(const Gpu& gpu, const std::function<absl::Status()>& enqueue,
                                   int pieces, const std::function<void()>& while_running) {
  return gpu.TimeMs([&]() -> absl::Status {
    for (int i = 0; i < pieces; ++i) {
      if (absl::Status status = enqueue(); !status.ok()) return status;
    }
    if (while_running) while_running();
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<double> SteadyMs(const Gpu& gpu, const std::function<absl::Status()>& enqueue,
                                const SteadyRateOptions& options) {
  double spent_ms = 0;
  int pieces = 1;
  std::vector<double> piece_ms;
  while (spent_ms < options.warmup_ms + options.measured_ms &&
         std::chrono::steady_clock::now() < options.deadline) {
    const bool warm = spent_ms >= options.warmup_ms;
    const absl::StatusOr<double> batch_ms =
        TimeBatchMs(gpu, enqueue, pieces, warm ? options.while_running : nullptr);
    if (!batch_ms.ok()) return batch_ms.status();
    if (*batch_ms <= 0) return absl::InternalError("the GPU's clock stands still");
    spent_ms += *batch_ms;
    if (warm) piece_ms.push_back(*batch_ms / pieces);
    pieces = std::clamp(static_cast<int>(pieces * options.batch_ms / *batch_ms), 1, kLargestBatch);
  }
  if (piece_ms.empty()) return absl::DeadlineExceededError("no time was left");
  return UpperMedian(std::move(piece_ms));
}

}  // namespace utlz
