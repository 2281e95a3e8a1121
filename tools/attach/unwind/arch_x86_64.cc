#if defined(__x86_64__)

#include <asm/sigcontext.h>
#include <cpuid.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tools/attach/unwind/arch.h"

namespace utlz::attach {
namespace {

// The kernel's private results of an interrupted system call (include/linux/errno.h).
constexpr int64_t kRestartSys = -512;
constexpr int64_t kRestartNoInterrupt = -513;
constexpr int64_t kRestartNoHandler = -514;
constexpr int64_t kRestartBlock = -516;

constexpr uint8_t kSyscall[] = {0x0f, 0x05};
constexpr size_t kSyscallBytes = sizeof(kSyscall);

constexpr uint64_t kCallOffset = 0;
constexpr uint64_t kSyscallOffset = 10;
constexpr uint8_t kCode[] = {
    0xff, 0xd0,                    //  0: call *%rax (keeps a shadow stack in step)
    0x48, 0x89, 0xc7,              //  2: mov %rax,%rdi
    0xb8, SYS_getpid, 0, 0, 0,     //  5: mov $getpid,%eax
    0x0f, 0x05,                    // 10: syscall
    0x48, 0x89, 0xdc,              // 12: mov %rbx,%rsp
    0xb8, SYS_rt_sigreturn, 0, 0, 0,  // 15: mov $rt_sigreturn,%eax
    0x0f, 0x05,                    // 20: syscall
    0x0f, 0x0b,                    // 22: ud2
};

constexpr uint64_t kDirectionFlag = 1u << 10;
constexpr uint64_t kTrapFlag = 1u << 8;

bool IsRestart(int64_t result) {
  return result == kRestartSys || result == kRestartNoInterrupt || result == kRestartNoHandler ||
         result == kRestartBlock;
}

int64_t Result(const Registers& registers) { return static_cast<int64_t>(registers.rax); }

// struct ucontext of the kernel's signal frame (arch/x86/include/uapi/asm/ucontext.h).
struct SignalContext {
  uint64_t flags;
  uint64_t link;
  uint64_t alternate_stack;
  uint32_t alternate_stack_flags;
  uint32_t padding;
  uint64_t alternate_stack_bytes;
  sigcontext machine;
  uint64_t signal_mask;
};
constexpr uint64_t kHasExtendedState = 1;   // UC_FP_XSTATE
constexpr uint64_t kHasStackSegment = 2;    // UC_SIGCONTEXT_SS
constexpr uint64_t kStrictStackSegment = 4;  // UC_STRICT_RESTORE_SS
// sigaltstack() refuses these flags, and rt_sigreturn ignores the refusal: the thread's alternate
// stack stays as it is.
constexpr uint32_t kKeepAlternateStack = 0x7fff;
constexpr size_t kStateOffset = (sizeof(SignalContext) + 63) / 64 * 64;

// Of the XSAVE area in its standard format (Intel SDM, volume 1, 13.4).
constexpr size_t kLegacyAndHeaderBytes = 576;
constexpr size_t kSavedComponentsOffset = 512;
constexpr int kExtendedComponents = 63;
constexpr uint32_t kExtendedStateLeaf = 0xd;

// Where the last component that is saved in `state` ends. The regset has room for all components
// that the processor knows; a frame that is larger than the thread's own state, which has none for
// the tiles of AMX until the thread asks for it, is restored without any vector register's upper
// half.
size_t UsedStateBytes(absl::Span<const uint8_t> state) {
  if (state.size() < kLegacyAndHeaderBytes) return state.size();
  uint64_t saved = 0;
  std::memcpy(&saved, state.data() + kSavedComponentsOffset, sizeof(saved));
  size_t end = kLegacyAndHeaderBytes;
  for (uint32_t component = 2; component < kExtendedComponents; ++component) {
    if ((saved >> component & 1) == 0) continue;
    uint32_t bytes = 0, offset = 0, flags = 0, unused = 0;
    if (__get_cpuid_count(kExtendedStateLeaf, component, &bytes, &offset, &flags, &unused) == 0) {
      return state.size();
    }
    end = std::max(end, size_t{offset} + bytes);
  }
  return std::min(end, state.size());
}

void FillMachineContext(const Registers& from, const BlockedCall& call, sigcontext& to) {
  to.r8 = from.r8;
  to.r9 = from.r9;
  to.r10 = from.r10;
  to.r11 = from.r11;
  to.r12 = from.r12;
  to.r13 = from.r13;
  to.r14 = from.r14;
  to.r15 = from.r15;
  to.rdi = from.rdi;
  to.rsi = from.rsi;
  to.rbp = from.rbp;
  to.rbx = from.rbx;
  to.rdx = from.rdx;
  to.rax = from.rax;
  to.rcx = from.rcx;
  to.rsp = from.rsp;
  to.rip = from.rip;
  to.eflags = from.eflags;
  to.cs = static_cast<uint16_t>(from.cs);
  to.ss = static_cast<uint16_t>(from.ss);
  // rt_sigreturn restarts nothing by itself, and forgets what remained of a timeout.
  if (Result(from) == kRestartBlock) {
    to.rax = static_cast<uint64_t>(-EINTR);
  } else if (IsRestart(Result(from))) {
    to.rax = static_cast<uint64_t>(call.number);
    to.rip -= kSyscallBytes;
  }
}

}  // namespace

const int kVectorRegset = NT_X86_XSTATE;

const int64_t kCallReturnSyscall = SYS_getpid;

const Trampoline& TrampolineCode() {
  static const Trampoline trampoline = {kCode, kCallOffset, kSyscallOffset};
  return trampoline;
}

const size_t kUnwindStackRegister = 7;

uint64_t ProgramCounter(const Registers& registers) { return registers.rip; }
uint64_t StackPointer(const Registers& registers) { return registers.rsp; }

FrameRegisters UnwindRegisters(const Registers& registers) {
  return {registers.rax, registers.rdx, registers.rcx, registers.rbx, registers.rsi,
          registers.rdi, registers.rbp, registers.rsp, registers.r8,  registers.r9,
          registers.r10, registers.r11, registers.r12, registers.r13, registers.r14,
          registers.r15, registers.rip};
}

Registers WaitingRegisters(const BlockedCall& call) {
  Registers registers = {};
  registers.rip = call.program_counter;
  registers.rsp = call.stack_pointer;
  return registers;
}

uint64_t CodeAddress(uint64_t word) { return word; }

bool IsInterruptedWait(const Registers& registers, const BlockedCall& call) {
  return static_cast<int64_t>(registers.orig_rax) == call.number &&
         (IsRestart(Result(registers)) || Result(registers) == -EINTR) &&
         registers.rsp == call.stack_pointer && registers.rip == call.program_counter;
}

uint64_t WaitInstruction(const BlockedCall& call) { return call.program_counter - kSyscallBytes; }

absl::Span<const uint8_t> SyscallInstruction() { return kSyscall; }

Registers ResumedWait(const Registers& stopped, const BlockedCall&, bool restart_failed_wait) {
  Registers registers = stopped;
  // The kernel then restarts the call, unless a signal handler is to run first: what an
  // interrupted wait without a timeout would have asked for itself.
  if (restart_failed_wait && Result(stopped) == -EINTR) {
    registers.rax = static_cast<uint64_t>(kRestartNoHandler);
  }
  return registers;
}

// The kernel decides when it delivers the signal, by the registers that the thread has then.
Registers BeforeResumedWait(const Registers& at_syscall_exit, const Registers&) {
  return at_syscall_exit;
}

Registers SyscallRegisters(const Registers& original, uint64_t instruction_address, int64_t number,
                           const SyscallArguments& arguments, uint64_t resume_frame) {
  Registers registers = original;
  registers.rip = instruction_address;
  registers.rax = static_cast<uint64_t>(number);
  registers.orig_rax = ~uint64_t{0};  // nothing to restart on the way back to user mode
  registers.rdi = arguments[0];
  registers.rsi = arguments[1];
  registers.rdx = arguments[2];
  registers.r10 = arguments[3];
  registers.r8 = arguments[4];
  registers.r9 = arguments[5];
  if (resume_frame != 0) registers.rbx = resume_frame;
  return registers;
}

Registers CallRegisters(const Registers& original, uint64_t trampoline_address, uint64_t function,
                        uint64_t first, uint64_t second, uint64_t stack_top,
                        uint64_t resume_frame) {
  Registers registers = original;
  registers.rip = trampoline_address + kCallOffset;
  registers.rax = function;
  registers.orig_rax = ~uint64_t{0};
  registers.rdi = first;
  registers.rsi = second;
  registers.rbx = resume_frame;
  registers.rbp = 0;
  registers.rsp = stack_top & ~uint64_t{15};
  registers.eflags &= ~(kDirectionFlag | kTrapFlag);
  return registers;
}

bool IsRequestedSyscall(const Registers& at_syscall_entry, uint64_t instruction_address,
                        int64_t number) {
  return at_syscall_entry.rip == instruction_address + kSyscallBytes &&
         static_cast<int64_t>(at_syscall_entry.orig_rax) == number;
}

bool TakeBackSyscall(pid_t, const Registers&, uint64_t, int64_t) { return false; }

uint64_t CallResult(const Registers& at_call_return_syscall) { return at_call_return_syscall.rdi; }
int64_t SyscallResult(const Registers& at_syscall_exit) { return Result(at_syscall_exit); }

bool SkipSyscall(pid_t tid, const Registers& at_syscall_entry) {
  Registers registers = at_syscall_entry;
  registers.orig_rax = ~uint64_t{0};
  iovec vector = {&registers, sizeof(registers)};
  return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &vector) == 0;
}

std::vector<uint8_t> ResumeFrame(const ThreadSnapshot& snapshot, const BlockedCall& call,
                                 uint64_t frame_address) {
  const size_t state_bytes = UsedStateBytes(snapshot.vector_state);
  std::vector<uint8_t> frame(kStateOffset + state_bytes + sizeof(uint32_t), 0);
  SignalContext context = {};
  context.flags = kHasExtendedState | kHasStackSegment | kStrictStackSegment;
  context.alternate_stack_flags = kKeepAlternateStack;
  context.signal_mask = snapshot.signal_mask;
  FillMachineContext(snapshot.registers, call, context.machine);
  const uint64_t state_address = frame_address + kStateOffset;
  std::memcpy(&context.machine.fpstate, &state_address, sizeof(state_address));
  std::memcpy(frame.data(), &context, sizeof(context));

  uint8_t* state = frame.data() + kStateOffset;
  std::memcpy(state, snapshot.vector_state.data(), state_bytes);
  // The regset keeps the mask of saved components where the frame keeps its description.
  constexpr size_t kDescriptionOffset = offsetof(_fpstate_64, sw_reserved);
  _fpx_sw_bytes description = {};
  description.magic1 = FP_XSTATE_MAGIC1;
  description.extended_size = static_cast<uint32_t>(state_bytes + sizeof(uint32_t));
  std::memcpy(&description.xfeatures, state + kDescriptionOffset, sizeof(uint64_t));
  description.xstate_size = static_cast<uint32_t>(state_bytes);
  std::memcpy(state + kDescriptionOffset, &description, sizeof(description));
  const uint32_t magic = FP_XSTATE_MAGIC2;
  std::memcpy(state + state_bytes, &magic, sizeof(magic));
  return frame;
}

bool EndsInCall(absl::Span<const uint8_t> before) {
  const size_t size = before.size();
  if (size >= 5 && before[size - 5] == 0xe8) return true;  // call rel32
  // call r/m64 is ff /2, with a length that its second byte decides.
  for (const size_t length : {2u, 3u, 4u, 6u, 7u}) {
    if (size >= length && before[size - length] == 0xff &&
        (before[size - length + 1] & 0x38) == 0x10) {
      return true;
    }
  }
  return false;
}

bool IsSignalReturnCode(absl::Span<const uint8_t> code) {
  constexpr uint8_t kRestorer[kSignalReturnCodeBytes] = {0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0,
                                                         0,    0,    0x0f, 0x05};
  return code.size() >= sizeof(kRestorer) &&
         std::equal(std::begin(kRestorer), std::end(kRestorer), code.begin());
}

}  // namespace utlz::attach

#endif
