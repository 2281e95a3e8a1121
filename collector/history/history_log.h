// Writes intervals into the store on a thread of its own, so that a slow disk keeps no collector
// waiting. What cannot be written now waits, up to kMostWaiting intervals; beyond, the oldest are
// given up, and a report shows that they are missing.
//
// Thread safety: Add() from any thread, the rest from one.
#ifndef UTLZ_COLLECTOR_HISTORY_HISTORY_LOG_H_
#define UTLZ_COLLECTOR_HISTORY_HISTORY_LOG_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "collector/history/history_store.h"
#include "proto/history.pb.h"

namespace utlz {

class HistoryLog {
 public:
  static constexpr size_t kMostWaiting = 1024;

  using Say = std::function<void(const std::string& sentence)>;

  // `say` is called from the thread: once when writing begins to fail, and once when it works
  // again.
  static absl::StatusOr<std::unique_ptr<HistoryLog>> Open(const std::string& folder,
                                                          uint64_t most_bytes, Say say);
  // Tries once more to write what waits.
  ~HistoryLog();

  void Add(HistoryInterval interval);

 private:
  HistoryLog(std::unique_ptr<HistoryStore> store, Say say);
  void Run();
  // False where it has to be tried again.
  bool Write(const HistoryInterval& interval);
  void GiveUpOldest();

  std::unique_ptr<HistoryStore> store_;
  Say say_;
  bool failing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HistoryInterval> waiting_;  // guarded by mutex_, as is all below
  uint64_t given_up_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_HISTORY_HISTORY_LOG_H_
