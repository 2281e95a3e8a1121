// GPUs whose processes compute together, so that what delays one delays all: those of a process on
// several GPUs, and of processes that share a communicator. Windows of a group coincide: delays of
// one rank after the other would cost the job each of them.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_DEVICE_GROUPS_H_
#define UTLZ_COLLECTOR_SESSION_DEVICE_GROUPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace utlz {

struct DeviceGroup {
  std::vector<std::string> uuids;  // in order
  // Some who compute with its processes are not seen here: they are on other hosts, or not
  // profiled.
  bool has_others = false;
};

class DeviceGroups {
 public:
  // A GPU that a process uses. It is alone unless AddProcess() says more.
  void AddDevice(const std::string& uuid);
  // A process that has contexts on these GPUs (CollectivePeers::communicators).
  void AddProcess(const std::vector<std::string>& uuids,
                  const std::map<uint64_t, uint32_t>& communicators);

  // Each GPU is in one.
  std::vector<DeviceGroup> Groups() const;

 private:
  struct Communicator {
    std::string uuid;  // a GPU of the first process
    uint32_t processes = 0;
    uint32_t ranks = 0;  // 0: that is not known
  };

  std::string Root(const std::string& uuid) const;
  void Join(const std::string& one, const std::string& other);

  std::map<std::string, std::string> parents_;  // of a root: itself
  std::map<uint64_t, Communicator> communicators_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_DEVICE_GROUPS_H_
