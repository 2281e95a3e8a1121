#include "tools/exporter/speaker.h"

#include <utility>

#include "collector/quiet_thread.h"

namespace utlz {

Speaker::Speaker(std::function<void(const std::string& sentence)> say) : say_(std::move(say)) {
  thread_ = StartQuietThread("utlz-speaker", [this] { Run(); });
}

Speaker::~Speaker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Speaker::Report(std::string sentence) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) return;
    waiting_.push_back(std::move(sentence));
  }
  changed_.notify_one();
}

void Speaker::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::string sentence = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    say_(sentence);
    lock.lock();
  }
}

}  // namespace utlz
