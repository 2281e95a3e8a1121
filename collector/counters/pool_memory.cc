#include "collector/counters/pool_memory.h"

#include <algorithm>

namespace utlz {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 44;

}  // namespace

void PoolMemoryTotals::Add(uint32_t source, const PoolMemory& memory) {
  if (std::max({memory.used_bytes(), memory.reserved_bytes(), memory.used_high_bytes()}) >
      kMostBytes) {
    return;
  }
  const auto [entry, is_new] = by_process_.try_emplace(source);
  Held& held = entry->second;
  if (is_new) held.first_high = memory.used_high_bytes();
  if (newest_ns_ != 0 && memory.time_ns() > newest_ns_) {
    used_series_.Add(newest_ns_, memory.time_ns(), used_);
  }
  newest_ns_ = std::max(newest_ns_, memory.time_ns());
  const auto used = static_cast<double>(memory.used_bytes());
  used_ += used - held.used;
  reserved_ += static_cast<double>(memory.reserved_bytes()) - held.reserved;
  held.used = used;
  held.reserved = static_cast<double>(memory.reserved_bytes());
  const double high = memory.used_high_bytes() > held.first_high
                          ? static_cast<double>(memory.used_high_bytes())
                          : used;
  used_max_ = std::max(used_max_.value_or(0), used_ - used + std::max(used, high));
  reserved_max_ = std::max(reserved_max_.value_or(0), reserved_);
}

void PoolMemoryTotals::End(uint32_t source) {
  const auto entry = by_process_.find(source);
  if (entry == by_process_.end()) return;
  used_ -= entry->second.used;
  reserved_ -= entry->second.reserved;
  by_process_.erase(entry);
}

}  // namespace utlz
