// Counts what ran while nothing was recorded. CUPTI gives every kernel, copy, set and launch of a
// graph the next number (its correlation), also while tracing is off: measured with CUPTI 13.0.85,
// docs/measurements/overhead.md. What a program launches into a capture takes numbers too and never
// has a record, so numbers that pass between windows are counted apart from those inside windows.
// Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_OPERATION_COUNT_H_
#define UTLZ_INJECT_RECORD_OPERATION_COUNT_H_

#include <cstdint>

namespace utlz::agent {

class OperationCount {
 public:
  // A record of something that was launched on its own.
  void Add(uint32_t number) {
    ++recorded_;
    Reach(number);
  }
  // A record of a call that is watched, and that launches nothing: it took a number, which is no
  // operation's. Of more than kMostCalls before the next record, the rest are counted as
  // operations.
  void AddCall(uint32_t number) {
    if (Distance(newest_, number) <= 0) return TakeOff(number);
    if (calls_ahead_ < kMostCalls) ahead_[calls_ahead_++] = number;
  }
  // A record of one node of the graph whose launch has this number; whether it is the first.
  bool AddNode(uint32_t number) {
    if (number == newest_graph_) return false;
    if (newest_graph_ != 0 && Distance(newest_graph_, number) < 0) return false;
    newest_graph_ = number;
    Add(number);
    return true;
  }

  // Tracing was switched off, and the records of before have come but for a few. CUPTI still
  // records the odd replay of a graph in the middle of a gap (13.0.85, H200): what passes before it
  // is gap.
  void GapBegan() { off_ = true; }
  // Tracing was switched on again. The records of a window's end may still come after that, so the
  // rest of the gap is the longest row of numbers without a record until it is switched off.
  void GapEnded() {
    in_gaps_ += before_stray_.left + row_.left;
    before_stray_ = off_row_;
    row_ = off_row_ = {};
    off_ = false;
    after_gap_ = numbered_ != 0;
  }

  uint64_t recorded() const { return recorded_; }
  // How many numbers were given from the first one seen to the newest one seen; less what has been
  // seen of a gap that is not over.
  uint64_t numbered() const { return numbered_ - off_row_.left; }
  // Of these, the ones that passed while tracing was off.
  uint64_t in_gaps() const { return in_gaps_ + before_stray_.left + row_.left; }

 private:
  // Numbers that passed without a record so far. CUPTI hands over a buffer of each thread that
  // launches, one after the other: what belongs into the row and comes later is taken off it.
  struct Row {
    uint32_t begin = 0;
    uint32_t length = 0;
    uint32_t left = 0;
  };

  // Numbers wrap around.
  static int32_t Distance(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }
  void Reach(uint32_t number) {
    if (numbered_ == 0) {
      numbered_ = 1;
    } else if (const int32_t ahead = Distance(newest_, number); ahead > 0) {
      numbered_ += static_cast<uint32_t>(ahead);
      if (ahead > 1) Pass(static_cast<uint32_t>(ahead - 1));
    } else {
      return TakeOff(number);
    }
    newest_ = number;
    if (calls_ahead_ > 0) TakeCallsOff();
  }
  // It had a record after all, or was no operation.
  void TakeOff(uint32_t number) {
    Fill(number, &row_);
    Fill(number, &before_stray_);
    Fill(number, &off_row_);
  }
  void TakeCallsOff() {
    uint32_t left = 0;
    for (uint32_t i = 0; i < calls_ahead_; ++i) {
      if (Distance(newest_, ahead_[i]) > 0) {
        ahead_[left++] = ahead_[i];
      } else {
        TakeOff(ahead_[i]);
      }
    }
    calls_ahead_ = left;
  }
  void Pass(uint32_t without_record) {
    if (!off_ && !after_gap_) return;
    Row* row = off_ ? &off_row_ : &row_;
    if (without_record > row->left) *row = {newest_ + 1, without_record, without_record};
  }
  static void Fill(uint32_t number, Row* row) {
    if (row->left > 0 && number - row->begin < row->length) --row->left;
  }

  static constexpr uint32_t kMostCalls = 64;

  uint32_t ahead_[kMostCalls] = {};  // numbers of calls that are newer than any record
  uint32_t calls_ahead_ = 0;
  uint64_t recorded_ = 0;
  uint64_t numbered_ = 0;
  uint64_t in_gaps_ = 0;  // those that are over
  // Of the gap before the window that is open, or was last: up to a stray record in it, and after.
  Row before_stray_;
  Row row_;
  Row off_row_;  // of the gap that is not over, up to a stray record in it
  bool off_ = false;
  bool after_gap_ = false;
  uint32_t newest_ = 0;
  uint32_t newest_graph_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_OPERATION_COUNT_H_
