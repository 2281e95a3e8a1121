// Finds a row for each slice of a stream or thread on which it overlaps no other.
#ifndef UTLZ_TOOLS_EXPORT_TRACK_LANES_H_
#define UTLZ_TOOLS_EXPORT_TRACK_LANES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/export/trace_sink.h"

namespace utlz {

// What a row is about. Not all numbers are used by all kinds.
struct LaneKey {
  enum class Kind { kStream, kGraphs, kMarkers };
  Kind kind = Kind::kStream;
  uint32_t process = 0;
  uint32_t context = 0;
  uint32_t row = 0;  // stream, or thread
  uint32_t depth = 0;
  std::optional<uint32_t> gpu = {};  // that streams work on

  auto operator<=>(const LaneKey&) const = default;
};

class TrackLanes {
 public:
  explicit TrackLanes(TraceSink* sink) : sink_(sink) {}

  // The track for a slice of `key`, declared under `name` where it is new. Nothing where there are
  // too many tracks already. Slices of a key come in the order of their starts, or nearly.
  std::optional<uint64_t> Place(const LaneKey& key, uint64_t start_ns, uint64_t end_ns,
                                const std::string& name);

 private:
  static constexpr size_t kMaxTracks = 100'000;
  static constexpr size_t kMaxLanes = 16;  // of one key; further overlaps share the last

  struct Lane {
    uint64_t track;
    uint64_t end_ns;
  };

  TraceSink* sink_;
  std::map<LaneKey, std::vector<Lane>> lanes_;
  uint64_t tracks_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_TRACK_LANES_H_
