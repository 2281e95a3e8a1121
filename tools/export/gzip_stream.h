// Compresses what it is given, as a gzip file. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_GZIP_STREAM_H_
#define UTLZ_TOOLS_EXPORT_GZIP_STREAM_H_

#include <zlib.h>

#include <ostream>
#include <string_view>

namespace utlz {

class GzipStream {
 public:
  // `out` outlives it.
  explicit GzipStream(std::ostream* out);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // What cannot be compressed or written fails `out`.
  void Write(std::string_view bytes) { Compress(bytes, Z_NO_FLUSH); }
  // Once, after the last byte.
  void Finish() { Compress({}, Z_FINISH); }

 private:
  void Compress(std::string_view bytes, int flush);

  std::ostream* out_;
  z_stream stream_ = {};
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_GZIP_STREAM_H_
