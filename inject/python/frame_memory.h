// A frame of the interpreter's: as the thread reads it that it belongs to, and as another thread
// does. PythonFrames is written once for both.
#ifndef UTLZ_INJECT_PYTHON_FRAME_MEMORY_H_
#define UTLZ_INJECT_PYTHON_FRAME_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "inject/python/python_layout.h"
#include "inject/python/python_memory.h"

namespace utlz::agent {

// Of the calling thread, which keeps the frame as it is: no system call.
class OwnFrame {
 public:
  explicit OwnFrame(const PythonLayout&) {}

  bool MoveTo(uint64_t frame) {
    frame_ = frame;
    return true;
  }
  uint64_t Word(uint32_t offset) const { return WordAt(frame_ + offset); }
  uint8_t Byte(uint32_t offset) const { return *reinterpret_cast<const uint8_t*>(frame_ + offset); }
  static bool Read(uint64_t address, uint64_t* word) {
    *word = WordAt(address);
    return true;
  }

 private:
  static uint64_t WordAt(uint64_t address) {
    uint64_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof(word));
    return word;
  }

  uint64_t frame_ = 0;
};

// Of a thread that goes on meanwhile: the kernel copies its memory, and refuses what is not mapped.
// A thread's frames lie side by side, so those of one page are copied at once. Never on a launch
// path.
class CopiedFrame {
 public:
  explicit CopiedFrame(const PythonLayout& layout)
      : bytes_(std::max({layout.frame_code, layout.frame_instruction, layout.frame_previous,
                         layout.frame_owner, layout.frame_locals}) +
               sizeof(uint64_t)) {}

  bool MoveTo(uint64_t frame) {
    if (bytes_ > kMostBytes) return false;
    if (frame < start_ || frame + bytes_ > end_) {
      start_ = frame & ~(kPageBytes - 1);
      end_ = frame + bytes_;
      if (!CopyMemory(start_, copy_, end_ - start_)) {
        end_ = start_;
        return false;
      }
    }
    frame_ = copy_ + (frame - start_);
    return true;
  }
  uint64_t Word(uint32_t offset) const {
    uint64_t word;
    std::memcpy(&word, frame_ + offset, sizeof(word));
    return word;
  }
  uint8_t Byte(uint32_t offset) const { return frame_[offset]; }
  static bool Read(uint64_t address, uint64_t* word) { return CopyValue(address, word); }

 private:
  static constexpr uint64_t kMostBytes = 256;  // frames of 3.11 to 3.14: 96 and less
  static constexpr uint64_t kPageBytes = 4096;

  uint64_t bytes_;
  uint64_t start_ = 0, end_ = 0;  // what copy_ is of
  uint8_t* frame_ = copy_;
  uint8_t copy_[kPageBytes + kMostBytes];
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_FRAME_MEMORY_H_
