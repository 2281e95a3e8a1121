// A GPU's counters, lent to others for a time because a person asked (`utlz pause`): a note in the
// runtime folder, which every sampler of this user looks at, those that start meanwhile too. Root's
// notes hold for everybody's.
#ifndef UTLZ_COLLECTOR_SAMPLER_SHARING_COUNTER_PAUSE_H_
#define UTLZ_COLLECTOR_SAMPLER_SHARING_COUNTER_PAUSE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace utlz {

struct CounterPause {
  uint64_t until_ns = 0;  // CLOCK_REALTIME
  std::string by = {};    // "kim, process 123"

  friend bool operator==(const CounterPause&, const CounterPause&) = default;
};

// A longer one is taken for a mistake, or for a clock that was set.
inline constexpr uint64_t kLongestPauseNs = uint64_t{24} * 3600 * 1'000'000'000;
// What a sampler's status says first while a pause holds.
inline constexpr char kPauseReason[] = "the counters are lent by utlz pause";

// `uuid`: 16 bytes. An error where the folder is not this user's alone, or cannot be written to.
absl::Status WritePause(const std::string& folder, const std::string& uuid,
                        const CounterPause& pause);
// NotFound: there was none.
absl::Status EndPause(const std::string& folder, const std::string& uuid);
// The note in this folder, of this user or of root; nothing where there is none, or its time is
// over. `now_ns` of CLOCK_REALTIME.
std::optional<CounterPause> ReadPause(const std::string& folder, const std::string& uuid,
                                      uint64_t now_ns);

// Pauses as a sampler looks for them: twice a second, in `folder` and in root's. Not thread-safe.
class PauseWatch {
 public:
  static constexpr uint64_t kLookNs = 500'000'000;

  explicit PauseWatch(std::string folder) : folder_(std::move(folder)) {}

  // `now_ns` of CLOCK_MONOTONIC, `realtime_ns` of CLOCK_REALTIME.
  const std::optional<CounterPause>& Of(const std::string& uuid, uint64_t now_ns,
                                        uint64_t realtime_ns);

 private:
  struct Seen {
    uint64_t next_look_ns = 0;
    std::optional<CounterPause> pause = {};
  };

  const std::string folder_;
  std::map<std::string, Seen> seen_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SHARING_COUNTER_PAUSE_H_
