// Pythons that load the library themselves, and those that do not: a stand-in for CPython 3.14 on
// every machine, and the real one where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/attach/probe_protocol.h"
#include "tests/attach/target_process.h"
#include "tools/attach/loader.h"

namespace utlz::attach {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// For Pythons that will answer, or will not.
LoadOptions Patient() {
  LoadOptions options;
  options.python_patience = std::chrono::seconds(60);
  options.search_time = std::chrono::milliseconds(1);
  options.parameters = "as the tool wrote it";
  return options;
}
LoadOptions Impatient() {
  LoadOptions options;
  options.python_patience = std::chrono::milliseconds(60);
  options.search_time = std::chrono::milliseconds(100);
  return options;
}

std::string Python314() {
  const char* chosen = std::getenv("UTLZ_PYTHON314");
  if (chosen != nullptr) return chosen;
  const bool present = std::system("python3.14 -c '' 2> /dev/null") == 0;
  return present ? "python3.14" : "";
}

int FoldersLeft(const TargetProcess& target) {
  const std::string prefix = "utlz-attach-" + std::to_string(target.pid()) + "-";
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
    folders += entry.path().filename().string().starts_with(prefix) ? 1 : 0;
  }
  return folders;
}

void ExpectLoadedByPython(TargetProcess& target, const std::string& program) {
  ASSERT_TRUE(target.WaitUntilReady()) << target.Output();
  const auto descriptors = target.Descriptors();
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(loaded->by_python);
  ProbeHello hello = {};
  ASSERT_EQ(recv(loaded->socket.get(), &hello, sizeof(hello), 0),
            static_cast<ssize_t>(sizeof(hello)));
  EXPECT_STREQ(hello.parameters, "as the tool wrote it");
  EXPECT_EQ(hello.socket_is_named, 1u);
  // The interpreter's own thread closes its two sockets a moment after it has answered.
  EXPECT_TRUE(
      target.WaitUntil([&] { return target.Descriptors().size() == descriptors.size() + 1; }));
  for (const auto& [number, path] : target.Descriptors()) {
    EXPECT_TRUE(descriptors.contains(number) || number >= 128) << number << " " << path;
  }
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  const auto second = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists) << second.status();
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), program + " ended with 0\n");
  EXPECT_EQ(FoldersLeft(target), 0);
}

// Neither way in: both are named, and the target prints nothing of it.
void ExpectRefused(TargetProcess& target, const std::string& program,
                   const testing::Matcher<std::string>& sentence) {
  ASSERT_TRUE(target.WaitUntilReady()) << target.Output();
  const auto descriptors = target.Descriptors();
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Impatient());
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kUnavailable) << loaded.status();
  EXPECT_THAT(std::string(loaded.status().message()),
              AllOf(HasSubstr("could be lent within 100 ms"), sentence));
  EXPECT_EQ(FoldersLeft(target), 0);
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Descriptors(), descriptors);
  EXPECT_EQ(target.StatusField("Threads"), program == "lock" ? "2" : "1");
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), program + " ended with 0\n");
}

class StandInTest : public testing::Test {
 protected:
  StandInTest() { setenv("UTLZ_STAND_IN_LIBRARY", UTLZ_STAND_IN_LIBRARY, 1); }
  static TargetProcess Start(const std::string& program) {
    return TargetProcess({UTLZ_PYTHON, UTLZ_PYTHON_TARGET, program});
  }
};

TEST_F(StandInTest, LoadsWhenToldToLook) {
  TargetProcess target = Start("stand-in-told");
  ExpectLoadedByPython(target, "stand-in-told");
}

TEST_F(StandInTest, LoadsWithoutBeingTold) {
  TargetProcess target = Start("stand-in-looks");
  ExpectLoadedByPython(target, "stand-in-looks");
}

TEST_F(StandInTest, AnotherProcessIsNotListenedTo) {
  TargetProcess target = Start("stand-in-forestalled");
  ExpectLoadedByPython(target, "stand-in-forestalled");
}

TEST_F(StandInTest, NumberOfWhatIsNoSocket) {
  TargetProcess target = Start("stand-in-lies");
  ASSERT_TRUE(target.WaitUntilReady()) << target.Output();
  const auto descriptors = target.Descriptors();
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient());
  EXPECT_THAT(std::string(loaded.status().message()),
              HasSubstr("Python 3.14 began to load the agent and gave up"));
  EXPECT_TRUE(target.WaitUntil([&] { return target.Descriptors() == descriptors; }));
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), "stand-in-lies ended with 0\n");
  EXPECT_EQ(FoldersLeft(target), 0);
}

TEST_F(StandInTest, RequestIsTakenBack) {
  TargetProcess target = Start("stand-in-deaf");
  ExpectRefused(
      target, "stand-in-deaf",
      HasSubstr("and its Python 3.14 was asked to load the agent and did not answer within "
                "60 ms"));
}

TEST_F(StandInTest, ScriptThatComesTooLateDoesNothing) {
  TargetProcess target = Start("stand-in-late");
  ASSERT_TRUE(target.WaitUntilReady());
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient());
  EXPECT_THAT(std::string(loaded.status().message()),
              HasSubstr("Python 3.14 was asked to load the agent and could not"));
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), "stand-in-late ended with 0\n");
}

TEST_F(StandInTest, RemoteDebuggingDisabled) {
  TargetProcess target = Start("stand-in-disabled");
  ExpectRefused(target, "stand-in-disabled",
                HasSubstr("Python 3.14 has remote debugging disabled"));
}

TEST_F(StandInTest, StateOutsideMemory) {
  TargetProcess target = Start("stand-in-forged");
  ExpectRefused(target, "stand-in-forged", HasSubstr("is not laid out as CPython's"));
}

// It needs a library that nobody has: what the loader says of it is told, and nothing stays open.
TEST_F(StandInTest, LibraryThatTheLoaderRefuses) {
  std::ifstream file(UTLZ_PROBE_LIBRARY, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t needed = bytes.find("libc.so.6");
  ASSERT_NE(needed, std::string::npos);
  bytes.replace(needed, 9, "nobody.so");
  const std::string path = testing::TempDir() + "utlz_refused_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  const auto library = LibraryFile::Open(path);
  unlink(path.c_str());
  ASSERT_TRUE(library.ok()) << library.status();
  TargetProcess target = Start("stand-in-looks");
  ASSERT_TRUE(target.WaitUntilReady()) << target.Output();
  const auto descriptors = target.Descriptors();
  const auto loaded = LoadIntoProcess(target.pid(), *library, Patient());
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kAborted) << loaded.status();
  EXPECT_THAT(std::string(loaded.status().message()),
              AllOf(HasSubstr("loader refused the library"), HasSubstr("nobody.so")));
  EXPECT_TRUE(target.WaitUntil([&] { return target.Descriptors() == descriptors; }));
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), "stand-in-looks ended with 0\n");
  EXPECT_EQ(FoldersLeft(target), 0);
}

TEST_F(StandInTest, EndsMeanwhile) {
  TargetProcess target = Start("stand-in-ends");
  ASSERT_TRUE(target.WaitUntilReady());
  const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), Patient());
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kNotFound) << loaded.status();
  EXPECT_EQ(FoldersLeft(target), 0);
}

// A Python of before 3.14, or whatever the machine has: without the stand-in it is not asked.
TEST(OtherPythonTest, IsNotAsked) {
  if (std::string(UTLZ_PYTHON).find("3.14") != std::string::npos) GTEST_SKIP() << UTLZ_PYTHON;
  TargetProcess target({UTLZ_PYTHON, UTLZ_PYTHON_TARGET, "busy"});
  ExpectRefused(target, "busy", Not(HasSubstr("its Python")));
}

class Python314Test : public testing::Test {
 protected:
  void SetUp() override {
    if (Python314().empty()) {
      GTEST_SKIP() << "no python3.14 here (UTLZ_PYTHON314 names one; tools/dev/fetch_python314 "
                      "makes one)";
    }
  }
  static TargetProcess Start(const std::string& program) {
    return TargetProcess({Python314(), UTLZ_PYTHON_TARGET, program});
  }
};

TEST_F(Python314Test, Busy) {
  TargetProcess target = Start("busy");
  ExpectLoadedByPython(target, "busy");
}

TEST_F(Python314Test, Sleeping) {
  TargetProcess target = Start("sleep");
  ExpectLoadedByPython(target, "sleep");
}

TEST_F(Python314Test, MainThreadWaitsForALock) {
  TargetProcess target = Start("lock");
  ExpectRefused(target, "lock", HasSubstr("did not answer within 60 ms"));
}

TEST_F(Python314Test, RemoteDebuggingDisabled) {
  setenv("PYTHON_DISABLE_REMOTE_DEBUG", "1", 1);
  TargetProcess target = Start("busy");
  unsetenv("PYTHON_DISABLE_REMOTE_DEBUG");
  ExpectRefused(target, "busy", HasSubstr("Python 3.14 has remote debugging disabled"));
}

}  // namespace
}  // namespace utlz::attach
