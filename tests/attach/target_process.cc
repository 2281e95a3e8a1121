#include "tests/attach/target_process.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxFileBytes = 16 << 20;

std::string ProcPath(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

}  // namespace

TargetProcess::TargetProcess(const std::string& program, const std::string& executable)
    : TargetProcess(std::vector<std::string>{
          executable.empty() ? std::string(UTLZ_ATTACH_TARGET) : executable, program}) {}

TargetProcess::TargetProcess(std::vector<std::string> command) {
  control_file_.Reset(memfd_create("control", 0));  // the child takes this one as it is
  output_file_.Reset(memfd_create("output", MFD_CLOEXEC));
  int ends[2] = {-1, -1};
  if (ftruncate(control_file_.get(), sizeof(TargetControl)) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    std::abort();
  }
  void* memory = mmap(nullptr, sizeof(TargetControl), PROT_READ | PROT_WRITE, MAP_SHARED,
                      control_file_.get(), 0);
  control_ = new (memory) TargetControl{};
  input_.Reset(ends[0]);
  command.push_back(std::to_string(control_file_.get()));
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], 0);
    dup2(output_file_.get(), 1);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
}

TargetProcess::~TargetProcess() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    if (pid() != pid_) kill(pid(), SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  munmap(control_, sizeof(TargetControl));
}

pid_t TargetProcess::pid() const {
  const pid_t other = control_->process_id;
  return other != 0 ? other : pid_;
}

bool TargetProcess::WaitUntil(const std::function<bool()>& condition) const {
  while (!condition()) {
    siginfo_t info = {};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    // While a thread of this process traces the target, its stops are reported here as well.
    const bool is_stop = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED;
    if (info.si_pid == pid_ && !is_stop) return false;
    usleep(200);
  }
  return true;
}

bool TargetProcess::WaitUntilReady() {
  return WaitUntil([this] { return control_->ready != 0; });
}

bool TargetProcess::WakeAndWaitForProgress() const {
  const uint64_t before = control_->progress;
  Wake();
  return WaitUntil([this, before] { return control_->progress > before; });
}

bool TargetProcess::WaitUntilBlocked() const {
  return WaitUntil([this] { return ThreadState(pid(), pid()) == 'S'; });
}

void TargetProcess::Wake() const {
  const char byte = 1;
  send(input_.get(), &byte, 1, MSG_NOSIGNAL);
}

int TargetProcess::Finish() {
  control_->hold_constructor = 0;
  control_->stop = 1;
  control_->futex = 1;
  syscall(SYS_futex, &control_->futex, FUTEX_WAKE, 100, nullptr, nullptr, 0);
  Wake();
  int status = 0;
  waitpid(pid_, &status, 0);
  reaped_ = true;
  return status;
}

std::string TargetProcess::Output() const {
  std::string text(4096, '\0');
  const ssize_t count = pread(output_file_.get(), text.data(), text.size(), 0);
  text.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return text;
}

std::string TargetProcess::Maps() const {
  return ReadSmallFile(ProcPath(pid(), "maps"), kMaxFileBytes).value_or("unreadable");
}

std::map<int, std::string> TargetProcess::Descriptors() const {
  std::map<int, std::string> descriptors;
  for (int number = 0; number < 1024; ++number) {
    const auto target = ReadLink(ProcPath(pid(), "fd/") + std::to_string(number));
    if (target) descriptors[number] = *target;
  }
  return descriptors;
}

std::string TargetProcess::StatusField(const std::string& name) const {
  const auto text = ReadSmallFile(ProcPath(pid(), "status"), kMaxFileBytes);
  return attach::StatusField(text.value_or(""), name).value_or("");
}

const LibraryFile& ProbeLibrary() {
  static const LibraryFile library = [] {
    auto opened = LibraryFile::Open(UTLZ_PROBE_LIBRARY);
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
      std::abort();
    }
    return *std::move(opened);
  }();
  return library;
}

}  // namespace utlz::attach
