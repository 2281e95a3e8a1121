#include "collector/session/device_groups.h"

#include <utility>

namespace utlz {

void DeviceGroups::AddDevice(const std::string& uuid) { parents_.try_emplace(uuid, uuid); }

void DeviceGroups::AddProcess(const std::vector<std::string>& uuids,
                              const std::set<uint64_t>& communicators) {
  for (const std::string& uuid : uuids) {
    AddDevice(uuid);
    Join(uuids.front(), uuid);
  }
  if (uuids.empty()) return;
  for (const uint64_t communicator : communicators) {
    Join(first_on_.try_emplace(communicator, uuids.front()).first->second, uuids.front());
  }
}

std::vector<DeviceGroup> DeviceGroups::Groups() const {
  std::map<std::string, DeviceGroup> by_root;
  for (const auto& [uuid, parent] : parents_) by_root[Root(uuid)].push_back(uuid);
  std::vector<DeviceGroup> groups;
  groups.reserve(by_root.size());
  for (auto& [root, group] : by_root) groups.push_back(std::move(group));
  return groups;
}

std::string DeviceGroups::Root(const std::string& uuid) const {
  std::string root = uuid;
  while (parents_.at(root) != root) root = parents_.at(root);
  return root;
}

void DeviceGroups::Join(const std::string& one, const std::string& other) {
  parents_[Root(other)] = Root(one);
}

}  // namespace utlz
