#include "tools/attach/python_target.h"

#include <gtest/gtest.h>

#include <string>

namespace utlz::attach {
namespace {

MemoryMap MapOf(const std::string& path) {
  return MemoryMap::Parse("1000-2000 r-xp 0 08:01 5 " + path + "\n");
}

TEST(PythonTargetTest, ReadsVersion) {
  const auto library = FindPython(MapOf("/usr/lib/libpython3.12.so.1.0"), "", "");
  ASSERT_TRUE(library);
  EXPECT_EQ(library->minor_version, 12);
  EXPECT_FALSE(library->may_run_scripts);
  const auto program = FindPython(MapOf("/venv/bin/python3.14"), "", "");
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->may_run_scripts);
}

TEST(PythonTargetTest, IsAbsentElsewhere) {
  EXPECT_FALSE(FindPython(MapOf("/usr/bin/perl"), "", ""));
  EXPECT_FALSE(FindPython(MapOf("/usr/bin/python3"), "", ""));
}

TEST(PythonTargetTest, SeesThatItIsSwitchedOff) {
  const MemoryMap map = MapOf("/venv/bin/python3.14");
  const auto runs = [&map](const std::string& command_line, const std::string& environment) {
    return FindPython(map, command_line, environment)->may_run_scripts;
  };
  using namespace std::string_literals;
  EXPECT_FALSE(runs("python3.14\0-X\0disable_remote_debug\0a.py\0"s, ""));
  EXPECT_FALSE(runs("python3.14\0-Xdisable_remote_debug\0a.py\0"s, ""));
  EXPECT_FALSE(runs("", "HOME=/\0PYTHON_DISABLE_REMOTE_DEBUG=1\0"s));
  EXPECT_TRUE(runs("python3.14\0a.py\0"s, "PYTHON_DISABLE_REMOTE_DEBUG=\0"s));
}

}  // namespace
}  // namespace utlz::attach
