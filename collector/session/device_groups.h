// GPUs whose processes compute together, so that what delays one delays all: a process on several
// GPUs, and processes that share a communicator. Windows of one group coincide: a delay of one rank
// after the other would cost the job each of them.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_DEVICE_GROUPS_H_
#define UTLZ_COLLECTOR_SESSION_DEVICE_GROUPS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace utlz {

using DeviceGroup = std::vector<std::string>;  // UUIDs, in order

class DeviceGroups {
 public:
  // A GPU that something uses, as far as is known alone.
  void AddDevice(const std::string& uuid);
  // A process that has contexts on these GPUs (CollectivePeers::communicators).
  void AddProcess(const std::vector<std::string>& uuids, const std::set<uint64_t>& communicators);

  // Each GPU is in one.
  std::vector<DeviceGroup> Groups() const;

 private:
  std::string Root(const std::string& uuid) const;
  void Join(const std::string& one, const std::string& other);

  std::map<std::string, std::string> parents_;  // of a root: itself
  std::map<uint64_t, std::string> first_on_;    // a GPU of the first process, by communicator
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_DEVICE_GROUPS_H_
