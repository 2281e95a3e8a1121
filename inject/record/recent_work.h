// What the newest launches were like: how many there were, how long the GPU worked for them, and
// how many kernels CUDA loaded for their first launch. Says whether a program waits for
// the host. Guarded by the agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_RECENT_WORK_H_
#define UTLZ_INJECT_RECORD_RECENT_WORK_H_

#include <cstdint>

namespace utlz::agent {

struct WorkSums {
  uint64_t launches = 0;  // that are no graph nodes
  uint64_t graph_nodes = 0;
  uint64_t busy_ns = 0;  // durations added up: more than the time where kernels run at once
  uint64_t loads = 0;    // kernels that were loaded for their first launch
  uint64_t time_ns = 0;  // that was looked at
};

class RecentWork {
 public:
  static constexpr uint64_t kPieceNs = 100'000'000;
  // A program that has begun is recorded throughout for so long, since less tells too little of it.
  static constexpr uint64_t kPiecesLookedAt = 6;
  static constexpr uint64_t kPieces = 32;  // that are kept

  void AddLaunch(uint64_t start_ns, uint64_t end_ns, bool graph_node) {
    WorkSums* sums = At(start_ns);
    if (sums == nullptr) return;
    ++(graph_node ? sums->graph_nodes : sums->launches);
    sums->busy_ns += end_ns > start_ns ? end_ns - start_ns : 0;
  }
  void AddLoad(uint64_t time_ns) {
    if (WorkSums* sums = At(time_ns)) ++sums->loads;
  }

  // Of piece `number`, which began at number * kPieceNs; nothing where that is not kept any more.
  WorkSums Of(uint64_t number) const {
    const Piece& piece = pieces_[number % kPieces];
    WorkSums sums = piece.number == number ? piece.sums : WorkSums{};
    sums.time_ns = kPieceNs;
    return sums;
  }

  // Of the whole pieces that are looked at, before `time_ns`, on the clock of the records. Pieces
  // in which nothing was recorded count as time in which nothing ran.
  WorkSums Before(uint64_t time_ns) const { return Sum(time_ns, 0); }
  // The same without those before the first launch in it.
  WorkSums SinceFirstLaunchBefore(uint64_t time_ns) const {
    const uint64_t end = time_ns / kPieceNs;
    uint64_t idle = 0;
    while (idle < kPiecesLookedAt && IsIdle(Of(end - kPiecesLookedAt + idle))) ++idle;
    return Sum(time_ns, idle);
  }

 private:
  struct Piece {
    uint64_t number = 0;
    WorkSums sums;
  };

  static bool IsIdle(const WorkSums& piece) {
    return piece.launches == 0 && piece.graph_nodes == 0;
  }
  // Of all pieces that are looked at but the first ones.
  WorkSums Sum(uint64_t time_ns, uint64_t left_out) const {
    WorkSums sums;
    const uint64_t end = time_ns / kPieceNs;
    for (uint64_t number = end - kPiecesLookedAt + left_out; number != end; ++number) {
      const WorkSums piece = Of(number);
      sums.time_ns += piece.time_ns;
      sums.launches += piece.launches;
      sums.graph_nodes += piece.graph_nodes;
      sums.busy_ns += piece.busy_ns;
      sums.loads += piece.loads;
    }
    return sums;
  }

  // Null for what is older than all pieces that are kept. Most launches are in the piece of the one
  // before: for these nothing is divided.
  WorkSums* At(uint64_t time_ns) {
    return time_ns - latest_begin_ns_ < kPieceNs ? &pieces_[latest_].sums : AtAnother(time_ns);
  }
  WorkSums* AtAnother(uint64_t time_ns) {
    const uint64_t number = time_ns / kPieceNs;
    Piece& piece = pieces_[number % kPieces];
    if (number < piece.number) return nullptr;
    if (number != piece.number) piece = {number, {}};
    latest_ = number % kPieces;
    latest_begin_ns_ = number * kPieceNs;
    return &piece.sums;
  }

  Piece pieces_[kPieces] = {};
  uint64_t latest_ = 0;  // the piece that was added to last, and where it begins
  uint64_t latest_begin_ns_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_RECENT_WORK_H_
