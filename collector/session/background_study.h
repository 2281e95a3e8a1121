// Runs one function at a time on a thread of its own, while the thread that asked for it goes on.
// Thread safety: one thread asks.
#ifndef UTLZ_COLLECTOR_SESSION_BACKGROUND_STUDY_H_
#define UTLZ_COLLECTOR_SESSION_BACKGROUND_STUDY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace utlz {

class BackgroundStudy {
 public:
  BackgroundStudy() = default;
  BackgroundStudy(const BackgroundStudy&) = delete;
  BackgroundStudy& operator=(const BackgroundStudy&) = delete;
  ~BackgroundStudy() { Wait(); }

  // The one before is over and was waited for. Where no thread can be had, it is done here and now.
  void Begin(std::function<void()> study);
  // Whether it can be waited for without waiting. What it wrote may be read after Wait().
  bool over() const { return over_; }
  void Wait();

  // Processor time of all that were waited for.
  uint64_t cpu_ns() const { return cpu_ns_; }

 private:
  void Do(const std::function<void()>& study);

  std::thread thread_;
  std::atomic<bool> over_{true};
  uint64_t last_cpu_ns_ = 0;  // written before `over_`
  uint64_t cpu_ns_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_BACKGROUND_STUDY_H_
