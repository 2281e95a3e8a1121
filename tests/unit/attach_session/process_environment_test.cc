#include "tools/attach_session/process_environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace utlz {
namespace {

using std::string_literals::operator""s;

TEST(FindVariable, TakesWholeNamesAlone) {
  const std::string environment = "PATH=/bin\0PATHS=/sbin\0EMPTY=\0EQUAL=a=b\0BARE"s;
  EXPECT_EQ(FindVariable(environment, "PATH"), "/bin");
  EXPECT_EQ(FindVariable(environment, "PATHS"), "/sbin");
  EXPECT_EQ(FindVariable(environment, "EMPTY"), "");
  EXPECT_EQ(FindVariable(environment, "EQUAL"), "a=b");
  EXPECT_EQ(FindVariable(environment, "BARE"), std::nullopt) << "no value";
  EXPECT_EQ(FindVariable(environment, "PAT"), std::nullopt);
  EXPECT_EQ(FindVariable("", "PATH"), std::nullopt);
}

TEST(StartedWith, KnowsNothingOfProcessesThatHaveEnded) {
  EXPECT_EQ(StartedWith(getpid(), "UTLZ_NO_SUCH_VARIABLE"), std::nullopt);
  EXPECT_EQ(StartedWith(1 << 30, "PATH"), std::nullopt);
}

}  // namespace
}  // namespace utlz
