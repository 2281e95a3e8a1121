// Everything that depends on the processor. One file implements it for each architecture.
//
// Words. The trampoline is the one page of code that the loader maps into the target. It holds
//   call:    call the function whose address is in a register, then ask for a system call that
//            stands for "the call has returned" (the tracer stops there);
//   syscall: the system call instruction that injected system calls use as well;
//   resume:  rt_sigreturn from a frame that holds the thread's original state.
// Whatever the thread runs for us therefore ends in `resume` if the tracer dies meanwhile: the
// thread then goes on where it was, and only leaks our mapping.
#ifndef UTLZ_TOOLS_ATTACH_UNWIND_ARCH_H_
#define UTLZ_TOOLS_ATTACH_UNWIND_ARCH_H_

#include <elf.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tools/attach/unwind/frame_program.h"

namespace utlz::attach {

using Registers = user_regs_struct;
using SyscallArguments = std::array<uint64_t, 6>;

#if defined(__x86_64__)
inline constexpr uint16_t kElfMachine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr uint16_t kElfMachine = EM_AARCH64;
#else
#error "attach is written for x86-64 and aarch64"
#endif

// A system call that a thread waits in.
struct BlockedCall {
  int64_t number = -1;
  SyscallArguments arguments = {};
  uint64_t stack_pointer = 0;
  uint64_t program_counter = 0;
};

// What a stopped thread is put back to.
struct ThreadSnapshot {
  Registers registers = {};
  std::vector<uint8_t> vector_state;  // as PTRACE_GETREGSET(kVectorRegset) gives it
  uint64_t signal_mask = 0;
};

extern const int kVectorRegset;  // NT_* of all vector and floating-point state

struct Trampoline {
  absl::Span<const uint8_t> code;
  uint64_t call_offset;
  uint64_t syscall_offset;
};
const Trampoline& TrampolineCode();

uint64_t ProgramCounter(const Registers& registers);
uint64_t StackPointer(const Registers& registers);
// The registers by DWARF number, and the stack pointer's.
FrameRegisters UnwindRegisters(const Registers& registers);
// What is known of a waiting thread's registers while it is not stopped: where it is, and its
// stack.
Registers WaitingRegisters(const BlockedCall& call);
extern const size_t kUnwindStackRegister;
// A word from memory that may be a code address, without the bits that sign it.
uint64_t CodeAddress(uint64_t word);

// Whether a thread that PTRACE_INTERRUPT stopped was waiting in `call` (and nothing else happened
// since `call` was observed).
bool IsInterruptedWait(const Registers& registers, const BlockedCall& call);
// Address of the system call instruction that the waiting thread executed.
uint64_t WaitInstruction(const BlockedCall& call);
// The bytes of a system call instruction.
absl::Span<const uint8_t> SyscallInstruction();

// Registers with which the kernel resumes the wait as if it had not been interrupted: what remains
// of a timeout is kept where the kernel keeps it. `restart_failed_wait` additionally restarts a
// wait that the kernel would have ended with EINTR although no signal arrived.
Registers ResumedWait(const Registers& stopped, const BlockedCall& call, bool restart_failed_wait);

// What a thread needs when it leaves the last system call that it made for us, at the instruction
// of its own wait: a signal that came meanwhile is then to end the wait, or restart it, as it would
// have.
Registers BeforeResumedWait(const Registers& at_syscall_exit, const Registers& resumed);

// Registers that execute one system call at `instruction_address`. `resume_frame` is what the
// trampoline needs if nobody stops the thread afterwards; 0 before there is one.
Registers SyscallRegisters(const Registers& original, uint64_t instruction_address, int64_t number,
                           const SyscallArguments& arguments, uint64_t resume_frame);
// Registers that call function(first, second) through the trampoline on another stack.
Registers CallRegisters(const Registers& original, uint64_t trampoline_address, uint64_t function,
                        uint64_t first, uint64_t second, uint64_t stack_top,
                        uint64_t resume_frame);
// Whether a thread at a system call's entry is at the one that SyscallRegisters() asked for, rather
// than at one that a signal handler makes before it.
bool IsRequestedSyscall(const Registers& at_syscall_entry, uint64_t instruction_address,
                        int64_t number);
// At another system call's entry: whether the kernel has put the resumption of an interrupted sleep
// in the place of the one that SyscallRegisters() asked for, and that one has been put back.
bool TakeBackSyscall(pid_t tid, const Registers& at_syscall_entry, uint64_t instruction_address,
                     int64_t number);
// The system call, made from the trampoline, by which such a call says that it has returned.
extern const int64_t kCallReturnSyscall;
uint64_t CallResult(const Registers& at_call_return_syscall);
int64_t SyscallResult(const Registers& at_syscall_exit);
// Makes a thread that stands at a system call's entry skip it. False if the thread is gone.
bool SkipSyscall(pid_t tid, const Registers& at_syscall_entry);

// A signal frame for the trampoline's `resume`, to be written at `frame_address` (64-byte
// aligned), which is then the `resume_frame` of the functions above. A wait whose remaining time
// only the kernel knows ends with EINTR there, as after a signal.
std::vector<uint8_t> ResumeFrame(const ThreadSnapshot& snapshot, const BlockedCall& call,
                                 uint64_t frame_address);

// Whether code ends in a call instruction: a word on a stack that points behind one is a return
// address. `before` holds the (at most 8) bytes in front of the address.
bool EndsInCall(absl::Span<const uint8_t> before);
// Whether code is the C library's return from a signal handler.
bool IsSignalReturnCode(absl::Span<const uint8_t> code);
inline constexpr size_t kSignalReturnCodeBytes = 9;

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_UNWIND_ARCH_H_
