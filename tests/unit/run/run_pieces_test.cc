#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "collector/text/shown_text.h"
#include "collector/unique_fd.h"
#include "tests/support/scoped_variable.h"
#include "tests/support/temporary_folder.h"
#include "tools/run/agent_library.h"
#include "tools/run/alarm_sentence.h"
#include "tools/run/command_lookup.h"
#include "tools/run/cuda_absence.h"
#include "tools/run/overhead_budget.h"
#include "tools/run/private_folder.h"
#include "tools/run/profile_name.h"

namespace utlz {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

TEST(OverheadBudget, ReadsPercentagesAndUnlimited) {
  EXPECT_EQ(ParseOverheadBudget("1%").value(), 10000u);
  EXPECT_EQ(ParseOverheadBudget("0.25 %").value(), 2500u);
  EXPECT_EQ(ParseOverheadBudget("unlimited").value(), 0u);
  for (const char* wrong : {"", "1", "%", "-1%", "0%", "101%", "nan%", "one%", "1%%"}) {
    EXPECT_FALSE(ParseOverheadBudget(wrong).ok()) << wrong;
  }
}

TEST(AlarmSentence, HowLongItHasLasted) {
  Alarm alarm;
  alarm.set_name("hfu_fell");
  alarm.set_text("HFU fell to 36.0 % from 40.0 %");
  alarm.set_since_ns(5'000'000'000);
  alarm.set_time_ns(22'000'000'000);
  EXPECT_EQ(AlarmSentence(alarm), "alarm: HFU fell to 36.0 % from 40.0 %, since 17 s (hfu_fell)");
  alarm.set_end_ns(57'000'000'000);
  EXPECT_EQ(AlarmSentence(alarm), "alarm over after 52 s: HFU fell to 36.0 % from 40.0 %");
}

TEST(ProfileName, NamesTheCommandTheTimeAndTheProcess) {
  const ScopedVariable zone("TZ", "UTC");
  tzset();
  EXPECT_EQ(DefaultProfileName("/usr/bin/python3.11", 1'700'000'000, 42, 0x9f3ac1),
            "utlz-python3.11-20231114-221320-42-009f3ac1.utlz");
  EXPECT_EQ(DefaultProfileName("./träin me;rm", 0, 1, 0xffffffff),
            "utlz-träin_me_rm-19700101-000000-1-ffffffff.utlz");
  const std::string name = DefaultProfileName(std::string(63, 'a') + "ü" + "bc", 0, 1, 2);
  EXPECT_EQ(name, "utlz-" + std::string(63, 'a') + "-19700101-000000-1-00000002.utlz")
      << "no half characters";
}

class CommandLookupTest : public ::testing::Test {
 protected:
  std::string MakeFile(const std::string& name, mode_t mode) {
    WriteWholeFile(folder_.File(name), "#!/bin/sh\n");
    chmod(folder_.File(name).c_str(), mode);
    return folder_.File(name);
  }
  TemporaryFolder folder_;
};

TEST_F(CommandLookupTest, SearchesThePathAsShellsDo) {
  const std::string program = MakeFile("a program", 0755);
  MakeFile("data", 0644);
  std::filesystem::create_directory(folder_.File("folder"));
  const ScopedVariable path("PATH", "/nonexistent:" + folder_.path() + ":/usr/bin:/bin");
  EXPECT_EQ(FindCommand("a program").value(), program);
  EXPECT_EQ(FindCommand(program).value(), program);
  EXPECT_EQ(FindCommand("no such").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindCommand("").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindCommand("/no/such").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindCommand("data").status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(FindCommand("folder").status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(FindCommand(folder_.path()).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(CommandLookupTest, WarnsOfProgramsThatStartWithAnotherUsersRights) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file of another user";
  const std::string program = MakeFile("program", 0755);
  EXPECT_FALSE(RaisedPrivilegesWarning(program).has_value());
  ASSERT_EQ(chown(program.c_str(), 12345, 12345), 0);
  EXPECT_FALSE(RaisedPrivilegesWarning(program).has_value());
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  EXPECT_THAT(RaisedPrivilegesWarning(program).value_or(""),
              AllOf(HasSubstr(program), HasSubstr("set-user-ID")));
  ASSERT_EQ(chmod(program.c_str(), 02755), 0);
  EXPECT_THAT(RaisedPrivilegesWarning(program).value_or(""), HasSubstr("set-group-ID"));
}

TEST_F(CommandLookupTest, KnowsAStaticProgram) {
  EXPECT_FALSE(IsStaticallyLinked("/proc/self/exe"));
  EXPECT_FALSE(IsStaticallyLinked(MakeFile("script", 0755)));
  EXPECT_FALSE(IsStaticallyLinked("/no/such"));
}

TEST(AgentLibrary, IsFoundBesideTheProgramAndItsAbsenceNamesThePlaces) {
  const TemporaryFolder prefix;
  const std::string bin = prefix.File("bin");
  std::filesystem::create_directories(prefix.File("lib/utlz"));
  const absl::Status missing = FindAgentLibrary(bin).status();
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr(prefix.File("lib/libutlz_inject.so")),
                    HasSubstr(prefix.File("lib/utlz/libutlz_inject.so"))));
  WriteWholeFile(prefix.File("lib/utlz/libutlz_inject.so"), "");
  EXPECT_EQ(FindAgentLibrary(bin).value(), prefix.File("lib/utlz/libutlz_inject.so"));
  WriteWholeFile(prefix.File("lib/libutlz_inject.so"), "");
  EXPECT_EQ(FindAgentLibrary(bin).value(), prefix.File("lib/libutlz_inject.so"));
}

// Root's is made in a folder of root's, whatever XDG_RUNTIME_DIR says; the second one is for where
// /run cannot be written.
testing::Matcher<std::string> LiesIn(const std::string& users_parent) {
  if (geteuid() != 0) return StartsWith(users_parent);
  return testing::AnyOf(StartsWith("/run/utlz/"), StartsWith("/tmp/utlz-0/"));
}

TEST(PrivateFolder, IsOursAloneAndGoesAway) {
  const TemporaryFolder runtime;
  const ScopedVariable variable("XDG_RUNTIME_DIR", runtime.path());
  std::string path;
  {
    const absl::StatusOr<PrivateFolder> folder = PrivateFolder::Make();
    ASSERT_TRUE(folder.ok());
    path = folder->path();
    EXPECT_THAT(path, LiesIn(runtime.path()));
    struct stat status = {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// The folder of a collector that was killed, or of one that listens.
class FolderOfCollector {
 public:
  FolderOfCollector(const std::string& parent, time_t age_seconds)
      : path_(parent + "/utlz-XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    socket_path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_.Reset(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0));
    EXPECT_EQ(bind(listener(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener(), 4), 0);
    const timespec then = {.tv_sec = time(nullptr) - age_seconds, .tv_nsec = 0};
    const timespec times[] = {then, then};
    EXPECT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  }
  ~FolderOfCollector() { std::filesystem::remove_all(path_); }

  void Kill() { listener_.Reset(); }
  int listener() const { return listener_.get(); }
  bool exists() const { return std::filesystem::exists(socket_path()); }

 private:
  std::string socket_path() const { return PrivateFolder::SocketIn(path_); }

  std::string path_;
  UniqueFd listener_;
};

TEST(PrivateFolder, ThoseOfKilledCollectorsAreRemoved) {
  const TemporaryFolder runtime;
  const ScopedVariable variable("XDG_RUNTIME_DIR", runtime.path());
  const std::string parent = std::filesystem::path(PrivateFolder::Make()->path()).parent_path();
  FolderOfCollector killed(parent, 3600);
  killed.Kill();
  const FolderOfCollector alive(parent, 3600);
  FolderOfCollector young(parent, 0);
  young.Kill();
  const absl::StatusOr<PrivateFolder> folder = PrivateFolder::Make();
  ASSERT_TRUE(folder.ok());
  EXPECT_FALSE(killed.exists());
  EXPECT_TRUE(alive.exists());
  EXPECT_LT(accept(alive.listener(), nullptr, nullptr), 0) << "nobody came to it";
  EXPECT_TRUE(young.exists());
}

TEST(PrivateFolder, FallsBackWhereTheRuntimeFolderCannotBeUsed) {
  for (const std::string& runtime :
       {std::string("/no/such"), std::string("relative"), "/tmp/" + std::string(100, 'x')}) {
    const ScopedVariable variable("XDG_RUNTIME_DIR", runtime);
    const absl::StatusOr<PrivateFolder> folder = PrivateFolder::Make();
    ASSERT_TRUE(folder.ok());
    EXPECT_THAT(folder->path(), LiesIn("/tmp/utlz-"));
  }
}

TEST(CudaAbsence, NamesTheReasonsThatApply) {
  CudaAbsenceFacts facts;
  facts.command = {"python", "train.py"};
  EXPECT_THAT(ExplainCudaAbsence(facts),
              ElementsAre(StartsWith("NO PROCESS OF THIS COMMAND USED CUDA"),
                          HasSubstr("already running"), HasSubstr("in the background"),
                          HasSubstr("environment"), HasSubstr("fell back to the CPU")));
  facts.statically_linked = true;
  facts.file_limit_too_low = true;
  facts.driver_found = false;
  facts.command = {"ray", "job", "submit"};
  EXPECT_THAT(ExplainCudaAbsence(facts),
              IsSupersetOf({HasSubstr("statically linked"), HasSubstr("no NVIDIA driver"),
                            HasSubstr("ulimit -f unlimited"), HasSubstr("utlz run ray start")}));
}

// Say() puts "utlz: " before the first line.
TEST(CudaAbsence, IsSaidInLinesThatFitTheTerminal) {
  constexpr size_t kColumns = 80;
  const std::string message = "utlz: " + CudaAbsenceMessage(ExplainCudaAbsence({}), kColumns);
  size_t longest = 0;
  const std::vector<std::string> lines = absl::StrSplit(message, '\n');
  for (const std::string& line : lines) longest = std::max(longest, ColumnsOf(line));
  EXPECT_LE(longest, kColumns);
  EXPECT_GT(longest, kColumns - 20);
  EXPECT_THAT(lines.front(), StartsWith("utlz: NO PROCESS OF THIS COMMAND"));
  EXPECT_THAT(lines[1], StartsWith("  - "));
  EXPECT_THAT(lines[2], StartsWith("    "));
}

}  // namespace
}  // namespace utlz
