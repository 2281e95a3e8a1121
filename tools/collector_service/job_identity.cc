#include "tools/collector_service/job_identity.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/metrics/label_text.h"
#include "tools/attach/target/proc_file.h"
#include "tools/exporter/find_places.h"

namespace utlz {
namespace {

constexpr size_t kMaxStatBytes = 1024;
constexpr size_t kMaxCommandBytes = 4096;
constexpr size_t kStartTimeWord = 19;  // after the name

// Empty where it cannot be read.
std::string ReadStart(const std::string& path, size_t most_bytes) {
  return attach::ReadSmallFile(path, most_bytes).value_or("");
}

// The number that is the word of this index, from 0 on; 0 where it is none.
uint64_t NumberAt(const std::string& text, size_t index) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  uint64_t number = 0;
  return index < words.size() && absl::SimpleAtoi(words[index], &number) ? number : 0;
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

// The name may hold anything, brackets too: it ends at the last one.
ProcessOrigin ParseStat(const std::string& stat) {
  ProcessOrigin origin;
  const size_t begin = stat.find('(');
  const size_t end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return origin;
  origin.program = stat.substr(begin + 1, end - begin - 1);
  char state = 0;
  int parent = 0;
  int group = 0;
  int session = 0;
  if (std::sscanf(stat.c_str() + end + 1, " %c %d %d %d", &state, &parent, &group, &session) == 4 &&
      session > 0) {
    origin.session = session;
  }
  origin.start_time = NumberAt(stat.substr(end + 1), kStartTimeWord);
  return origin;
}

uint64_t ReadStartTime(const std::string& proc, pid_t pid) {
  return ParseStat(ReadStart(absl::StrCat(proc, "/", pid, "/stat"), kMaxStatBytes)).start_time;
}

JobIdentity JobOf(uid_t user, const ProcessPlace& place, const ProcessOrigin& origin) {
  JobIdentity job;
  if (!place.job.empty()) {
    job.key = absl::StrCat(user, "/job/", place.job);
    job.name = LabelText(place.job);
  } else if (!place.pod_uid.empty()) {
    job.key = absl::StrCat(user, "/pod/", place.pod_uid);
    job.name = LabelText(place.pod.empty() ? place.pod_uid : place.pod);
  } else {
    job.key = absl::StrCat(user, "/session/", origin.session);
    job.name = LabelText(
        absl::StrCat(origin.program.empty() ? "unknown" : origin.program, "-", origin.session));
  }
  return job;
}

JobIdentity IdentifyJob(const std::string& proc, pid_t pid, uid_t user) {
  if (pid <= 0) return JobOf(user, {}, {});
  const std::string folder = absl::StrCat(proc, "/", pid);
  const ProcessPlace place = FindProcess(proc, static_cast<uint64_t>(pid));
  JobIdentity job = JobOf(user, place, ParseStat(ReadStart(folder + "/stat", kMaxStatBytes)));
  job.command = Words(ReadStart(folder + "/cmdline", kMaxCommandBytes));
  return job;
}

}  // namespace utlz
