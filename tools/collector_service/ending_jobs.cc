#include "tools/collector_service/ending_jobs.h"

#include <utility>

#include "collector/quiet_thread.h"

namespace utlz {

void EndingJobs::Add(std::function<void()> finish) {
  Ending& ending = endings_.emplace_back();
  ending.thread = StartQuietThread("utlz-ending", [&ending, work = std::move(finish)] {
    work();
    ending.done = true;
  });
}

size_t EndingJobs::Count() {
  for (auto entry = endings_.begin(); entry != endings_.end();) {
    if (!entry->done) {
      ++entry;
      continue;
    }
    entry->thread.join();
    entry = endings_.erase(entry);
  }
  return endings_.size();
}

void EndingJobs::AwaitAll() {
  for (Ending& ending : endings_) ending.thread.join();
  endings_.clear();
}

}  // namespace utlz
