#include "tools/attribution_check/gzip_lines.h"

#include <zlib.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace utlz {
namespace {

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

// Hands on lines as the text comes in.
class LineCutter {
 public:
  LineCutter(const std::string& path,
             const std::function<absl::Status(size_t, absl::string_view)>& take)
      : path_(path), take_(take) {}

  absl::Status Add(absl::string_view text) {
    while (true) {
      const size_t end = text.find('\n');
      absl::StrAppend(&line_, text.substr(0, end));
      if (line_.size() > kLongestLine) {
        return absl::ResourceExhaustedError(
            absl::StrCat(path_, " line ", lines_ + 1, " has more than ", kLongestLine, " bytes"));
      }
      if (end == absl::string_view::npos) return absl::OkStatus();
      if (const absl::Status status = EndLine(); !status.ok()) return status;
      text.remove_prefix(end + 1);
    }
  }

  absl::Status Finish() { return line_.empty() ? absl::OkStatus() : EndLine(); }

 private:
  absl::Status EndLine() {
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (++lines_ > kMostLines) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path_, " has more than ", kMostLines, " lines"));
    }
    const absl::Status status = take_(lines_, line_);
    line_.clear();
    return status;
  }

  const std::string& path_;
  const std::function<absl::Status(size_t, absl::string_view)>& take_;
  std::string line_;
  size_t lines_ = 0;
};

}  // namespace

absl::Status ForEachGzipLine(const std::string& path,
                             const std::function<absl::Status(size_t, absl::string_view)>& take) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  std::vector<char> buffer(size_t{1} << 16);
  LineCutter lines(path, take);
  while (true) {
    const int got = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (got < 0) return absl::DataLossError(absl::StrCat(path, " is no intact gzip file"));
    if (got == 0) break;
    const absl::Status status = lines.Add({buffer.data(), static_cast<size_t>(got)});
    if (!status.ok()) return status;
  }
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error != Z_OK && error != Z_STREAM_END) {
    return absl::DataLossError(absl::StrCat(path, " ends too early"));
  }
  return lines.Finish();
}

}  // namespace utlz
