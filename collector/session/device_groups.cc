#include "collector/session/device_groups.h"

#include <algorithm>
#include <utility>

namespace utlz {

void DeviceGroups::AddDevice(const std::string& uuid) { parents_.try_emplace(uuid, uuid); }

void DeviceGroups::AddProcess(const std::vector<std::string>& uuids,
                              const std::map<uint64_t, uint32_t>& communicators) {
  for (const std::string& uuid : uuids) {
    AddDevice(uuid);
    Join(uuids.front(), uuid);
  }
  if (uuids.empty()) return;
  for (const auto& [id, ranks] : communicators) {
    const auto [entry, is_first] = communicators_.try_emplace(id, Communicator{uuids.front()});
    Communicator& communicator = entry->second;
    ++communicator.processes;
    communicator.ranks = std::max(communicator.ranks, ranks);
    Join(communicator.uuid, uuids.front());
  }
}

std::vector<DeviceGroup> DeviceGroups::Groups() const {
  std::map<std::string, DeviceGroup> by_root;
  for (const auto& [uuid, parent] : parents_) by_root[Root(uuid)].uuids.push_back(uuid);
  for (const auto& [id, communicator] : communicators_) {
    if (communicator.ranks > communicator.processes) {
      by_root[Root(communicator.uuid)].has_others = true;
    }
  }
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
