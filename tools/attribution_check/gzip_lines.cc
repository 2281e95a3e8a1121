#include "tools/attribution_check/gzip_lines.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

constexpr uint64_t kMostBytes = uint64_t{4} << 30;

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadGzipLines(const std::string& path) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  std::vector<std::string> lines;
  std::string line;
  std::vector<char> buffer(size_t{1} << 16);
  uint64_t total = 0;
  while (true) {
    const int got = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (got < 0) return absl::DataLossError(absl::StrCat(path, " is no intact gzip file"));
    if (got == 0) break;
    total += static_cast<uint64_t>(got);
    if (total > kMostBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(path, " holds more than 4 GiB of text"));
    }
    for (int i = 0; i < got; ++i) {
      const char next = buffer[static_cast<size_t>(i)];
      if (next != '\n') {
        line.push_back(next);
        continue;
      }
      if (!line.empty() && line.back() == '\r') line.pop_back();
      lines.push_back(std::move(line));
      line.clear();
    }
  }
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error != Z_OK && error != Z_STREAM_END) {
    return absl::DataLossError(absl::StrCat(path, " ends too early"));
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace utlz
