#include "inject/record/string_table.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz::agent {
namespace {

TEST(StringTable, GivesOneIdentifierToOneText) {
  StringTable table;
  ASSERT_TRUE(table.Create());
  const uint32_t gemm = table.Intern("gemm");
  const std::string copy = "gemm";
  EXPECT_EQ(table.Intern(copy.c_str()), gemm);
  EXPECT_NE(table.Intern("gemv"), gemm);
  EXPECT_EQ(table.Intern(""), 0u);
  EXPECT_EQ(table.Intern(nullptr), 0u);
  EXPECT_STREQ(table.Text(gemm), "gemm");
  EXPECT_EQ(table.Length(gemm), 4u);
}

TEST(StringTable, ComparesContentsAndNotPrefixes) {
  StringTable table;
  ASSERT_TRUE(table.Create());
  const uint32_t id = table.Intern("abc");
  EXPECT_TRUE(table.Equals(id, "abc"));
  EXPECT_FALSE(table.Equals(id, "abcd"));
  EXPECT_FALSE(table.Equals(id, "ab"));
  EXPECT_FALSE(table.Equals(id, nullptr));
}

TEST(StringTable, CutsEndlessNames) {
  StringTable table;
  ASSERT_TRUE(table.Create());
  const std::string endless(100000, 'x');
  const uint32_t id = table.Intern(endless.c_str());
  EXPECT_EQ(table.Length(id), StringTable::kMaxStringBytes);
  EXPECT_TRUE(table.Equals(id, endless.c_str()));
}

TEST(StringTable, FullTableAnswersWithTheEmptyString) {
  StringTable table;
  ASSERT_TRUE(table.Create());
  for (uint32_t i = 1; i < StringTable::kMaxStrings; ++i) {
    ASSERT_EQ(table.Intern(std::to_string(i).c_str()), i);
  }
  EXPECT_EQ(table.Intern("one too many"), 0u);
  EXPECT_EQ(table.Intern("17"), 17u);
}

}  // namespace
}  // namespace utlz::agent
