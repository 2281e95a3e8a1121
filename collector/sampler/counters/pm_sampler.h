// CUPTI PM sampling of one GPU: configure, sample for a while, stop, decode.
//
//   Create → Configure(metrics, interval) → { Start → … → Stop → Read(sink) }* → Disable
//
// Decoding happens once, after a window: one call of CUPTI works through all that the hardware
// buffer holds and drops what does not fit into the counter-data image, so a window may be no
// longer than its image. Between Configure and Disable the GPU's counters are ours, and every other
// profiler finds them busy.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_PM_SAMPLER_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_PM_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/sampler/counters/metric_selection.h"
#include "collector/sampler/counters/profiler_host.h"
#include "collector/sampler/driver/cupti_table.h"

namespace utlz {

inline constexpr uint64_t kUsualIntervalNs = 10'000;

struct PmSamplerOptions {
  size_t device_index = 0;
  // Holds the raw records of one window: some 10 KB a sample on a large GPU. All of it is resident.
  size_t hardware_buffer_bytes = size_t{32} << 20;
  // Bounds the counter-data image, at some 22 KB a sample for the base set of a large GPU and 45 KB
  // for the extended set, and with it the length of a window.
  size_t image_bytes = size_t{40} << 20;
};

struct WindowResult {
  uint64_t samples = 0;
  uint64_t lost = 0;      // known to be missing
  bool overflow = false;  // the hardware buffer or the image was too small for the window
};

// Not thread-safe. The table must outlive it.
class PmSampler {
 public:
  using SampleSink =
      std::function<void(uint64_t start_ns, uint64_t end_ns, std::span<const double> values)>;

  // Asks for the chip and for the counters that the device has. Needs cuInit before.
  static absl::StatusOr<std::unique_ptr<PmSampler>> Create(const CuptiTable& table,
                                                           const PmSamplerOptions& options);
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;
  ~PmSampler();

  const std::string& chip() const { return chip_; }
  const std::vector<uint8_t>& availability() const { return availability_; }

  // Takes the counters, if they are not ours yet, and sets them to `metrics`, sampled so often.
  // Unavailable: another profiler has them; PermissionDenied: the privilege lacks. Costs some 200
  // ms of CPU, also to change the set.
  absl::Status Configure(const SelectedMetrics& metrics, uint64_t interval_ns);
  bool configured() const { return current_ != nullptr; }

  // The longest window that the image of the configured set holds.
  uint64_t longest_window_ns() const;

  absl::Status Start();
  // Ends the window, in a millisecond or two. After a failure configured() is false.
  absl::Status Stop();
  // Hands every sample of a window that was stopped to `sink`, but its first, which is garbage, in
  // time order. Afterwards configured() may be false: an overflow of the hardware, or a failure.
  absl::StatusOr<WindowResult> Read(const SampleSink& sink);

  // Gives the counters up.
  void Disable();

  // Evaluates metrics that are constants of the chip (`….peak_sustained`); needs the counter-data
  // image of a window that has been decoded. nullopt where the chip has no such metric.
  std::optional<double> EvaluateConstant(const std::string& metric) const;

 private:
  // One set of metrics. Kept until the sampler is gone: CUPTI goes on reading a configuration image
  // that was replaced, and crashes if it is freed.
  struct Configuration {
    std::vector<std::string> names;
    std::vector<const char*> name_pointers;
    std::optional<ProfilerHost> host;
    uint64_t interval_ns = 0;
    uint32_t image_samples = 0;
  };

  PmSampler(const CuptiTable& table, const PmSamplerOptions& options)
      : table_(table), options_(options) {}
  absl::Status Identify();
  absl::StatusOr<Configuration*> ConfigurationFor(const SelectedMetrics& metrics,
                                                  uint64_t interval_ns);
  absl::Status Enable();
  absl::Status SetConfig(const Configuration& configuration);
  absl::Status MakeImage(Configuration* configuration);
  absl::StatusOr<size_t> ImageBytes(Configuration* configuration, uint32_t samples);
  absl::Status InitializeImage();
  absl::Status Decode(const SampleSink& sink, WindowResult* result);
  absl::Status Emit(const SampleSink& sink, WindowResult* result);

  const CuptiTable& table_;
  const PmSamplerOptions options_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  cupti::PmSamplingObject* object_ = nullptr;
  std::vector<std::unique_ptr<Configuration>> configurations_;
  std::vector<uint8_t> image_;           // of counter data, in the layout of the configured set
  Configuration* current_ = nullptr;     // null: no window may start
  Configuration* configured_ = nullptr;  // what CUPTI was last given since it was enabled
  uint64_t started_ns_ = 0;
  uint64_t stopped_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_PM_SAMPLER_H_
