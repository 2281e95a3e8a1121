// Writes a profile in pprof's format: samples with a stack and several values each.
//
// Texts may hold any bytes. Memory grows with the samples and with what names them, which the
// caller bounds. Thread safety: none.
#ifndef UTLZ_TOOLS_EXPORT_PPROF_WRITER_H_
#define UTLZ_TOOLS_EXPORT_PPROF_WRITER_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace utlz {

struct PprofValueType {
  std::string_view type;  // "gpu_time"
  std::string_view unit;  // "nanoseconds", "count", "bytes"
};

// One level of a stack.
struct PprofFrame {
  std::string_view name;
  std::string_view system_name;  // mangled; empty: as `name`
  std::string_view file;
  uint64_t line = 0;  // 0: not known
};

// A text, or a number where there is none.
struct PprofLabel {
  std::string_view key;
  std::string_view text;
  uint64_t number = 0;
};

class PprofWriter {
 public:
  // The first type is what viewers show at first. Every sample has a value of each.
  explicit PprofWriter(std::span<const PprofValueType> types);

  // The run's start since 1970, and how long it took.
  void SetTime(uint64_t start_ns, uint64_t duration_ns);
  void AddComment(std::string_view comment);
  // The same for equal frames.
  uint64_t LocationOf(const PprofFrame& frame);
  // `locations`: innermost first.
  void AddSample(std::span<const uint64_t> locations, std::span<const int64_t> values,
                 std::span<const PprofLabel> labels);

  // Once, gzip-compressed. What cannot be written fails `out`.
  void Write(std::ostream* out);

 private:
  using FunctionKey = std::tuple<int64_t, int64_t, int64_t>;  // name, system name, file

  int64_t StringOf(std::string_view text);
  uint64_t FunctionOf(const PprofFrame& frame);
  void Emit(uint32_t field, const std::string& message);

  std::unordered_map<std::string, int64_t> strings_;
  std::map<FunctionKey, uint64_t> functions_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> locations_;  // (function, line)
  std::string string_table_;                                     // as encoded
  std::string body_;                                             // all else, as encoded
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_PPROF_WRITER_H_
