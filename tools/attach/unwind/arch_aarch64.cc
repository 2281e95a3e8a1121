#if defined(__aarch64__)

#include <asm/sigcontext.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/attach/unwind/arch.h"

namespace utlz::attach {
namespace {

constexpr uint8_t kSupervisorCall[] = {0x01, 0x00, 0x00, 0xd4};  // svc #0
constexpr uint64_t kInstructionBytes = 4;

constexpr uint64_t kCallOffset = 0;
constexpr uint64_t kSyscallOffset = 8;
constexpr uint8_t kCode[] = {
    0x00, 0x02, 0x3f, 0xd6,  //  0: blr x16
    0x88, 0x15, 0x80, 0xd2,  //  4: mov x8, #getpid (172)
    0x01, 0x00, 0x00, 0xd4,  //  8: svc #0
    0x9f, 0x02, 0x00, 0x91,  // 12: mov sp, x20
    0x68, 0x11, 0x80, 0xd2,  // 16: mov x8, #rt_sigreturn (139)
    0x01, 0x00, 0x00, 0xd4,  // 20: svc #0
    0x00, 0x00, 0x00, 0x00,  // 24: udf #0
};
static_assert(SYS_getpid == 172 && SYS_rt_sigreturn == 139);

// Pointer authentication keeps its code in the bits above the address.
constexpr uint64_t kAddressBits = (uint64_t{1} << 48) - 1;

// The kernel's signal frame (arch/arm64/kernel/signal.c).
struct SignalFrame {
  uint8_t information[128];
  uint64_t flags;
  uint64_t link;
  uint64_t alternate_stack;
  uint32_t alternate_stack_flags;
  uint32_t padding;
  uint64_t alternate_stack_bytes;
  uint64_t signal_mask;
  uint8_t unused[120];
  sigcontext machine;
};
// sigaltstack() refuses these flags, and rt_sigreturn ignores the refusal: the thread's alternate
// stack stays as it is.
constexpr uint32_t kKeepAlternateStack = 0x7fff;

// As NT_PRFPREG gives it.
struct FloatingPointState {
  __uint128_t registers[32];
  uint32_t status;
  uint32_t control;
};

// The kernel's own results (linux/errno.h): to be restarted, but not after a handler without
// SA_RESTART, or not after any handler.
constexpr int64_t kRestartSystemCall = 512;      // ERESTARTSYS
constexpr int64_t kRestartWithoutHandler = 514;  // ERESTARTNOHAND
// Waits for data, of which the first is true. The second is of all others.
constexpr int64_t kRestartedTransfers[] = {SYS_read,    SYS_readv,  SYS_recvfrom,
                                           SYS_recvmsg, SYS_accept, SYS_accept4};

uint32_t InstructionAt(absl::Span<const uint8_t> bytes, size_t offset) {
  uint32_t instruction = 0;
  std::memcpy(&instruction, bytes.data() + offset, sizeof(instruction));
  return instruction;
}

// Before it stops the thread, the kernel has already set it back to the system call instruction,
// unless the call has failed for good.
bool IsSetBack(const Registers& registers, const BlockedCall& call) {
  return registers.pc == call.program_counter - kInstructionBytes;
}

bool HasFailedWithInterrupt(const Registers& registers, const BlockedCall& call) {
  return registers.pc == call.program_counter &&
         static_cast<int64_t>(registers.regs[0]) == -EINTR;
}

// What a thread that stands at a system call's entry is to call.
bool SetSyscall(pid_t tid, int number) {
  iovec vector = {&number, sizeof(number)};
  return ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &vector) == 0;
}

// Sleeps whose remaining time the kernel keeps aside.
bool IsRelativeSleep(const BlockedCall& call) {
  return call.number == SYS_nanosleep ||
         (call.number == SYS_clock_nanosleep && (call.arguments[1] & TIMER_ABSTIME) == 0);
}

}  // namespace

// The kernel drops what vector registers hold beyond these at every system call.
const int kVectorRegset = NT_PRFPREG;

const int64_t kCallReturnSyscall = SYS_getpid;

const Trampoline& TrampolineCode() {
  static const Trampoline trampoline = {kCode, kCallOffset, kSyscallOffset};
  return trampoline;
}

const size_t kUnwindStackRegister = 31;

uint64_t ProgramCounter(const Registers& registers) { return registers.pc; }
uint64_t StackPointer(const Registers& registers) { return registers.sp; }

FrameRegisters UnwindRegisters(const Registers& registers) {
  FrameRegisters frame = {};
  std::copy(std::begin(registers.regs), std::end(registers.regs), frame.begin());
  frame[kUnwindStackRegister] = registers.sp;
  return frame;
}

Registers WaitingRegisters(const BlockedCall& call) {
  Registers registers = {};
  registers.pc = call.program_counter;
  registers.sp = call.stack_pointer;
  return registers;
}

uint64_t CodeAddress(uint64_t word) { return word & kAddressBits; }

bool IsInterruptedWait(const Registers& registers, const BlockedCall& call) {
  if (registers.sp != call.stack_pointer ||
      static_cast<int64_t>(registers.regs[8]) != call.number) {
    return false;
  }
  return HasFailedWithInterrupt(registers, call) ||
         (IsSetBack(registers, call) && registers.regs[0] == call.arguments[0]);
}

uint64_t WaitInstruction(const BlockedCall& call) {
  return call.program_counter - kInstructionBytes;
}

absl::Span<const uint8_t> SyscallInstruction() { return kSupervisorCall; }

Registers ResumedWait(const Registers& stopped, const BlockedCall& call,
                      bool restart_failed_wait) {
  Registers registers = stopped;
  if (IsSetBack(stopped, call) && IsRelativeSleep(call)) {
    registers.regs[8] = SYS_restart_syscall;
  } else if (HasFailedWithInterrupt(stopped, call) && restart_failed_wait) {
    registers.pc -= kInstructionBytes;
    registers.regs[0] = call.arguments[0];
  }
  return registers;
}

// The kernel decides by what the system call had returned before it looked for signals.
Registers BeforeResumedWait(const Registers& at_syscall_exit, const Registers& resumed) {
  Registers registers = at_syscall_exit;
  if (resumed.pc != at_syscall_exit.pc - kInstructionBytes) return registers;
  const bool restarts_after_handler =
      std::find(std::begin(kRestartedTransfers), std::end(kRestartedTransfers),
                static_cast<int64_t>(resumed.regs[8])) != std::end(kRestartedTransfers);
  registers.regs[0] =
      static_cast<uint64_t>(restarts_after_handler ? -kRestartSystemCall : -kRestartWithoutHandler);
  return registers;
}

Registers SyscallRegisters(const Registers& original, uint64_t instruction_address, int64_t number,
                           const SyscallArguments& arguments, uint64_t resume_frame) {
  Registers registers = original;
  registers.pc = instruction_address;
  registers.regs[8] = static_cast<uint64_t>(number);
  for (size_t i = 0; i < arguments.size(); ++i) registers.regs[i] = arguments[i];
  if (resume_frame != 0) registers.regs[20] = resume_frame;
  return registers;
}

Registers CallRegisters(const Registers& original, uint64_t trampoline_address, uint64_t function,
                        uint64_t first, uint64_t second, uint64_t stack_top,
                        uint64_t resume_frame) {
  Registers registers = original;
  registers.pc = trampoline_address + kCallOffset;
  registers.regs[0] = first;
  registers.regs[1] = second;
  registers.regs[16] = function;
  registers.regs[20] = resume_frame;
  registers.regs[29] = 0;
  registers.sp = stack_top & ~uint64_t{15};
  return registers;
}

bool IsRequestedSyscall(const Registers& at_syscall_entry, uint64_t instruction_address,
                        int64_t number) {
  return at_syscall_entry.pc == instruction_address + kInstructionBytes &&
         static_cast<int64_t>(at_syscall_entry.regs[8]) == number;
}

uint64_t CallResult(const Registers& at_call_return_syscall) {
  return at_call_return_syscall.regs[0];
}
int64_t SyscallResult(const Registers& at_syscall_exit) {
  return static_cast<int64_t>(at_syscall_exit.regs[0]);
}

bool SkipSyscall(pid_t tid, const Registers&) { return SetSyscall(tid, -1); }

bool TakeBackSyscall(pid_t tid, const Registers& at_syscall_entry, uint64_t instruction_address,
                     int64_t number) {
  return IsRequestedSyscall(at_syscall_entry, instruction_address, SYS_restart_syscall) &&
         SetSyscall(tid, static_cast<int>(number));
}

std::vector<uint8_t> ResumeFrame(const ThreadSnapshot& snapshot, const BlockedCall& call,
                                 uint64_t) {
  SignalFrame frame = {};
  frame.alternate_stack_flags = kKeepAlternateStack;
  frame.signal_mask = snapshot.signal_mask;
  const Registers registers = ResumedWait(snapshot.registers, call, false);
  std::memcpy(frame.machine.regs, registers.regs, sizeof(registers.regs));
  frame.machine.sp = registers.sp;
  frame.machine.pc = registers.pc;
  frame.machine.pstate = registers.pstate;

  FloatingPointState state = {};
  std::memcpy(&state, snapshot.vector_state.data(),
              std::min(sizeof(state), snapshot.vector_state.size()));
  fpsimd_context context = {};
  context.head.magic = FPSIMD_MAGIC;
  context.head.size = sizeof(context);
  context.fpsr = state.status;
  context.fpcr = state.control;
  std::memcpy(context.vregs, state.registers, sizeof(state.registers));
  // The zeros behind it end the list of records.
  std::memcpy(frame.machine.__reserved, &context, sizeof(context));
  const auto* bytes = reinterpret_cast<const uint8_t*>(&frame);
  return std::vector<uint8_t>(bytes, bytes + sizeof(frame));
}

bool EndsInCall(absl::Span<const uint8_t> before) {
  if (before.size() < kInstructionBytes) return false;
  const uint32_t instruction = InstructionAt(before, before.size() - kInstructionBytes);
  return (instruction & 0xfc000000) == 0x94000000 ||  // bl
         (instruction & 0xfffffc1f) == 0xd63f0000 ||  // blr
         (instruction & 0xfefff800) == 0xd63f0800;    // blraa and its kin
}

bool IsSignalReturnCode(absl::Span<const uint8_t> code) {
  constexpr uint32_t kMoveRtSigreturn = 0xd2801168;
  constexpr uint32_t kSupervisorCallWord = 0xd4000001;
  return code.size() >= 2 * kInstructionBytes && InstructionAt(code, 0) == kMoveRtSigreturn &&
         InstructionAt(code, kInstructionBytes) == kSupervisorCallWord;
}

}  // namespace utlz::attach

#endif
