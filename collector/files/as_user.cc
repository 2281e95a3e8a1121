#include "collector/files/as_user.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"

namespace utlz {
namespace {

constexpr auto kNoChange = static_cast<uid_t>(-1);
constexpr int kMostGroups = 65536;  // the kernel's own limit

uid_t CurrentUser() { return static_cast<uid_t>(setfsuid(kNoChange)); }
gid_t CurrentGroup() { return static_cast<gid_t>(setfsgid(kNoChange)); }

std::vector<gid_t> CurrentGroups() {
  const int count = getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<size_t>(std::max(count, 0)));
  if (count > 0 && getgroups(count, groups.data()) != count) groups.clear();
  return groups;
}

// The C library's setgroups changes every thread of the process.
bool SetGroupsOfThread(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

std::optional<uint32_t> NumberIn(const char* variable) {
  const char* text = secure_getenv(variable);
  uint32_t number = 0;
  if (text == nullptr || !absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

// As the user's own log-in would have them.
std::vector<gid_t> GroupsOf(const char* name, gid_t group_id) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  if (getgrouplist(name, group_id, groups.data(), &count) < 0) {
    count = std::min(count, kMostGroups);
    groups.resize(static_cast<size_t>(count));
    if (getgrouplist(name, group_id, groups.data(), &count) < 0) return {group_id};
  }
  groups.resize(static_cast<size_t>(count));
  return groups;
}

}  // namespace

AsUser::AsUser(const FileUser& user) : old_user_(CurrentUser()), old_group_(CurrentGroup()) {
  if (old_user_ == user.user_id && old_group_ == user.group_id) {
    changed_ = true;
    return;
  }
  old_groups_ = CurrentGroups();
  groups_replaced_ = SetGroupsOfThread(user.groups);
  if (!groups_replaced_) return;
  setfsgid(user.group_id);
  setfsuid(user.user_id);
  changed_ = CurrentUser() == user.user_id && CurrentGroup() == user.group_id;
}

AsUser::~AsUser() {
  if (!groups_replaced_) return;
  setfsuid(old_user_);
  setfsgid(old_group_);
  SetGroupsOfThread(old_groups_);
}

std::optional<FileUser> InvokingUser() {
  if (geteuid() != 0) return std::nullopt;
  const std::optional<uint32_t> sudo_user = NumberIn("SUDO_UID");
  const uid_t user_id = sudo_user ? *sudo_user : NumberIn("PKEXEC_UID").value_or(0);
  if (user_id == 0 || user_id == kNoChange) return std::nullopt;
  passwd entry = {};
  passwd* found = nullptr;
  char buffer[16384];
  getpwuid_r(user_id, &entry, buffer, sizeof(buffer), &found);
  const std::optional<uint32_t> sudo_group = sudo_user ? NumberIn("SUDO_GID") : std::nullopt;
  if (!sudo_group && found == nullptr) return std::nullopt;
  FileUser user{.user_id = user_id, .group_id = sudo_group ? *sudo_group : found->pw_gid};
  if (found != nullptr) user.groups = GroupsOf(found->pw_name, user.group_id);
  return user;
}

}  // namespace utlz
