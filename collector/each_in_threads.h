// Does pieces of work that do not depend on one another in several threads at once. For times in
// which no job runs beside: while one does, its analysis has one thread and a budget.
#ifndef UTLZ_COLLECTOR_EACH_IN_THREADS_H_
#define UTLZ_COLLECTOR_EACH_IN_THREADS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "collector/quiet_thread.h"

namespace utlz {

// Threads that are worth having at once: as many as the machine has, up to eight.
inline unsigned WorthwhileThreads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
}

// What each of `count` pieces of work that share `threads` may use itself.
inline unsigned ThreadsOfEach(size_t count, unsigned threads) {
  return std::max(1u, static_cast<unsigned>(threads / std::max<size_t>(1, count)));
}

// Calls work(0) to work(count - 1), in any order, in up to `threads` threads, and returns when all
// are over. The caller's thread is one of them; where the system gives no others, it does all.
inline void EachInThreads(size_t count, unsigned threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  others.reserve(threads);
  while (others.size() + 1 < std::min<size_t>(threads, count)) {
    try {
      others.push_back(StartQuietThread("utlz-study", take));
    } catch (const std::system_error&) {
      break;
    }
  }
  take();
  for (std::thread& other : others) other.join();
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_EACH_IN_THREADS_H_
