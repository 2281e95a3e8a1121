// Finds the collectives in a profile.
#ifndef UTLZ_TOOLS_MERGE_COLLECTIVE_READER_H_
#define UTLZ_TOOLS_MERGE_COLLECTIVE_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/profile.pb.h"
#include "tools/merge/collective.h"

namespace utlz {

// Numbers for kernel names, shared by all profiles of a merge.
using NameNumbers = std::map<std::string, uint32_t>;

// What a merge must know of a profile before it writes anything.
struct ProfileOutline {
  std::string path;
  std::string host;
  RunStart start;
  RunEnd end;
  bool has_end = false;
  uint32_t sources = 0;  // the highest index of a process
  std::vector<RankTrace> ranks;
};

// Reads the profile once. At most a million collectives of a process are kept, the first ones.
// Errors: as ProfileReader::Open.
absl::StatusOr<ProfileOutline> ReadOutline(const std::string& path, NameNumbers* names);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_COLLECTIVE_READER_H_
