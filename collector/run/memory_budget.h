// One bound for the memory of all that the state of a run keeps at the wish of processes: whatever
// their frames hold, and however many processes there are. Thread safety: none.
#ifndef UTLZ_COLLECTOR_RUN_MEMORY_BUDGET_H_
#define UTLZ_COLLECTOR_RUN_MEMORY_BUDGET_H_

#include <algorithm>
#include <cstddef>
#include <utility>

namespace utlz {

class MemoryBudget {
 public:
  static constexpr size_t kDefaultBytes = 256u << 20;

  explicit MemoryBudget(size_t maximum_bytes = kDefaultBytes) : maximum_bytes_(maximum_bytes) {}

  // Before memory is taken. False where too little is left: then nothing was charged.
  [[nodiscard]] bool Take(size_t bytes) {
    if (bytes > maximum_bytes_ - used_bytes_) return false;
    used_bytes_ += bytes;
    return true;
  }
  void Give(size_t bytes) { used_bytes_ -= std::min(used_bytes_, bytes); }

  // Charges what `message` takes instead of what `kept` took, and keeps it. False where there is no
  // room for it: then `kept` is as it was.
  template <typename Message>
  [[nodiscard]] bool Keep(Message message, Message* kept) {
    const size_t before = kept->SpaceUsedLong();
    if (!Take(message.SpaceUsedLong())) return false;
    Give(before);
    *kept = std::move(message);
    return true;
  }

  size_t used_bytes() const { return used_bytes_; }

 private:
  size_t maximum_bytes_;
  size_t used_bytes_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_MEMORY_BUDGET_H_
