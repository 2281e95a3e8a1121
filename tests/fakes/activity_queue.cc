#include "tests/fakes/activity_queue.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "tests/fakes/cupti_state.h"
#include "tests/fakes/misuse.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"

namespace utlz::fake {
namespace {

constexpr std::chrono::milliseconds kWorkerPeriod{5};
// The two callbacks lie side by side in the library's data, as the real one keeps them: a profiler
// that watches them for a takeover finds them there. "used": clang would make two variables of it.
struct RegisteredCallbacks {
  std::atomic<RequestBufferFunction> request;
  std::atomic<CompleteBufferFunction> complete;
};
[[gnu::used]] RegisteredCallbacks registered_callbacks;

// The real one's constructors have 27 objects of it destroyed at exit (CUPTI 13.0).
std::atomic<bool> destroyed{false};
void Destroy() { destroyed.store(true); }
// Of what a library leaves behind, some outlives its being unloaded, as this handler does.
void LeaveNothing(int, void*) {}
[[gnu::constructor]] void OnLoad() {
  std::atexit(Destroy);
  on_exit(LeaveNothing, nullptr);
}

// The worker takes no signal that is meant for the program.
std::thread StartWithSignalsBlocked(std::function<void()> run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

std::atomic<uint32_t> registering{0};

// Room that a buffer may lose at its end to a record that no longer fits.
constexpr size_t kSlackBytes = 256;

}  // namespace

uint32_t CallbacksBeingRegistered() { return registering; }

ActivityQueue& ActivityQueue::Instance() {
  static ActivityQueue* const queue = new ActivityQueue;
  return *queue;
}

void ActivityQueue::SetCallbacks(RequestBufferFunction request, CompleteBufferFunction complete) {
  // Something more of the library is made in the middle of the call, and destroyed first of all.
  [[maybe_unused]] static const int made = std::atexit(Destroy);
  ++registering;
  std::this_thread::sleep_for(std::chrono::milliseconds(ScenarioNumber("register_ms", 0)));
  CheckProcess();
  --registering;
  registered_callbacks.request.store(request);
  registered_callbacks.complete.store(complete);
}

bool ActivityQueue::has_callbacks() const { return registered_callbacks.request.load() != nullptr; }

void ActivityQueue::CheckProcess() const {
  const pid_t pid = worker_pid_.load();
  if (pid != 0 && pid != getpid()) Misuse("CUPTI is used in a child of fork");
  if (CuptiState::Instance().BeingTornDown()) Misuse("CUPTI is used while it is torn down");
  if (destroyed.load()) Misuse("libcupti is used after its objects were destroyed at exit");
}

void ActivityQueue::StartWorker() {
  CheckProcess();
  const std::lock_guard lock(mutex_);
  if (worker_pid_.load() != 0) return;
  worker_pid_.store(getpid());
  StartWithSignalsBlocked([this] { RunWorker(); }).detach();
}

bool ActivityQueue::HasRoom(size_t bytes) const {
  size_t room = 0;
  for (const Buffer& buffer : buffers_) {
    const size_t left = buffer.full ? 0 : buffer.size - buffer.used;
    if (left > kSlackBytes) room += left - kSlackBytes;
  }
  return room >= pending_bytes_ + bytes;
}

bool ActivityQueue::RequestBuffer(std::unique_lock<std::mutex>* lock) {
  const RequestBufferFunction request = registered_callbacks.request.load();
  lock->unlock();
  uint8_t* memory = nullptr;
  size_t size = 0;
  size_t max_records = 0;
  if (request != nullptr) {
    const CallbackScope scope(CallbackSort::kBuffer);
    request(&memory, &size, &max_records);
  }
  if (memory != nullptr && reinterpret_cast<uintptr_t>(memory) % 8 != 0) {
    Misuse("an activity buffer is not aligned to 8 bytes");
  }
  lock->lock();
  if (memory == nullptr || size <= 2 * kSlackBytes) return false;
  buffers_.push_back({memory, size});
  return true;
}

void ActivityQueue::Add(PendingRecord record, uint64_t ready_ns) {
  const size_t bytes = record.bytes.size();
  std::unique_lock lock(mutex_);
  if (!HasRoom(bytes) && !RequestBuffer(&lock)) {
    ++dropped_;
    return;
  }
  pending_bytes_ += bytes;
  const bool was_idle = pending_.empty();
  pending_.emplace(ready_ns, std::move(record));
  if (was_idle) wake_.notify_one();
}

void ActivityQueue::CountDropped(size_t records) {
  const std::lock_guard lock(mutex_);
  dropped_ += records;
}

size_t ActivityQueue::TakeDropped() {
  const std::lock_guard lock(mutex_);
  return std::exchange(dropped_, 0);
}

void ActivityQueue::SetClock(uint64_t (*ticks)()) {
  const std::lock_guard lock(mutex_);
  clock_begin_ns_ = NowNs();
  clock_begin_ticks_ = ticks();
  clock_.store(ticks);
}

uint64_t ActivityQueue::Ticks() const {
  uint64_t (*const ticks)() = clock_.load();
  return ticks == nullptr ? NowNs() : ticks();
}

// As if the clock had been read then: CUPTI interpolates too.
void ActivityQueue::ToTicks(PendingRecord* record) const {
  if (clock_.load() == nullptr || record->start_offset == 0) return;
  const auto passed_ns = static_cast<double>(NowNs() - clock_begin_ns_);
  const auto passed_ticks = static_cast<double>(Ticks() - clock_begin_ticks_);
  if (passed_ns <= 0) return;
  uint64_t times[2];
  std::memcpy(times, record->bytes.data() + record->start_offset, sizeof times);
  for (uint64_t& time : times) {
    if (time == 0) continue;
    const double since_ns = static_cast<double>(static_cast<int64_t>(time - clock_begin_ns_));
    time = clock_begin_ticks_ +
           static_cast<uint64_t>(static_cast<int64_t>(since_ns * passed_ticks / passed_ns));
  }
  std::memcpy(record->bytes.data() + record->start_offset, times, sizeof times);
}

bool ActivityQueue::Place(const PendingRecord& record) {
  const size_t bytes = record.bytes.size();
  for (Buffer& buffer : buffers_) {
    if (buffer.full) continue;
    if (buffer.size - buffer.used < bytes) {
      buffer.full = true;
      continue;
    }
    std::memcpy(buffer.bytes + buffer.used, record.bytes.data(), bytes);
    buffer.used += bytes;
    if (buffer.size - buffer.used < kSlackBytes) buffer.full = true;
    return true;
  }
  return false;
}

void ActivityQueue::PlaceReady(std::unique_lock<std::mutex>* lock, uint64_t now_ns, bool forced) {
  while (!pending_.empty()) {
    const auto first = pending_.begin();
    if (first->first > now_ns && !forced) return;
    PendingRecord record = std::move(first->second);
    if (first->first > now_ns && record.start_offset != 0) {
      std::memset(record.bytes.data() + record.start_offset, 0, 16);
    }
    ToTicks(&record);
    pending_.erase(first);
    pending_bytes_ -= record.bytes.size();
    // A flush may have handed out the buffer whose room this record had counted on.
    if (!Place(record) && !(RequestBuffer(lock) && Place(record))) ++dropped_;
  }
}

void ActivityQueue::HandOut(std::unique_lock<std::mutex>* lock) {
  const Buffer buffer = buffers_.front();
  buffers_.pop_front();
  const CompleteBufferFunction complete = registered_callbacks.complete.load();
  lock->unlock();
  if (complete != nullptr) {
    const CallbackScope scope(CallbackSort::kBuffer);
    complete(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
  }
  lock->lock();
}

void ActivityQueue::DeliverFull(std::unique_lock<std::mutex>* lock) {
  while (!buffers_.empty() && buffers_.front().full) HandOut(lock);
}

// Also one that was requested too early, and is empty: what holds no record holds none that is
// incomplete. Those that are requested meanwhile are left for the records that wait for them.
void ActivityQueue::DeliverAll(std::unique_lock<std::mutex>* lock) {
  for (size_t left = buffers_.size(); left > 0; --left) HandOut(lock);
}

void ActivityQueue::Flush(bool forced) {
  CheckProcess();
  switch (CallbackScope::Current()) {
    case CallbackSort::kBuffer:
      Misuse("cuptiActivityFlushAll in a buffer callback");
    case CallbackSort::kResource:
      Misuse("cuptiActivityFlushAll in a resource callback");
    case CallbackSort::kSynchronize:
      Misuse("cuptiActivityFlushAll in a synchronize callback");
    default:
      break;
  }
  if (worker_pid_.load() == 0) return;
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++flushes_asked_;
  forced_asked_ = forced_asked_ || forced;
  wake_.notify_one();
  delivered_.wait(lock, [&] { return flushes_done_ >= mine; });
}

void ActivityQueue::SetFlushPeriodMs(uint32_t period_ms) {
  // The worker hands out full buffers every few milliseconds anyway, which is what a period does.
}

void ActivityQueue::RunWorker() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (flushes_asked_ == flushes_done_) {
      if (pending_.empty()) {
        wake_.wait(lock);
      } else {
        wake_.wait_for(lock, kWorkerPeriod);
      }
    }
    const uint64_t asked = flushes_asked_;
    const bool flushing = asked != flushes_done_;
    const bool forced = std::exchange(forced_asked_, false);
    PlaceReady(&lock, NowNs(), forced);
    const bool held = !pending_.empty() && ScenarioNumber("held_buffers", 0) != 0;
    if (flushing && !held) {
      DeliverAll(&lock);
    } else {
      DeliverFull(&lock);
    }
    flushes_done_ = asked;
    if (flushing) delivered_.notify_all();
  }
}

}  // namespace utlz::fake
