#include "inject/record/buffer_pool.h"

#include <sys/mman.h>

#include "inject/base/memory.h"

namespace utlz::agent {

bool BufferPool::Create() {
  memory_ = MapArray<uint8_t>(kBuffers * kBufferBytes);
  if (memory_ == nullptr) return false;
  for (auto& word : free_) word.store(~uint64_t{0}, std::memory_order_relaxed);
  return true;
}

uint8_t* BufferPool::Acquire() {
  for (uint32_t i = 0; i < kBuffers / 64; ++i) {
    uint64_t word = free_[i].load(std::memory_order_relaxed);
    while (word != 0) {
      const int bit = __builtin_ctzll(word);
      if (free_[i].compare_exchange_weak(word, word & ~(uint64_t{1} << bit),
                                         std::memory_order_acquire)) {
        outstanding_.fetch_add(1, std::memory_order_relaxed);
        return memory_ + (i * 64 + static_cast<uint32_t>(bit)) * kBufferBytes;
      }
    }
  }
  return AcquireExtra();
}

// CUPTI before 12.9 crashes where it gets no buffer, so an empty pool costs a system call instead.
uint8_t* BufferPool::AcquireExtra() {
  auto* buffer = MapArray<uint8_t>(kBufferBytes);
  if (buffer == nullptr) return nullptr;
  for (auto& slot : extra_) {
    uint8_t* empty = nullptr;
    if (slot.compare_exchange_strong(empty, buffer)) {
      outstanding_.fetch_add(1, std::memory_order_relaxed);
      return buffer;
    }
  }
  munmap(buffer, kBufferBytes);
  return nullptr;
}

void BufferPool::GiveMemoryBack() {
  for (uint32_t i = 0; i < kBuffers / 64; ++i) {
    // Taken meanwhile, so that nobody is given one that is being emptied.
    const uint64_t taken = free_[i].exchange(0, std::memory_order_acquire);
    for (uint32_t bit = 0; bit < 64; ++bit) {
      if ((taken >> bit & 1) == 0) continue;
      ClearArray(memory_ + (i * 64 + bit) * kBufferBytes, kBufferBytes);
    }
    free_[i].fetch_or(taken, std::memory_order_release);
  }
}

bool BufferPool::Owns(const uint8_t* buffer) const {
  if (InPool(buffer)) return true;
  for (const auto& slot : extra_) {
    if (slot.load(std::memory_order_relaxed) == buffer) return buffer != nullptr;
  }
  return false;
}

bool BufferPool::Release(uint8_t* buffer) {
  if (buffer == nullptr) return false;
  if (InPool(buffer)) {
    const auto index = static_cast<uint32_t>((buffer - memory_) / kBufferBytes);
    free_[index / 64].fetch_or(uint64_t{1} << (index % 64), std::memory_order_release);
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  for (auto& slot : extra_) {
    uint8_t* expected = buffer;
    if (slot.compare_exchange_strong(expected, nullptr)) {
      munmap(buffer, kBufferBytes);
      outstanding_.fetch_sub(1, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace utlz::agent
