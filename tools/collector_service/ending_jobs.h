// Jobs whose profiles are being finished, each on a thread of its own: summing a long job up takes
// a while, and the others' agents must not wait for that.
//
// Thread safety: none.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_ENDING_JOBS_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_ENDING_JOBS_H_

#include <atomic>
#include <functional>
#include <list>
#include <thread>

namespace utlz {

class EndingJobs {
 public:
  EndingJobs() = default;
  EndingJobs(const EndingJobs&) = delete;
  EndingJobs& operator=(const EndingJobs&) = delete;
  ~EndingJobs() { AwaitAll(); }

  void Add(std::function<void()> finish);
  // So many are still at it; the others are let go.
  size_t Count();
  void AwaitAll();

 private:
  struct Ending {
    std::atomic<bool> done{false};
    std::thread thread;
  };
  std::list<Ending> endings_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_ENDING_JOBS_H_
