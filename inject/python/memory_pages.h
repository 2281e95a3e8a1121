// Copies the interpreter's memory page by page, so that reading thousands of words, such as a
// model's modules, takes one system call a page instead of one a word. A page is copied when it is
// first asked for, and kept until Forget: what the program changes meanwhile does not show.
//
// One thread at a time; never on a launch path.
#ifndef UTLZ_INJECT_PYTHON_MEMORY_PAGES_H_
#define UTLZ_INJECT_PYTHON_MEMORY_PAGES_H_

#include <cstdint>

namespace utlz::agent {

class MemoryPages {
 public:
  // Once, before all others. False where there is no memory.
  bool Create();
  // Every page is copied anew when it is asked for next.
  void Forget() { ++generation_; }
  // False where not all of it could be read.
  bool Copy(uint64_t address, void* to, uint64_t bytes);

  template <typename T>
  bool CopyValue(uint64_t address, T* value) {
    return Copy(address, value, sizeof(T));
  }

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint32_t kPages = 512;

  struct Place {
    uint64_t page;        // its address ÷ kPageBytes
    uint64_t generation;  // in which it was copied; 0: never
  };

  // The copy of a page, or null.
  const uint8_t* PageOf(uint64_t page);

  Place* places_ = nullptr;  // a page's place is its number modulo kPages
  uint8_t* copies_ = nullptr;
  uint64_t generation_ = 1;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_MEMORY_PAGES_H_
