#include "inject/record/record_intake.h"

#include "inject/base/clock.h"

namespace utlz::agent {

bool RecordIntake::Create(bool with_correlation) {
  return pool_.Create() && recorder_.Create(&ring_, &cupti_, with_correlation);
}

void RecordIntake::Restart(bool with_correlation) {
  recorder_.Restart(with_correlation);
  callbacks_ = 0;
}

void RecordIntake::Stop() {
  {
    const RecorderLock lock(&recorder_);  // so that no buffer is being read from here on
    Deactivate();
  }
  recorder_.Restart(false);
  pool_.GiveMemoryBack();
}

void RecordIntake::OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = gives_buffers() ? pool_.Acquire() : nullptr;
  *size = *buffer == nullptr ? 0 : BufferPool::kBufferBytes;
  *max_records = 0;
  callbacks_.fetch_add(1, std::memory_order_relaxed);
}

void RecordIntake::OnBufferCompleted(uint8_t* buffer, size_t valid_bytes) {
  // After a hand-over between clients a buffer may come here that another one allocated.
  if (!gives_buffers() || !pool_.Owns(buffer)) return;
  {
    const RecorderLock lock(&recorder_);
    if (active() && valid_bytes <= BufferPool::kBufferBytes) recorder_.Consume(buffer, valid_bytes);
  }
  pool_.Release(buffer);
}

void RecordIntake::Flush(uint32_t flags) {
  const uint64_t now_ns = RealtimeNs();
  cupti_.activity_flush_all(flags);
  {
    const RecorderLock lock(&recorder_);
    recorder_.Flush();
  }
  ring_.header()->producer.flushed_until_ns.store(now_ns, std::memory_order_release);
}

}  // namespace utlz::agent
