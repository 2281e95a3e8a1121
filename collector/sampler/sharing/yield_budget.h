// How long one user's subscribers may have a GPU's counters from a sampler that others read too.
#ifndef UTLZ_COLLECTOR_SAMPLER_SHARING_YIELD_BUDGET_H_
#define UTLZ_COLLECTOR_SAMPLER_SHARING_YIELD_BUDGET_H_

#include <cstdint>

namespace utlz {

// An account that fills with time: 15 s at once, and no more than 20 s of any minute, however often
// and over however many connections they are asked for. Times are monotonic nanoseconds.
//
// Not thread-safe.
class YieldBudget {
 public:
  static constexpr uint64_t kLongestNs = 15'000'000'000;
  // Taking the counters up again costs so much work that no loan counts for less, and none begins
  // with less.
  static constexpr uint64_t kShortestNs = 1'000'000'000;
  // The account gains one nanosecond in so many.
  static constexpr uint64_t kRefillDivisor = 12;

  // Somebody asks for the counters; they are lent until then; 0: not at all. Asking again adds what
  // the account has gained meanwhile, and no more.
  uint64_t Lend(uint64_t now_ns);

  // They are given back: what was not used goes into the account again.
  void GiveBack(uint64_t now_ns);

  // Nothing is remembered that a new account would not say.
  bool IsFull(uint64_t now_ns);

 private:
  void Refill(uint64_t now_ns);

  uint64_t left_ns_ = kLongestNs;
  uint64_t refilled_ns_ = 0;  // when; 0: never
  uint64_t lent_since_ns_ = 0;
  uint64_t lent_until_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SHARING_YIELD_BUDGET_H_
