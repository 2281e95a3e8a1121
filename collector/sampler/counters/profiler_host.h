// CUPTI's host object for one chip: which metrics fit into one pass, the configuration image for
// them, and their values out of a counter-data image. Works without a GPU or a driver.
#ifndef UTLZ_COLLECTOR_SAMPLER_COUNTERS_PROFILER_HOST_H_
#define UTLZ_COLLECTOR_SAMPLER_COUNTERS_PROFILER_HOST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/sampler/driver/cupti_table.h"

namespace utlz {

// Not thread-safe. Movable; owns CUPTI's object.
class ProfilerHost {
 public:
  // A host object configured with `metrics` (full names with rollup). Refused: an unknown metric,
  // and one that the chip cannot sample. `availability` is the device's counter availability image,
  // empty where there is no device. The table must outlive the object.
  static absl::StatusOr<ProfilerHost> Create(const CuptiTable& table, const std::string& chip,
                                             const std::vector<uint8_t>& availability,
                                             const std::vector<std::string>& metrics);

  ProfilerHost(ProfilerHost&& other) noexcept;
  ProfilerHost& operator=(ProfilerHost&& other) noexcept;
  ~ProfilerHost();

  // Must stay alive while PM sampling uses it.
  const std::vector<uint8_t>& config_image() const { return config_image_; }
  size_t passes() const { return passes_; }

  // Values of `metrics` for one sample of a counter-data image, in order.
  absl::Status Evaluate(std::span<const uint8_t> counter_data, size_t sample,
                        std::span<const char* const> metrics, std::span<double> values) const;

 private:
  explicit ProfilerHost(const CuptiTable* table) : table_(table) {}
  absl::Status Configure(const std::string& chip, const std::vector<uint8_t>& availability,
                         const std::vector<std::string>& metrics);

  const CuptiTable* table_;
  cupti::HostObject* object_ = nullptr;
  std::vector<uint8_t> config_image_;
  size_t passes_ = 0;
};

// Names of the chips that this CUPTI knows.
absl::StatusOr<std::vector<std::string>> SupportedChips(const CuptiTable& table);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_COUNTERS_PROFILER_HOST_H_
