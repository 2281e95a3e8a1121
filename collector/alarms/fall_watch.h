// Whether a rate falls against its own past: a change point, not a fixed limit.
//
// Time is cut into blocks. A block is compared with the median of the blocks before it, and with
// how far these scatter. What it lacks beyond the slack is added up (a CUSUM of logarithms), a
// block counting for no more than a third of what raises an alarm: three blocks that are low in a
// row do, a pause of five seconds does not. Dips that the rate came back from are part of its past,
// and only longer ones raise an alarm after them. A rate that stays high or low becomes the past.
//
// The rate may be of anything that grows: time at the peak (HFU), steps. Thread safety: none.
#ifndef UTLZ_COLLECTOR_ALARMS_FALL_WATCH_H_
#define UTLZ_COLLECTOR_ALARMS_FALL_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace utlz {

// A rate, in amounts a second, now and before.
struct Fall {
  double before = 0;
  double now = 0;
  uint64_t since_ns = 0;  // on the clock of the times given to Add()
};

class FallWatch {
 public:
  static constexpr uint64_t kBlockNs = 5'000'000'000;
  // Blocks that are the past: at least a minute, at most twenty.
  static constexpr size_t kFewestBlocks = 12;
  static constexpr size_t kMostBlocks = 240;
  // By which a block may lie below the past without counting, in logarithms: 4 %, or twice what
  // blocks scatter by.
  static constexpr double kSlack = 0.04;
  static constexpr double kSlackScatters = 2;
  // What a block may add, and in how many such blocks an alarm is raised.
  static constexpr double kMostOfABlock = 0.03;
  static constexpr size_t kBlocksToRaise = 3;
  // After so many blocks a higher rate, or a fall, is how it is now.
  static constexpr size_t kBlocksOfARise = 12;
  static constexpr size_t kBlocksOfAFall = 120;
  // The longest dip that may become part of the past: two minutes.
  static constexpr size_t kLongestDip = 24;

  // A block goes on until it holds at least `fewest` of the amount: an amount that arrives in whole
  // pieces, such as steps, gives no rate for a block with one piece.
  explicit FallWatch(double fewest = 0) : fewest_(fewest) {}

  // Takes the amount counted up to `time_ns`; both grow. A smaller time or amount begins a new
  // block.
  void Add(uint64_t time_ns, double amount);
  // What comes next has nothing to do with what came before.
  void Forget();

  // While the rate is low.
  const std::optional<Fall>& fall() const { return fall_; }

 private:
  void Begin(uint64_t time_ns, double amount);
  void AddBlock(uint64_t begin_ns, double rate);
  void FollowFall(uint64_t begin_ns, double level);
  void FollowRise(double value, double level, double slack);
  void TakeDipIn();
  void Remember(double value);
  void StartOver();
  double Level() const;
  double Scatter(double level) const;

  double fewest_;
  bool begun_ = false;
  uint64_t block_begin_ns_ = 0;
  double block_amount_ = 0;

  std::deque<double> past_;  // logarithms of rates
  std::deque<double> dip_;   // the same, since the rate is low
  uint64_t dip_begin_ns_ = 0;
  size_t longest_dip_ = 0;  // in blocks, of those that it came back from
  double missing_ = 0;      // the CUSUM
  size_t high_blocks_ = 0;  // in a row
  std::optional<Fall> fall_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_ALARMS_FALL_WATCH_H_
