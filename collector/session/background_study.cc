#include "collector/session/background_study.h"

#include <pthread.h>

#include <system_error>
#include <utility>

#include "collector/clocks.h"

namespace utlz {

void BackgroundStudy::Begin(std::function<void()> study) {
  over_ = false;
  last_cpu_ns_ = 0;
  try {
    // Signals are blocked there as they are here.
    thread_ = std::thread([this, study] { Do(study); });
    pthread_setname_np(thread_.native_handle(), "utlz-study");  // as top -H shows it
  } catch (const std::system_error&) {
    Do(study);
    last_cpu_ns_ = 0;  // counted with this thread's
  }
}

void BackgroundStudy::Do(const std::function<void()>& study) {
  const uint64_t cpu_before_ns = ThreadCpuNs();
  study();
  last_cpu_ns_ = ThreadCpuNs() - cpu_before_ns;
  over_ = true;
}

void BackgroundStudy::Wait() {
  if (thread_.joinable()) thread_.join();
  cpu_ns_ += std::exchange(last_cpu_ns_, 0);
}

}  // namespace utlz
