#include "proto/inductor_file.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz {
namespace {

const std::string kDigits = "yj5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3mjkapuhz";

TEST(InductorFileTest, NamesAreOfAHashInAFolderOfItsBegin) {
  ASSERT_EQ(kDigits.size(), 51u);
  EXPECT_TRUE(IsInductorFile("/tmp/torchinductor_me/yj/c" + kDigits + ".py"));
  EXPECT_TRUE(IsInductorFile("cache/yj/c" + kDigits + ".py"));
  EXPECT_TRUE(IsInductorFile("yj/c" + kDigits + ".py")) << "the end of a long path";
}

TEST(InductorFileTest, OtherFilesAreNone) {
  for (const std::string& path :
       {std::string(), std::string("train.py"), "/tmp/zz/c" + kDigits + ".py",
        "/tmp/yj/d" + kDigits + ".py", "/tmp/yj/c" + kDigits + ".so", "/tmp/yjc" + kDigits + ".py",
        "c" + kDigits + ".py", "/tmp/yj/c" + kDigits.substr(1) + "1.py",
        "/tmp/yj/c" + kDigits.substr(0, 50) + "A.py", "/tmp/yj/cc" + kDigits + ".py"}) {
    EXPECT_FALSE(IsInductorFile(path)) << path;
  }
}

}  // namespace
}  // namespace utlz
