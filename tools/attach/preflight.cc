#include "tools/attach/preflight.h"

#include <linux/capability.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tools/attach/target/memory_map.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/target/remote_memory.h"

namespace utlz::attach {
namespace {

std::string Who(const ProcessFacts& facts) {
  return absl::StrCat("process ", facts.pid, " (", facts.name, ")");
}

absl::Status CheckState(const ProcessFacts& facts) {
  if (facts.is_kernel_thread) {
    return absl::FailedPreconditionError(
        absl::StrCat(Who(facts), " is a kernel thread; give the number of a program"));
  }
  if (facts.state == 'Z' || facts.state == 'X') {
    return absl::FailedPreconditionError(
        absl::StrCat(Who(facts), " has ended, or its main thread has; attach to a live process"));
  }
  if (facts.tracer_pid != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(Who(facts), " is being traced by process ", facts.tracer_pid,
                     " (a debugger or strace); detach that first"));
  }
  return CheckNotHalted(facts);
}

absl::Status CheckPermission(const ProcessFacts& facts, const Permissions& permissions) {
  if (facts.may_trace) return absl::OkStatus();
  if (permissions.yama_scope == 3) {
    return absl::PermissionDeniedError(
        "this machine forbids tracing altogether (kernel.yama.ptrace_scope is 3); start the "
        "program with `utlz run --preload`, which needs none");
  }
  if (permissions.may_trace_any) {
    return absl::PermissionDeniedError(
        absl::StrCat(Who(facts),
                     " may not be traced although this tool holds CAP_SYS_PTRACE: a "
                     "security module forbids it, or it belongs to an outer user namespace; attach "
                     "from the host, or start the program with `utlz run --preload`"));
  }
  if (facts.user_id != permissions.user_id) {
    return absl::PermissionDeniedError(absl::StrCat(Who(facts), " belongs to user ", facts.user_id,
                                                    "; attach as that user or as root"));
  }
  if (permissions.yama_scope > 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("this machine lets only root trace processes (kernel.yama.ptrace_scope is ",
                     permissions.yama_scope,
                     "); attach with sudo, or start the program with `utlz run "
                     "--preload`"));
  }
  return absl::PermissionDeniedError(
      absl::StrCat(Who(facts),
                   " may not be traced by its own user: it has more capabilities, "
                   "changed its user, or is not dumpable; attach as root"));
}

absl::Status CheckEnvironment(const ProcessFacts& facts) {
  if (facts.seccomp == SeccompMode::kStrict) {
    return absl::FailedPreconditionError(
        absl::StrCat(Who(facts),
                     " runs under strict seccomp, which kills it at its first system "
                     "call of another kind; it cannot be profiled"));
  }
  if (facts.shares_parents_memory) {
    return absl::UnavailableError(
        absl::StrCat(Who(facts), " is between vfork and exec and still uses the memory of process ",
                     facts.parent_pid, "; attach to that one, or again in a moment"));
  }
  if (facts.has_agent) {
    return absl::AlreadyExistsError(
        absl::StrCat(Who(facts), " has a utlz agent already; activate it over its control socket"));
  }
  if (!facts.has_proc) {
    return absl::FailedPreconditionError(
        absl::StrCat(Who(facts),
                     " sees no /proc with itself in it (a chroot?), through which its "
                     "loader would open the library; mount proc there, or start it with `utlz "
                     "run`"));
  }
  return absl::OkStatus();
}

}  // namespace

Permissions ReadPermissions() {
  Permissions permissions;
  permissions.user_id = geteuid();
  if (const auto status = ReadSmallFile("/proc/self/status", 64 << 10); status.ok()) {
    const std::string mask = StatusField(*status, "CapEff").value_or("0");
    permissions.may_trace_any =
        (std::strtoull(mask.c_str(), nullptr, 16) >> CAP_SYS_PTRACE & 1) != 0;
  }
  if (const auto scope = ReadSmallFile("/proc/sys/kernel/yama/ptrace_scope", 16); scope.ok()) {
    permissions.yama_scope = std::atoi(scope->c_str());
  }
  return permissions;
}

absl::Status CheckNotHalted(const ProcessFacts& facts) {
  if (facts.state == 'T' || facts.state == 't') {
    return absl::FailedPreconditionError(absl::StrCat(
        Who(facts), " is stopped; resume it (kill -CONT ", facts.pid, ") and attach again"));
  }
  if (facts.is_frozen) {
    return absl::FailedPreconditionError(absl::StrCat(
        Who(facts), " is frozen by its control group; unpause its container and attach again"));
  }
  return absl::OkStatus();
}

absl::Status CheckFacts(const ProcessFacts& facts, const Permissions& permissions) {
  if (absl::Status status = CheckState(facts); !status.ok()) return status;
  if (absl::Status status = CheckPermission(facts, permissions); !status.ok()) return status;
  return CheckEnvironment(facts);
}

absl::StatusOr<PreflightResult> Preflight(pid_t pid) {
  if (pid == getpid()) return absl::InvalidArgumentError("utlz cannot attach to itself");
  auto facts = ReadProcessFacts(pid);
  if (!facts.ok()) return facts.status();
  if (absl::Status status = CheckFacts(*facts, ReadPermissions()); !status.ok()) return status;
  const auto map = MemoryMap::Read(pid);
  if (!map.ok()) return map.status();
  const auto library = FindCLibrary(*map, RemoteMemory(pid));
  if (!library.ok()) {
    return absl::Status(library.status().code(),
                        absl::StrCat(Who(*facts), ": ", library.status().message()));
  }
  return PreflightResult{*std::move(facts), *library};
}

}  // namespace utlz::attach
