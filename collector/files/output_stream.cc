#include "collector/files/output_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace utlz {
namespace {

constexpr size_t kBufferBytes = 64 << 10;

}  // namespace

OutputStream::Buffer::Buffer(int fd) : fd_(fd), bytes_(kBufferBytes) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

int OutputStream::Buffer::sync() {
  const char* from = pbase();
  while (from < pptr()) {
    const ssize_t count = ::write(fd_, from, static_cast<size_t>(pptr() - from));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return -1;
    from += count;
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return 0;
}

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type byte) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  return sputc(traits_type::to_char_type(byte));
}

}  // namespace utlz
