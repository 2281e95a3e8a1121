// The state of a CPython 3.14 as it lies in a process's memory, written out so that each part of it
// can be spoiled.
#ifndef UTLZ_TESTS_SUPPORT_PYTHON_IMAGE_H_
#define UTLZ_TESTS_SUPPORT_PYTHON_IMAGE_H_

#include <array>
#include <cstdint>

namespace utlz::attach {

// Mapped at kBase; places are those of 3.14.10 where they matter, and close together otherwise.
struct PythonImage {
  static constexpr uint64_t kBase = 0x10000;
  static constexpr uint64_t kInterpreter = 1024;
  static constexpr uint64_t kThread = 2048;
  static constexpr uint64_t kSupport = 304;  // within the thread's state
  static constexpr size_t kWords = 512;
  // Of kBase and the words.
  static constexpr char kMap[] = "10000-11000 rw-p 0 08:01 7 /usr/bin/python3.14\n";

  std::array<uint64_t, kWords> words = {};

  PythonImage() {
    words[0] = 0x7970677562656478;  // "xdebugpy"
    words[1] = 0x030e0af0;
    words[3] = 1024;  // the runtime's size, and what is in it
    words[4] = 784;
    words[5] = 808;
    words[6] = 512;  // the interpreter's
    words[7] = 8;
    words[8] = 0;
    words[10] = 16;
    words[22] = 832;  // the thread's
    words[25] = 16;
    words[89] = 24;
    words[90] = kSupport;
    words[91] = 76;
    words[92] = 0;
    words[93] = 4;
    words[94] = 512;
    At(808) = kBase + kInterpreter;
    At(kInterpreter + 16) = kBase + kThread;
    At(kInterpreter + 72) = uint64_t{1} << 32;  // 76: remote debugging is enabled
    At(kThread + 16) = kBase + kInterpreter;
  }
  uint64_t& At(uint64_t offset_bytes) { return words[offset_bytes / 8]; }
};

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_SUPPORT_PYTHON_IMAGE_H_
