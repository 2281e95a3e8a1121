// Goes through the records of CUPTI's buffers.
//
// Only CUPTI knows how long its records are, and asking it for each is a good part of what a launch
// costs. But kernel records, which nearly all are, have one length in one library: it is learned
// from CUPTI's own steps, checked again in every buffer, and used from one kernel record to the
// next. Whatever is not a kernel record, and the end of a buffer, is asked for. Guarded by the
// agent's encode lock.
#ifndef UTLZ_INJECT_RECORD_RECORD_WALKER_H_
#define UTLZ_INJECT_RECORD_RECORD_WALKER_H_

#include <cstddef>
#include <cstdint>

#include "inject/driver/cupti_api.h"

namespace utlz::agent {

class RecordWalker {
 public:
  using NextRecord = cupti::Result (*)(uint8_t*, size_t, cupti::RecordHead**);

  // Equal lengths in a row before one is accepted.
  static constexpr uint32_t kAgreeing = 16;

  // `next_record` is cuptiActivityGetNextRecord of the library that filled the buffer.
  void Begin(NextRecord next_record, uint8_t* buffer, size_t valid_bytes) {
    next_record_ = next_record;
    buffer_ = buffer;
    valid_bytes_ = valid_bytes;
    record_ = nullptr;
    checked_ = false;
  }

  // The next record, or null at the end.
  cupti::RecordHead* Next() {
    if (checked_ && record_->kind == cupti::kKindConcurrentKernel) {
      auto* next = reinterpret_cast<uint8_t*>(record_) + kernel_bytes_;
      // Two records, so that the last one of a buffer is always CUPTI's.
      if (next + 2 * size_t{kernel_bytes_} <= buffer_ + valid_bytes_) {
        auto* record = reinterpret_cast<cupti::RecordHead*>(next);
        if (record->kind == cupti::kKindConcurrentKernel) return record_ = record;
      }
    }
    return Ask();
  }

 private:
  cupti::RecordHead* Ask() {
    cupti::RecordHead* next = record_;
    if (next_record_(buffer_, valid_bytes_, &next) != cupti::kSuccess) return nullptr;
    if (record_ != nullptr && record_->kind == cupti::kKindConcurrentKernel) {
      Learn(reinterpret_cast<uint8_t*>(next) - reinterpret_cast<uint8_t*>(record_));
    }
    return record_ = next;
  }

  void Learn(ptrdiff_t bytes) {
    constexpr ptrdiff_t kMaxBytes = 4096;
    if (bytes < static_cast<ptrdiff_t>(sizeof(cupti::KernelRecord)) || bytes > kMaxBytes) {
      agreeing_ = 0;
    } else if (bytes != kernel_bytes_) {
      kernel_bytes_ = static_cast<uint32_t>(bytes);
      agreeing_ = 1;
    } else if (agreeing_ < kAgreeing) {
      ++agreeing_;
    }
    checked_ = agreeing_ == kAgreeing;
  }

  NextRecord next_record_ = nullptr;
  uint8_t* buffer_ = nullptr;
  size_t valid_bytes_ = 0;
  cupti::RecordHead* record_ = nullptr;
  uint32_t kernel_bytes_ = 0;
  uint32_t agreeing_ = 0;
  bool checked_ = false;  // in this buffer
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_RECORD_WALKER_H_
