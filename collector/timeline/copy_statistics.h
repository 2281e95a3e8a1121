// Copies and memory sets of one device, by kind and by whether the host side was pageable.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_COPY_STATISTICS_H_
#define UTLZ_COLLECTOR_TIMELINE_COPY_STATISTICS_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "collector/decode/copy_decoder.h"

namespace utlz {

struct CopyCount {
  uint64_t copies = 0;
  uint64_t time_ns = 0;
  uint64_t bytes = 0;
};

class CopyStatistics {
 public:
  void Add(const Copy& copy) {
    CopyCount& count = counts_[{copy.kind, copy.pageable}];
    ++count.copies;
    count.time_ns += copy.end_ns - copy.start_ns;
    count.bytes += copy.bytes;
  }

  // By (kind, pageable).
  const std::map<std::pair<CopyKind, bool>, CopyCount>& counts() const { return counts_; }

 private:
  std::map<std::pair<CopyKind, bool>, CopyCount> counts_;
};

constexpr std::string_view NameOf(CopyKind kind) {
  switch (kind) {
    case COPY_HOST_TO_DEVICE: return "host to device";
    case COPY_DEVICE_TO_HOST: return "device to host";
    case COPY_DEVICE_TO_DEVICE: return "device to device";
    case COPY_PEER_TO_PEER: return "peer to peer";
    case COPY_HOST_TO_HOST: return "host to host";
    case COPY_MEMSET: return "memory set";
    case COPY_ARRAY: return "array";
    default: return "other";
  }
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_COPY_STATISTICS_H_
