// Prints sentences on a thread of its own, so that the caller never waits for a terminal or a pipe
// that nobody reads. Thread safety: Report() from any thread, the rest from one.
#ifndef UTLZ_TOOLS_EXPORTER_SPEAKER_H_
#define UTLZ_TOOLS_EXPORTER_SPEAKER_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace utlz {

class Speaker {
 public:
  // What waits to be said; what comes while there is no room is left out.
  static constexpr size_t kMostWaiting = 64;

  explicit Speaker(std::function<void(const std::string& sentence)> say);
  ~Speaker();  // says what waits first

  void Report(std::string sentence);

 private:
  void Run();

  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;  // guarded by mutex_
  bool ends_ = false;                // the same
  std::thread thread_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORTER_SPEAKER_H_
