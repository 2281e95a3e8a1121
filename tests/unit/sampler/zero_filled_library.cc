// A library that writes over its own data when it is loaded, most of it with zeros.
#include <cstddef>
#include <cstring>

namespace {

constexpr size_t kBytes = size_t{8} << 20;
constexpr size_t kMark = (size_t{3} << 20) + 17;
char data[kBytes];

__attribute__((constructor)) void Fill() {
  std::memset(data, 0x55, kBytes);
  std::memset(data, 0, kBytes);
  data[kMark] = 42;
}

}  // namespace

extern "C" {
char* ZeroFilledData() { return data; }
size_t ZeroFilledBytes() { return kBytes; }
size_t ZeroFilledMark() { return kMark; }
}
