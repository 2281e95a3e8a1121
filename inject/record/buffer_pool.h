// Buffers that CUPTI fills with records. Handed out on the target's launching threads: no lock, no
// allocation and, until the pool is empty, no system call.
//
// Thread-safe; async-signal-safe but for the overflow path.
#ifndef UTLZ_INJECT_RECORD_BUFFER_POOL_H_
#define UTLZ_INJECT_RECORD_BUFFER_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace utlz::agent {

class BufferPool {
 public:
  static constexpr size_t kBufferBytes = 128 << 10;
  static constexpr uint32_t kBuffers = 256;
  static constexpr uint32_t kMaxExtra = 256;  // beyond the pool, straight from the kernel

  bool Create();
  // Null once pool and extras are used up.
  uint8_t* Acquire();
  // False where the buffer is not one of ours.
  bool Release(uint8_t* buffer);
  bool Owns(const uint8_t* buffer) const;
  // Gives the memory of buffers that nobody holds back to the kernel, until they are used again.
  void GiveMemoryBack();
  uint32_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }

 private:
  uint8_t* AcquireExtra();
  bool InPool(const uint8_t* buffer) const {
    return buffer >= memory_ && buffer < memory_ + kBuffers * kBufferBytes;
  }

  uint8_t* memory_ = nullptr;
  std::atomic<uint64_t> free_[kBuffers / 64] = {};
  std::atomic<uint8_t*> extra_[kMaxExtra] = {};
  std::atomic<uint32_t> outstanding_{0};
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_BUFFER_POOL_H_
