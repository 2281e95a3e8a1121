// Programs that see less of the system than the tool does. Exit status 77: not permitted here.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "tests/attach/target_control.h"
#include "tests/attach/target_programs.h"

namespace utlz::attach {
namespace {

constexpr int kNotPermitted = 77;

int SleepUntilStopped() {
  Ready();
  while (MayGoOn()) {
    const timespec duration = {0, 5'000'000};
    nanosleep(&duration, nullptr);
    Progress();
  }
  return 0;
}

// Enters an empty root directory in a mount namespace of its own, which vanishes with the process.
bool EnterEmptyRoot(bool with_proc) {
  if (unshare(CLONE_NEWNS) != 0) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (mount("none", "/mnt", "tmpfs", 0, nullptr) != 0 || mkdir("/mnt/proc", 0755) != 0) {
    return false;
  }
  if (with_proc && mount("proc", "/mnt/proc", "proc", 0, nullptr) != 0) return false;
  return chroot("/mnt") == 0 && chdir("/") == 0;
}

// Answers `number` with `action`, and everything else with permission.
bool InstallFilter(uint32_t number, uint32_t action) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int ChrootWithoutProc() { return EnterEmptyRoot(false) ? SleepUntilStopped() : kNotPermitted; }

int ChrootWithProc() { return EnterEmptyRoot(true) ? SleepUntilStopped() : kNotPermitted; }

// A child that is process 1 of its own PID namespace, with its own mounts, users and network.
int OwnNamespaces() {
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC) != 0) {
    return kNotPermitted;
  }
  const pid_t child = fork();
  if (child == 0) {
    if (!EnterEmptyRoot(true) || getpid() != 1) _exit(kNotPermitted);
    _exit(SleepUntilStopped());
  }
  Control().process_id = child;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int PermissiveSeccomp() {
  const bool installed = InstallFilter(SYS_ptrace, SECCOMP_RET_KILL_PROCESS) &&
                         InstallFilter(SYS_clone3, SECCOMP_RET_ERRNO | 38);
  return installed ? SleepUntilStopped() : kNotPermitted;
}

int ForbiddingSeccomp() {
  return InstallFilter(SYS_socketpair, SECCOMP_RET_ERRNO | 1) ? SleepUntilStopped()
                                                              : kNotPermitted;
}

int KillingSeccomp() {
  return InstallFilter(SYS_mprotect, SECCOMP_RET_KILL_PROCESS) ? SleepUntilStopped()
                                                               : kNotPermitted;
}

}  // namespace utlz::attach
