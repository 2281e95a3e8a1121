// Reads a pprof file back, apart from the code that wrote it; for tests.
#ifndef UTLZ_TESTS_UNIT_EXPORT_PPROF_FILE_H_
#define UTLZ_TESTS_UNIT_EXPORT_PPROF_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace utlz {

struct PprofFileFrame {
  std::string function;
  std::string file;
  int64_t line = 0;

  bool operator==(const PprofFileFrame&) const = default;
};

struct PprofFileSample {
  std::vector<PprofFileFrame> stack;          // innermost first
  std::map<std::string, int64_t> values;      // by type
  std::map<std::string, std::string> labels;  // numbers as text
};

struct PprofFile {
  std::vector<std::string> types;  // "gpu_time/nanoseconds"
  std::vector<PprofFileSample> samples;
  std::vector<std::string> comments;
  int64_t time_ns = 0;

  int64_t Sum(const std::string& type) const;
  // Of samples whose innermost frames have these names.
  int64_t SumUnder(const std::vector<std::string>& names, const std::string& type) const;
};

PprofFile ReadPprof(const std::string& path);

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_EXPORT_PPROF_FILE_H_
