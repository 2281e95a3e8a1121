// A fuzzer's input, taken from its front piece by piece. Past its end everything is zero or empty.
#ifndef UTLZ_TESTS_SUPPORT_FUZZ_BYTES_H_
#define UTLZ_TESTS_SUPPORT_FUZZ_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace utlz {

class FuzzBytes {
 public:
  FuzzBytes(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}

  bool empty() const { return left_ == 0; }

  template <typename Number>
  Number Take() {
    Number number{};
    const std::string_view taken = TakeBytes(sizeof(number));
    if (!taken.empty()) std::memcpy(&number, taken.data(), taken.size());
    return number;
  }

  std::string_view TakeBytes(size_t wanted) {
    const size_t size = std::min(left_, wanted);
    const std::string_view taken(reinterpret_cast<const char*>(bytes_), size);
    bytes_ += size;
    left_ -= size;
    return taken;
  }

  std::string_view TakeRest() { return TakeBytes(left_); }

 private:
  const uint8_t* bytes_;
  size_t left_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_FUZZ_BYTES_H_
