// Attaches that must be refused: with the sentence that says why, and with the target untouched.
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <future>
#include <string>

#include "tests/attach/target_process.h"
#include "tests/support/temporary_folder.h"
#include "tools/attach/loader.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

using testing::HasSubstr;

absl::Status Load(pid_t pid) {
  LoadOptions options;
  options.search_time = std::chrono::milliseconds(500);
  options.stop_limit = std::chrono::milliseconds(500);
  return LoadIntoProcess(pid, ProbeLibrary(), options).status();
}

struct Refusal {
  const char* program;
  absl::StatusCode code;
  const char* sentence;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.program; }

class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, LeavesTargetUntouched) {
  TargetProcess target(GetParam().program);
  if (!target.WaitUntilReady()) {
    ASSERT_EQ(WEXITSTATUS(target.Finish()), 77);
    GTEST_SKIP() << "this machine does not permit " << GetParam().program;
  }
  const std::string maps = target.Maps();
  const auto descriptors = target.Descriptors();
  const absl::Status status = Load(target.pid());
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().sentence));
  EXPECT_EQ(target.Maps(), maps);
  EXPECT_EQ(target.Descriptors(), descriptors);
  EXPECT_EQ(target.StatusField("TracerPid"), "0");
  EXPECT_EQ(target.Finish(), 0);
  EXPECT_EQ(target.Output(), std::string(GetParam().program) + " ended with 0\n");
}

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

INSTANTIATE_TEST_SUITE_P(
    Programs, RefusalTest,
    testing::Values(
        Refusal{"compute", kUnavailable, "1 running"},
        Refusal{"allocate", kUnavailable, "1 running"},
        Refusal{"futex", kUnavailable, "1 in a lock or another system call"},
        Refusal{"signal-handler", kUnavailable, "is in a signal handler"},
        Refusal{"constructor", kUnavailable, "is in the dynamic loader"},
        Refusal{"vfork", kUnavailable, "between vfork and exec"},
        Refusal{"chroot-without-proc", kPrecondition, "sees no /proc"},
        Refusal{"seccomp-forbidding", kPrecondition, "system call socketpair"},
        Refusal{"seccomp-killing", kPrecondition, "system call mprotect"},
        Refusal{"no-descriptors", kPrecondition, "make a socket pair: Too many open files"},
        Refusal{"no-memory", kPrecondition, "map memory: Cannot allocate memory"},
        Refusal{"tight-memory", absl::StatusCode::kAborted, "loader refused the library"}),
    [](const auto& test) {
      std::string name = test.param.program;
      std::erase(name, '-');
      return name;
    });

TEST(RefusalStateTest, LeaderInDynamicLoader) {
  TargetProcess target("dlopen");
  ASSERT_TRUE(target.WaitUntilReady());
  EXPECT_THAT(std::string(Load(target.pid()).message()), HasSubstr("no thread of process"));
  EXPECT_EQ(target.StatusField("TracerPid"), "0");
  EXPECT_EQ(target.Finish(), 0);
}

TEST(RefusalStateTest, ParentInVfork) {
  TargetProcess target("vfork");
  ASSERT_TRUE(target.WaitUntilReady());
  EXPECT_THAT(std::string(Load(target.started_pid()).message()),
              HasSubstr("1 in a lock or another system call"));
  EXPECT_EQ(target.control().progress, 0u);
  EXPECT_EQ(target.Finish(), 0);
}

TEST(RefusalStateTest, StoppedBySignal) {
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  kill(target.pid(), SIGSTOP);
  ASSERT_TRUE(target.WaitUntil([&] { return ThreadState(target.pid(), target.pid()) == 'T'; }));
  EXPECT_THAT(std::string(Load(target.pid()).message()), HasSubstr("is stopped; resume it"));
  EXPECT_EQ(ThreadState(target.pid(), target.pid()), 'T');
  kill(target.pid(), SIGCONT);
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Finish(), 0);
}

TEST(RefusalStateTest, StoppedDuringTheSearch) {
  TargetProcess target("futex");
  ASSERT_TRUE(target.WaitUntilReady());
  LoadOptions options;
  options.search_time = std::chrono::seconds(60);
  auto load = std::async(std::launch::async, [&] {
    return LoadIntoProcess(target.pid(), ProbeLibrary(), options).status();
  });
  // None of its threads can be lent, so that the search goes on.
  EXPECT_EQ(load.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  kill(target.pid(), SIGSTOP);
  EXPECT_THAT(std::string(load.get().message()), HasSubstr("is stopped; resume it"));
  kill(target.pid(), SIGCONT);
  EXPECT_EQ(target.Finish(), 0);
}

// A control group of the freezer, of either generation; not valid where none can be made.
class Freezer {
 public:
  Freezer() {
    const std::string name = "/utlz-attach-test-" + std::to_string(getpid());
    for (const char* root : {"/sys/fs/cgroup/freezer", "/sys/fs/cgroup"}) {
      path_ = root + name;
      if (mkdir(path_.c_str(), 0755) != 0) continue;
      is_first_generation_ = access((path_ + "/freezer.state").c_str(), F_OK) == 0;
      if (is_first_generation_ || access((path_ + "/cgroup.freeze").c_str(), F_OK) == 0) return;
      rmdir(path_.c_str());
    }
    path_.clear();
  }
  ~Freezer() {
    if (valid()) rmdir(path_.c_str());
  }
  bool valid() const { return !path_.empty(); }
  void Add(pid_t pid) const { std::ofstream(path_ + "/cgroup.procs") << pid; }
  void Set(bool frozen) const {
    if (is_first_generation_) {
      std::ofstream(path_ + "/freezer.state") << (frozen ? "FROZEN" : "THAWED");
    } else {
      std::ofstream(path_ + "/cgroup.freeze") << (frozen ? 1 : 0);
    }
  }

 private:
  std::string path_;
  bool is_first_generation_ = false;
};

TEST(RefusalStateTest, FrozenByControlGroup) {
  const Freezer freezer;
  if (!freezer.valid()) GTEST_SKIP() << "no freezer control group can be made here";
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  freezer.Add(target.pid());
  freezer.Set(true);
  EXPECT_THAT(std::string(Load(target.pid()).message()), HasSubstr("frozen by its control group"));
  freezer.Set(false);
  EXPECT_TRUE(target.WakeAndWaitForProgress());
  EXPECT_EQ(target.Finish(), 0);
}

TEST(RefusalStateTest, TracedByAnother) {
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  const pid_t tracer = fork();
  if (tracer == 0) {
    ptrace(PTRACE_SEIZE, target.pid(), nullptr, nullptr);
    for (;;) pause();
  }
  ASSERT_TRUE(target.WaitUntil(
      [&] { return target.StatusField("TracerPid") == std::to_string(tracer); }));
  EXPECT_THAT(std::string(Load(target.pid()).message()),
              HasSubstr("is being traced by process " + std::to_string(tracer)));
  kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
  EXPECT_EQ(target.Finish(), 0);
}

TEST(RefusalStateTest, StaticProgram) {
  TargetProcess target("", UTLZ_ATTACH_STATIC_TARGET);
  ASSERT_TRUE(target.WaitUntilBlocked());
  EXPECT_THAT(std::string(Load(target.pid()).message()), HasSubstr("statically linked"));
  EXPECT_EQ(target.Finish(), 0);
}

#if defined(__x86_64__)
// A whole 32-bit program: its header, its one segment, and `for (;;) pause();`.
std::string ThirtyTwoBitProgram() {
  constexpr uint32_t kAddress = 0x8048000;
  constexpr char kCode[] = "\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7";  // mov $29,%eax; int $0x80; jmp
  Elf32_Ehdr header = {};
  Elf32_Phdr segment = {};
  constexpr uint32_t kSize = sizeof(header) + sizeof(segment) + sizeof(kCode) - 1;
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_386;
  header.e_version = EV_CURRENT;
  header.e_entry = kAddress + sizeof(header) + sizeof(segment);
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(segment);
  header.e_phnum = 1;
  segment.p_type = PT_LOAD;
  segment.p_vaddr = kAddress;
  segment.p_filesz = kSize;
  segment.p_memsz = kSize;
  segment.p_flags = PF_R | PF_X;
  segment.p_align = 0x1000;
  std::string program(kSize, '\0');
  std::memcpy(program.data(), &header, sizeof(header));
  std::memcpy(program.data() + sizeof(header), &segment, sizeof(segment));
  std::memcpy(program.data() + sizeof(header) + sizeof(segment), kCode, sizeof(kCode) - 1);
  return program;
}

bool HasBegun(pid_t pid) {
  const auto maps = ReadSmallFile("/proc/" + std::to_string(pid) + "/maps", 64 << 10);
  return maps.ok() && maps->find("08048000-") != std::string::npos;
}

TEST(RefusalStateTest, ThirtyTwoBitProgram) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("program", ThirtyTwoBitProgram());
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(path.c_str(), path.c_str(), nullptr);
    _exit(77);
  }
  siginfo_t ended = {};
  while (!HasBegun(child)) {
    if (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == child) {
      waitpid(child, nullptr, 0);
      GTEST_SKIP() << "this machine executes no 32-bit programs";
    }
    sched_yield();
  }
  EXPECT_THAT(std::string(Load(child).message()), HasSubstr("32-bit"));
  EXPECT_EQ(kill(child, 0), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
#endif

TEST(RefusalStateTest, EndedProcess) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_THAT(std::string(Load(child).message()), HasSubstr("has ended"));
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Load(child).code(), absl::StatusCode::kNotFound);
}

TEST(RefusalStateTest, ThreadInsteadOfProcess) {
  TargetProcess target("user-ids");
  ASSERT_TRUE(target.WaitUntilReady());
  pid_t thread = 0;
  ASSERT_TRUE(target.WaitUntil([&] {
    const auto threads = ThreadsOf(target.pid(), 10);
    if (threads.size() == 2) thread = threads[1];
    return thread != 0;
  }));
  EXPECT_THAT(std::string(Load(thread).message()),
              HasSubstr("is a thread of process " + std::to_string(target.pid())));
  EXPECT_EQ(target.Finish(), 0);
}

TEST(RefusalStateTest, OtherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  TargetProcess target("sleep");
  ASSERT_TRUE(target.WaitUntilReady());
  ProbeLibrary();
  const pid_t tool = fork();
  if (tool == 0) {
    if (setresuid(65534, 65534, 65534) != 0) _exit(2);
    const absl::Status status = Load(target.pid());
    const bool refused = absl::IsPermissionDenied(status) &&
                         status.message().find("belongs to user 0; attach as that user") !=
                             absl::string_view::npos;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(tool, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(target.Finish(), 0);
}

// Whatever step the limit falls on, everything is taken back. Each limit that lets the load
// through ends the sweep: later ones would only do the same.
TEST(RollbackTest, TimeRunsOutAtEveryStep) {
  for (int limit_us = 0; limit_us <= 4000; limit_us += 50) {
    SCOPED_TRACE(limit_us);
    TargetProcess target("sleep");
    ASSERT_TRUE(target.WaitUntilReady());
    const std::string maps = target.Maps();
    const auto descriptors = target.Descriptors();
    LoadOptions options;
    options.search_time = std::chrono::milliseconds(1);
    options.stop_limit = std::chrono::microseconds(limit_us);
    const auto loaded = LoadIntoProcess(target.pid(), ProbeLibrary(), options);
    if (loaded.ok()) {
      EXPECT_EQ(target.Finish(), 0);
      break;
    }
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kUnavailable) << loaded.status();
    EXPECT_EQ(target.Maps(), maps);
    EXPECT_EQ(target.Descriptors(), descriptors);
    EXPECT_TRUE(target.WakeAndWaitForProgress());
    EXPECT_EQ(target.Finish(), 0);
  }
}

}  // namespace
}  // namespace utlz::attach
