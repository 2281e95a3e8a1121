#include "tools/export/gzip_stream.h"

#include <algorithm>

namespace utlz {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // the largest window; 16 more: gzip's head and checksum
constexpr int kMemoryLevel = 8;           // zlib's default
constexpr size_t kChunkBytes = 64u << 10;

}  // namespace

GzipStream::GzipStream(std::ostream* out) : out_(out) {
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    out_->setstate(std::ios::badbit);
  }
}

GzipStream::~GzipStream() { deflateEnd(&stream_); }

void GzipStream::Compress(std::string_view bytes, int flush) {
  Bytef chunk[kChunkBytes];
  do {
    if (!*out_) return;
    const size_t taken = std::min(bytes.size(), kChunkBytes);
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(taken);
    bytes.remove_prefix(taken);
    do {
      stream_.next_out = chunk;
      stream_.avail_out = kChunkBytes;
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) return out_->setstate(std::ios::badbit);
      out_->write(reinterpret_cast<const char*>(chunk),
                  static_cast<std::streamsize>(kChunkBytes - stream_.avail_out));
    } while (stream_.avail_out == 0 && *out_);
  } while (!bytes.empty());
}

}  // namespace utlz
