// Files of a second user, which only root can make.
#ifndef UTLZ_TESTS_UNIT_FILES_ANOTHER_USER_H_
#define UTLZ_TESTS_UNIT_FILES_ANOTHER_USER_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/support/nobody.h"

namespace utlz {

constexpr char kNeedsRoot[] = "a second user's files are made by root alone";

// A folder of that user's in ours, which everybody may enter.
inline std::string FolderOf(uid_t user, const std::string& parent, const std::string& name) {
  const std::string path = parent + "/" + name;
  EXPECT_EQ(chmod(parent.c_str(), 0755), 0);
  EXPECT_EQ(mkdir(path.c_str(), 0755), 0);
  EXPECT_EQ(chown(path.c_str(), user, user), 0);
  return path;
}

inline void LinkOf(uid_t user, const std::string& target, const std::string& path) {
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  ASSERT_EQ(lchown(path.c_str(), user, user), 0);
}

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_FILES_ANOTHER_USER_H_
