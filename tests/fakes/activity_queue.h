// Activity records from the moment of the launch until a full buffer is handed to the client, as
// CUPTI does it: buffers are requested on the application's threads (and by the worker where it
// runs out of them) and completed on one worker thread; a record enters a buffer once its work has
// ended.
#ifndef UTLZ_TESTS_FAKES_ACTIVITY_QUEUE_H_
#define UTLZ_TESTS_FAKES_ACTIVITY_QUEUE_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace utlz::fake {

using RequestBufferFunction = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using CompleteBufferFunction = void (*)(void* context, uint32_t stream, uint8_t* buffer,
                                        size_t size, size_t valid_size);

struct PendingRecord {
  std::vector<uint8_t> bytes;
  // Where the record's two timestamps are; 0 where it has none. They are zeroed when a forced flush
  // overtakes the work.
  size_t start_offset = 0;
};

uint32_t CallbacksBeingRegistered();

class ActivityQueue {
 public:
  static ActivityQueue& Instance();

  void SetCallbacks(RequestBufferFunction request, CompleteBufferFunction complete);
  bool has_callbacks() const;

  // On an application thread. `ready_ns`: when the record is complete.
  void Add(PendingRecord record, uint64_t ready_ns);
  void CountDropped(size_t records);
  size_t TakeDropped();

  // Hands out all buffers, with what is complete in them, or everything. Returns once they were
  // delivered.
  void Flush(bool forced);
  void SetFlushPeriodMs(uint32_t period_ms);
  // Records handed out from now on have times of this clock.
  void SetClock(uint64_t (*ticks)());
  uint64_t Ticks() const;
  // Aborts in a child of fork: the worker did not come along.
  void CheckProcess() const;
  void StartWorker();

 private:
  struct Buffer {
    uint8_t* bytes;
    size_t size;
    size_t used = 0;
    bool full = false;
  };

  void ToTicks(PendingRecord* record) const;
  bool HasRoom(size_t bytes) const;
  bool RequestBuffer(std::unique_lock<std::mutex>* lock);
  bool Place(const PendingRecord& record);
  void PlaceReady(std::unique_lock<std::mutex>* lock, uint64_t now_ns, bool forced);
  void HandOut(std::unique_lock<std::mutex>* lock);
  void DeliverFull(std::unique_lock<std::mutex>* lock);
  void DeliverAll(std::unique_lock<std::mutex>* lock);
  void RunWorker();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable delivered_;
  std::multimap<uint64_t, PendingRecord> pending_;
  size_t pending_bytes_ = 0;
  std::deque<Buffer> buffers_;
  size_t dropped_ = 0;
  uint64_t flushes_asked_ = 0;
  uint64_t flushes_done_ = 0;
  bool forced_asked_ = false;
  std::atomic<pid_t> worker_pid_{0};
  std::atomic<uint64_t (*)()> clock_{nullptr};  // null: realtime nanoseconds
  uint64_t clock_begin_ns_ = 0;
  uint64_t clock_begin_ticks_ = 0;
};

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_ACTIVITY_QUEUE_H_
