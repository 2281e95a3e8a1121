// Lets one thread use files as another user does.
#ifndef UTLZ_COLLECTOR_FILES_AS_USER_H_
#define UTLZ_COLLECTOR_FILES_AS_USER_H_

#include <sys/types.h>

#include <optional>
#include <vector>

namespace utlz {

// By whom the kernel judges access to files.
struct FileUser {
  uid_t user_id = 0;
  gid_t group_id = 0;
  std::vector<gid_t> groups = {};  // supplementary ones
};

// During its life, what this thread does with files has that user's rights and none of ours: its
// user, its group, and its supplementary groups instead of those that we were started with. Needs
// root's rights, unless that user is the one whom we are already. Other threads are not touched.
class AsUser {
 public:
  explicit AsUser(const FileUser& user);
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;
  ~AsUser();

  // False: we may not, and the caller must not go on.
  bool changed() const { return changed_; }

 private:
  uid_t old_user_;
  gid_t old_group_;
  std::vector<gid_t> old_groups_;
  bool groups_replaced_ = false;
  bool changed_ = false;
};

// The user who became root through sudo or pkexec to run this process; none where that is unknown,
// or this process is not root's. Their environment variables name the user: root who sets
// them falsely gives rights away and gains none.
std::optional<FileUser> InvokingUser();

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_FILES_AS_USER_H_
