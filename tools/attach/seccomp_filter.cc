#include "tools/attach/seccomp_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

namespace utlz::attach {
namespace {

constexpr size_t kMaxFilters = 512;
#if defined(__x86_64__)
constexpr uint32_t kAuditArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kAuditArchitecture = AUDIT_ARCH_AARCH64;
#endif

struct NeededCall {
  const char* name;
  int64_t number;
  SyscallArguments arguments;
  bool may_fail;  // glibc has another way, or goes on without
};

constexpr uint64_t kRead = PROT_READ;
constexpr uint64_t kReadWrite = PROT_READ | PROT_WRITE;
constexpr uint64_t kReadExecute = PROT_READ | PROT_EXEC;
constexpr uint64_t kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
constexpr uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM |
                                  CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
                                  CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

// The loader's calls in their order, then those of dlopen and of a thread's start and first talk.
const NeededCall kNeededCalls[] = {
    {"mmap", SYS_mmap, {0, 4096, kReadExecute, kAnonymous, ~0u, 0}, false},
    {"mprotect", SYS_mprotect, {0, 4096, kReadWrite, 0, 0, 0}, false},
    {"mprotect", SYS_mprotect, {0, 4096, PROT_NONE, 0, 0, 0}, false},
    {"munmap", SYS_munmap, {0, 4096, 0, 0, 0, 0}, false},
    {"socketpair", SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0}, false},
    {"recvmsg", SYS_recvmsg, {3, 0, MSG_CMSG_CLOEXEC | MSG_DONTWAIT, 0, 0, 0}, false},
    {"fcntl", SYS_fcntl, {3, F_DUPFD_CLOEXEC, 128, 0, 0, 0}, false},
    {"close", SYS_close, {3, 0, 0, 0, 0, 0}, false},
    {"rt_sigreturn", SYS_rt_sigreturn, {0, 0, 0, 0, 0, 0}, false},
    {"getpid", SYS_getpid, {0, 0, 0, 0, 0, 0}, true},
    {"openat", SYS_openat, {AT_FDCWD & 0xffffffffu, 0, O_RDONLY | O_CLOEXEC, 0, 0, 0}, false},
    {"read", SYS_read, {3, 0, 832, 0, 0, 0}, false},
    {"mmap", SYS_mmap, {0, 4096, kRead, MAP_PRIVATE | MAP_DENYWRITE, 3, 0}, false},
    {"mmap", SYS_mmap, {0, 4096, kReadExecute, MAP_PRIVATE | MAP_FIXED, 3, 4096}, false},
    {"mmap", SYS_mmap, {0, 4096, kReadWrite, MAP_PRIVATE | MAP_FIXED, 3, 4096}, false},
    {"rt_sigprocmask", SYS_rt_sigprocmask, {SIG_SETMASK, 0, 0, 8, 0, 0}, false},
    {"clone", SYS_clone, {kThreadFlags, 0, 0, 0, 0, 0}, false},
    {"clone3", SYS_clone3, {0, 88, 0, 0, 0, 0}, true},
    {"set_robust_list", SYS_set_robust_list, {0, 24, 0, 0, 0, 0}, true},
    {"rseq", SYS_rseq, {0, 32, 0, 0, 0, 0}, true},
    {"futex", SYS_futex, {0, 0, 0, 0, 0, 0}, false},
    {"sendmsg", SYS_sendmsg, {3, 0, MSG_NOSIGNAL, 0, 0, 0}, false},
};

// The two accumulators and the scratch memory of classic BPF, over one seccomp_data.
class Interpreter {
 public:
  explicit Interpreter(const seccomp_data& data) { std::memcpy(data_, &data, sizeof(data)); }

  std::optional<uint32_t> Run(absl::Span<const sock_filter> filter) {
    // Jumps only go forward, so that this ends.
    for (size_t position = 0; position < filter.size(); ++position) {
      const sock_filter& step = filter[position];
      switch (BPF_CLASS(step.code)) {
        case BPF_RET:
          return BPF_RVAL(step.code) == BPF_A ? accumulator_ : step.k;
        case BPF_LD:
          if (!Load(step, accumulator_)) return std::nullopt;
          break;
        case BPF_LDX:
          if (!Load(step, index_)) return std::nullopt;
          break;
        case BPF_ST:
        case BPF_STX:
          if (step.k >= BPF_MEMWORDS) return std::nullopt;
          memory_[step.k] = BPF_CLASS(step.code) == BPF_ST ? accumulator_ : index_;
          break;
        case BPF_ALU:
          if (!Compute(step)) return std::nullopt;
          break;
        case BPF_JMP:
          position += JumpLength(step);
          break;
        default:  // BPF_MISC
          if (BPF_MISCOP(step.code) == BPF_TAX) index_ = accumulator_;
          if (BPF_MISCOP(step.code) == BPF_TXA) accumulator_ = index_;
          break;
      }
    }
    return std::nullopt;
  }

 private:
  bool Load(const sock_filter& step, uint32_t& target) const {
    switch (BPF_MODE(step.code)) {
      case BPF_IMM:
        target = step.k;
        return true;
      case BPF_LEN:
        target = sizeof(seccomp_data);
        return true;
      case BPF_MEM:
        if (step.k >= BPF_MEMWORDS) return false;
        target = memory_[step.k];
        return true;
      case BPF_ABS:
        if (step.k > sizeof(data_) - sizeof(target)) return false;
        std::memcpy(&target, data_ + step.k, sizeof(target));
        return true;
      default:
        return false;
    }
  }

  bool Compute(const sock_filter& step) {
    const uint32_t operand = BPF_SRC(step.code) == BPF_X ? index_ : step.k;
    switch (BPF_OP(step.code)) {
      case BPF_ADD: accumulator_ += operand; return true;
      case BPF_SUB: accumulator_ -= operand; return true;
      case BPF_MUL: accumulator_ *= operand; return true;
      case BPF_OR: accumulator_ |= operand; return true;
      case BPF_AND: accumulator_ &= operand; return true;
      case BPF_XOR: accumulator_ ^= operand; return true;
      case BPF_LSH: accumulator_ = operand < 32 ? accumulator_ << operand : 0; return true;
      case BPF_RSH: accumulator_ = operand < 32 ? accumulator_ >> operand : 0; return true;
      case BPF_NEG: accumulator_ = 0 - accumulator_; return true;
      case BPF_DIV:
        if (operand == 0) return false;
        accumulator_ /= operand;
        return true;
      default: return false;
    }
  }

  uint32_t JumpLength(const sock_filter& step) const {
    const uint32_t operand = BPF_SRC(step.code) == BPF_X ? index_ : step.k;
    switch (BPF_OP(step.code)) {
      case BPF_JA: return step.k;
      case BPF_JEQ: return accumulator_ == operand ? step.jt : step.jf;
      case BPF_JGT: return accumulator_ > operand ? step.jt : step.jf;
      case BPF_JGE: return accumulator_ >= operand ? step.jt : step.jf;
      default: return (accumulator_ & operand) != 0 ? step.jt : step.jf;  // BPF_JSET
    }
  }

  uint8_t data_[sizeof(seccomp_data)];
  uint32_t accumulator_ = 0;
  uint32_t index_ = 0;
  uint32_t memory_[BPF_MEMWORDS] = {};
};

// Whether a filter's answer is one under which the process goes on and the call, at worst, fails.
bool IsHarmless(uint32_t action, bool may_fail) {
  const uint32_t kind = action & SECCOMP_RET_ACTION_FULL;
  if (kind == SECCOMP_RET_ALLOW || kind == SECCOMP_RET_LOG) return true;
  return kind == SECCOMP_RET_ERRNO && may_fail;
}

}  // namespace

absl::StatusOr<std::vector<SeccompFilter>> ReadSeccompFilters(pid_t tid) {
  std::vector<SeccompFilter> filters;
  const auto request = static_cast<__ptrace_request>(PTRACE_SECCOMP_GET_FILTER);
  while (filters.size() < kMaxFilters) {
    void* index = reinterpret_cast<void*>(filters.size());
    const long length = ptrace(request, tid, index, nullptr);
    if (length < 0 && errno == ENOENT) return filters;
    if (length < 0) {
      return absl::PermissionDeniedError(
          "the program runs under a seccomp filter, which only root may read to see whether it "
          "lets an attach pass; attach as root, or start the program with `utlz run`");
    }
    SeccompFilter filter(std::min<size_t>(static_cast<size_t>(length), BPF_MAXINSNS));
    if (ptrace(request, tid, index, filter.data()) < 0) {
      return absl::ErrnoToStatus(errno, "cannot read the program's seccomp filter");
    }
    filters.push_back(std::move(filter));
  }
  return absl::ResourceExhaustedError("the program runs under too many seccomp filters");
}

std::optional<uint32_t> RunSeccompFilter(absl::Span<const sock_filter> filter, int64_t number,
                                         const SyscallArguments& arguments,
                                         uint64_t instruction_pointer) {
  seccomp_data data = {};
  data.nr = static_cast<int>(number);
  data.arch = kAuditArchitecture;
  data.instruction_pointer = instruction_pointer;
  std::copy(arguments.begin(), arguments.end(), data.args);
  return Interpreter(data).Run(filter);
}

absl::Status CheckSeccompFilters(const std::vector<SeccompFilter>& filters) {
  for (const NeededCall& call : kNeededCalls) {
    for (const SeccompFilter& filter : filters) {
      const auto action = RunSeccompFilter(filter, call.number, call.arguments, 0);
      if (!action || !IsHarmless(*action, call.may_fail)) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the program's seccomp filter does not let the system call ", call.name,
            " pass, which an attach needs; start it with `utlz run` instead"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace utlz::attach
