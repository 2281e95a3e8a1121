// Which collective comes next: the communication kernel that followed a process's last kernel the
// last time. A collective that hangs leaves no record of itself, since its kernel never ends.
//
// Only processes that communicate are followed. Bounded; what finds no room is not known.
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_COLLECTIVE_ORDER_H_
#define UTLZ_COLLECTOR_RUN_COLLECTIVE_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace utlz {

class CollectiveOrder {
 public:
  static constexpr size_t kMostSources = 1024;
  static constexpr size_t kMostEntries = 1u << 20;  // of all sources together
  // Kernels between two collectives that are looked at.
  static constexpr size_t kMostBetween = 4096;

  // Kernels of one process on one GPU, in order of start.
  void Add(uint32_t source, uint32_t kernel, bool communication) {
    if (communication || !sources_.empty()) AddFollowed(source, kernel, communication);
  }
  // Index into KernelTable.
  std::optional<uint32_t> NextOf(uint32_t source) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Source {
    std::vector<uint32_t> since;  // kernels after the last collective
    std::vector<uint32_t> next;   // by kernel
    uint32_t last = kNone;
  };

  void AddFollowed(uint32_t source, uint32_t kernel, bool communication);
  void Follow(uint32_t kernel, uint32_t collective, Source* source);

  std::unordered_map<uint32_t, Source> sources_;
  size_t entries_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_COLLECTIVE_ORDER_H_
