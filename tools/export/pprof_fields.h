// Field numbers of pprof's format (its proto/profile.proto), those that are written.
#ifndef UTLZ_TOOLS_EXPORT_PPROF_FIELDS_H_
#define UTLZ_TOOLS_EXPORT_PPROF_FIELDS_H_

#include <cstdint>

namespace utlz::pprof_fields {

enum Profile : uint32_t {
  kSampleTypes = 1,
  kSamples = 2,
  kLocations = 4,
  kFunctions = 5,
  kStrings = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kComments = 13,
  kDefaultSampleType = 14,
};

enum ValueType : uint32_t { kType = 1, kUnit = 2 };

enum Sample : uint32_t { kLocationIds = 1, kValues = 2, kLabels = 3 };
enum Label : uint32_t { kKey = 1, kText = 2, kNumber = 3 };

enum Location : uint32_t { kLocationId = 1, kLines = 4 };
enum Line : uint32_t { kFunctionId = 1, kLineNumber = 2 };

enum Function : uint32_t { kFunctionIdentifier = 1, kName = 2, kSystemName = 3, kFileName = 4 };

}  // namespace utlz::pprof_fields

#endif  // UTLZ_TOOLS_EXPORT_PPROF_FIELDS_H_
