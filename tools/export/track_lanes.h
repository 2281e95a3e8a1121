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
  enum class Kind { kStream, kMarkers };
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
  // too many tracks already. Slices of a key come in any order: a process's copies come after a
  // second's worth of its kernels. One that comes later than kMaxHeld others may get a row too
  // many.
  std::optional<uint64_t> Place(const LaneKey& key, uint64_t start_ns, uint64_t end_ns,
                                const std::string& name);

 private:
  static constexpr size_t kMaxTracks = 100'000;
  static constexpr size_t kMaxLanes = 16;       // of one key; further overlaps share the last
  static constexpr size_t kMaxHeld = 1u << 20;  // slices whose place is remembered, of all lanes

  struct Lane {
    uint64_t track = 0;
    uint64_t end_ns = 0;
    uint64_t known_from_ns = 0;         // what lies before is forgotten
    std::map<uint64_t, uint64_t> busy;  // start and end; they do not overlap
  };

  static bool IsFree(const Lane& lane, uint64_t start_ns, uint64_t end_ns);
  void Occupy(Lane* lane, uint64_t start_ns, uint64_t end_ns);
  void ForgetOldest();

  TraceSink* sink_;
  std::map<LaneKey, std::vector<Lane>> lanes_;
  uint64_t tracks_ = 0;
  size_t held_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_TRACK_LANES_H_
