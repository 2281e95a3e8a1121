#include "collector/sampling/library_search.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

TEST(LibrarySearch, PrefersTheNewestToolkitAndNamesEachLibraryOnce) {
  const TemporaryFolder root;
  const std::string old_path = root.Write("usr/local/cuda-13.9/lib64/libcupti.so.13", "");
  const std::string new_path = root.Write("usr/local/cuda-13.10/lib64/libcupti.so.13", "");
  ASSERT_EQ(symlink("cuda-13.10", (root.path() + "/usr/local/cuda").c_str()), 0);
  const std::string wheel =
      root.Write("usr/lib/python3/dist-packages/nvidia/cu13/lib/libcupti.so.13", "");
  root.Write("usr/local/cuda-11/lib64/libcupti.so.11", "");
  EXPECT_EQ(CuptiPaths({.named_path = "", .own_folder = "", .root_directory = root.path()}),
            (std::vector<std::string>{new_path, old_path, wheel}));
}

TEST(LibrarySearch, WhatTheUserNamedStandsAlone) {
  EXPECT_EQ(CuptiPaths({.named_path = "/my/libcupti.so", .own_folder = ""}),
            std::vector<std::string>{"/my/libcupti.so"});
}

TEST(LibrarySearch, ACopyBesideUsComesFirst) {
  const TemporaryFolder root;
  const std::string ours = root.Write("opt/utlz/lib/utlz/libcupti.so.13", "");
  root.Write("opt/utlz/bin/utlz", "");
  root.Write("usr/local/cuda-13.0/lib64/libcupti.so.13", "");
  const std::vector<std::string> paths = CuptiPaths({.named_path = "",
                                                     .own_folder = root.path() + "/opt/utlz/bin",
                                                     .root_directory = root.path()});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0], ours);
}

TEST(LibrarySearch, WhatOthersMayWriteIsNotLoaded) {
  const TemporaryFolder root;
  const std::string path = root.Write("usr/local/cuda-13.0/lib64/libcupti.so.13", "");
  EXPECT_TRUE(IsTrustedFile(path));
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_FALSE(IsTrustedFile(path));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(chmod((root.path() + "/usr/local").c_str(), 0777), 0);
  EXPECT_FALSE(IsTrustedFile(path));
  EXPECT_TRUE(
      CuptiPaths({.named_path = "", .own_folder = "", .root_directory = root.path()}).empty());
  EXPECT_FALSE(IsTrustedFile(root.path() + "/missing"));
  EXPECT_FALSE(IsTrustedFile(root.path()));
}

}  // namespace
}  // namespace utlz
