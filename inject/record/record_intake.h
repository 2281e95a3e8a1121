// From the buffers that CUPTI fills to the ring: hands buffers out, takes full ones to the
// recorder, and has CUPTI hand over what it holds.
//
// CUPTI calls OnBufferRequested on threads that launch: no lock, no allocation. It calls
// OnBufferCompleted on a thread of its own, or on the one that asks it to flush. The agent calls
// all others in a turn of its thread (turns.h), or in InitializeInjection.
#ifndef UTLZ_INJECT_RECORD_RECORD_INTAKE_H_
#define UTLZ_INJECT_RECORD_RECORD_INTAKE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/base/ring_writer.h"
#include "inject/driver/cupti_api.h"
#include "inject/record/buffer_pool.h"
#include "inject/record/recorder.h"

namespace utlz::agent {

class RecordIntake {
 public:
  // Both must outlive it; CUPTI's table is filled in later.
  RecordIntake(RingWriter& ring, const CuptiApi& cupti) : ring_(ring), cupti_(cupti) {}

  // False where there is no memory.
  bool Create(bool with_correlation);
  // For another collector.
  void Restart(bool with_correlation);
  // Records are read from now on, or no more. Deactivate does not wait for a buffer that is being
  // read; Stop does.
  void Activate() { active_.store(true, std::memory_order_release); }
  void Deactivate() { active_.store(false, std::memory_order_release); }
  bool active() const { return active_.load(std::memory_order_acquire); }
  // As Deactivate, once the buffer that is being read has been, with memory given back.
  void Stop();

  // Whether CUPTI gets buffers: it may have some, though nothing is recorded.
  void GiveBuffers(bool give) { gives_buffers_.store(give, std::memory_order_release); }
  bool gives_buffers() const { return gives_buffers_.load(std::memory_order_acquire); }

  // CUPTI's callbacks.
  void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records);
  void OnBufferCompleted(uint8_t* buffer, size_t valid_bytes);

  // What CUPTI and the recorder hold goes into the ring; `flags` are of cuptiActivityFlushAll.
  void Flush(uint32_t flags);

  Recorder& recorder() { return recorder_; }
  uint64_t callbacks() const { return callbacks_.load(std::memory_order_relaxed); }
  uint32_t buffers_outstanding() const { return pool_.outstanding(); }

 private:
  RingWriter& ring_;
  const CuptiApi& cupti_;
  std::atomic<bool> active_{false};
  std::atomic<bool> gives_buffers_{false};
  std::atomic<uint64_t> callbacks_{0};
  BufferPool pool_;
  Recorder recorder_;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_RECORD_INTAKE_H_
