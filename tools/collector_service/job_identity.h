// Which job a process belongs to, so that each job has one profile on a host.
//
// Trust: what a process's environment says, its user chose. A job is therefore always one user's,
// and a process that lies ends up among the other processes of its own user.
#ifndef UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_IDENTITY_H_
#define UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_IDENTITY_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/metrics/places.h"

namespace utlz {

struct JobIdentity {
  std::string key;   // the same for all processes of the job
  std::string name;  // for people: well-formed, at most kMaxLabelBytes; not unique
  std::vector<std::string> command;  // of the process that was asked about, at most 4 KiB
  bool attached = false;  // to, by a rule: its processes did not come by themselves
};

// What /proc says of a process, beside its place.
struct ProcessOrigin {
  std::string program;  // its name; empty: unknown
  pid_t session = 0;    // 0: unknown
  uint64_t start_time = 0;  // in the kernel's ticks since the machine started; 0: unknown
};

// "PID (NAME) STATE PARENT GROUP SESSION …", with the start time as the 22nd word.
ProcessOrigin ParseStat(const std::string& stat);

// ProcessOrigin::start_time of a process.
uint64_t ReadStartTime(const std::string& proc, pid_t pid);

// UTLZ_JOB or a batch system's job, else the pod, else the session of processes (setsid).
JobIdentity JobOf(uid_t user, const ProcessPlace& place, const ProcessOrigin& origin);

// `proc` is "/proc", or what stands for it in a test; pid 0 is a process that cannot be seen.
JobIdentity IdentifyJob(const std::string& proc, pid_t pid, uid_t user);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COLLECTOR_SERVICE_JOB_IDENTITY_H_
