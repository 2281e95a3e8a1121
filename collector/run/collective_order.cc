#include "collector/run/collective_order.h"

namespace utlz {

void CollectiveOrder::AddFollowed(uint32_t source, uint32_t kernel, bool communication) {
  auto found = sources_.find(source);
  if (found == sources_.end()) {
    if (!communication || sources_.size() >= kMostSources) return;
    found = sources_.emplace(source, Source()).first;
  }
  Source& of_source = found->second;
  if (communication) {
    for (const uint32_t earlier : of_source.since) Follow(earlier, kernel, &of_source);
    of_source.since.clear();
  }
  if (of_source.since.size() < kMostBetween) of_source.since.push_back(kernel);
  of_source.last = kernel;
}

void CollectiveOrder::Follow(uint32_t kernel, uint32_t collective, Source* source) {
  if (kernel >= source->next.size()) {
    const size_t more = size_t{kernel} + 1 - source->next.size();
    if (entries_ + more > kMostEntries) return;
    entries_ += more;
    source->next.resize(size_t{kernel} + 1, kNone);
  }
  source->next[kernel] = collective;
}

std::optional<uint32_t> CollectiveOrder::NextOf(uint32_t source) const {
  const auto found = sources_.find(source);
  if (found == sources_.end()) return std::nullopt;
  const Source& of_source = found->second;
  if (of_source.last >= of_source.next.size()) return std::nullopt;
  const uint32_t next = of_source.next[of_source.last];
  return next == kNone ? std::nullopt : std::make_optional(next);
}

}  // namespace utlz
