#include "collector/history/history_log.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/quiet_thread.h"

namespace utlz {
namespace {

constexpr std::chrono::seconds kTryAgain(5);

}  // namespace

absl::StatusOr<std::unique_ptr<HistoryLog>> HistoryLog::Open(const std::string& folder,
                                                             uint64_t most_bytes, Say say) {
  absl::StatusOr<std::unique_ptr<HistoryStore>> store = HistoryStore::Open(folder, most_bytes);
  if (!store.ok()) return store.status();
  return std::unique_ptr<HistoryLog>(new HistoryLog(*std::move(store), std::move(say)));
}

HistoryLog::HistoryLog(std::unique_ptr<HistoryStore> store, Say say)
    : store_(std::move(store)), say_(std::move(say)) {
  thread_ = StartQuietThread("utlz-history", [this] { Run(); });
}

HistoryLog::~HistoryLog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HistoryLog::Add(HistoryInterval interval) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) GiveUpOldest();
    waiting_.push_back(std::move(interval));
  }
  changed_.notify_all();
}

void HistoryLog::GiveUpOldest() {
  waiting_.pop_front();
  ++given_up_;
}

void HistoryLog::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    HistoryInterval interval = std::move(waiting_.front());
    waiting_.pop_front();
    const bool synced = waiting_.empty();
    const bool last_try = closing_;  // what failed before may succeed now
    lock.unlock();
    const bool written = Write(interval);
    if (written && synced) (void)store_->Sync();  // what the machine's end costs is not said
    lock.lock();
    if (written) continue;
    if (last_try) {
      given_up_ += 1 + waiting_.size();
      say_(absl::StrCat(given_up_, " intervals are missing in the history"));
      return;
    }
    waiting_.push_front(std::move(interval));
    if (waiting_.size() > kMostWaiting) GiveUpOldest();
    // Older C libraries wait by this clock alone. Where it is set back, the next interval wakes us.
    if (!closing_) changed_.wait_until(lock, std::chrono::system_clock::now() + kTryAgain);
  }
}

bool HistoryLog::Write(const HistoryInterval& interval) {
  const absl::Status written = store_->Append(interval);
  if (written.ok() && std::exchange(failing_, false)) {
    say_("the history can be written again");
  } else if (!written.ok() && !std::exchange(failing_, true)) {
    say_(absl::StrCat(written.message(), "; intervals wait until it can be written"));
  }
  return written.ok();
}

}  // namespace utlz
