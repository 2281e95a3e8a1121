#include "tools/attach/unwind/call_chain.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/sanitizers.h"
#include "tests/unit/attach/fake_memory.h"
#include "tools/attach/c_library.h"
#include "tools/attach/stack_scan.h"

#if defined(__x86_64__)
namespace utlz::attach {
namespace {

constexpr std::chrono::steady_clock::time_point kNever =
    std::chrono::steady_clock::time_point::max();

Registers FromContext(const ucontext_t& context) {
  const auto value = [&context](int index) {
    return static_cast<uint64_t>(context.uc_mcontext.gregs[index]);
  };
  Registers registers = {};
  registers.rbx = value(REG_RBX);
  registers.rbp = value(REG_RBP);
  registers.rsp = value(REG_RSP);
  registers.rip = value(REG_RIP);
  registers.r12 = value(REG_R12);
  registers.r13 = value(REG_R13);
  registers.r14 = value(REG_R14);
  registers.r15 = value(REG_R15);
  return registers;
}

CallChain OwnChain(const ucontext_t& context) {
  const RemoteMemory memory(getpid());
  return FollowCallChain(memory, MemoryMap::Read(getpid()).value(), FromContext(context), kNever);
}

// The C library's own unwinder gives the expected answer.
void CompareWithBacktrace() {
  if (kAddressSanitizer || kThreadSanitizer) {
    GTEST_SKIP() << "a sanitizer's own backtrace() has a frame more";
  }
  ucontext_t context = {};
  std::array<void*, 100> expected = {};
  const int count = backtrace(expected.data(), expected.size());
  getcontext(&context);
  const CallChain chain = OwnChain(context);
  EXPECT_TRUE(chain.is_complete);
  EXPECT_FALSE(chain.has_signal_frame);
  ASSERT_EQ(chain.addresses.size(), static_cast<size_t>(count));
  for (size_t i = 1; i < chain.addresses.size(); ++i) {
    EXPECT_EQ(chain.addresses[i], reinterpret_cast<uint64_t>(expected[i])) << i;
  }
}

TEST(CallChainTest, AgreesWithBacktrace) { CompareWithBacktrace(); }

TEST(CallChainTest, AgreesOnAnotherThread) { std::thread(CompareWithBacktrace).join(); }

// A function whose stack pointer is realigned, and its frame addressed by an expression.
[[gnu::noinline]] void CompareBelowAlignedFrame() {
  alignas(128) volatile char aligned[256];
  aligned[0] = 1;
  volatile char* variable = static_cast<volatile char*>(__builtin_alloca(
      static_cast<size_t>(aligned[0]) * 100));
  variable[0] = 2;
  CompareWithBacktrace();
  EXPECT_EQ(aligned[0] + variable[0], 3);
}

TEST(CallChainTest, PassesAlignedFrames) { CompareBelowAlignedFrame(); }

// Where a handler stands, which stays there until it has been looked at.
ucontext_t handler_context;
std::atomic<bool> in_handler{false};
std::atomic<bool> looked_at{false};

void StandInHandler(int) {
  getcontext(&handler_context);
  in_handler = true;
  in_handler.notify_one();
  looked_at.wait(false);
}

TEST(CallChainTest, StopsAtSignalFrame) {
  struct sigaction action = {};
  action.sa_handler = StandInHandler;
  struct sigaction old = {};
  sigaction(SIGUSR1, &action, &old);
  std::thread stands([] { raise(SIGUSR1); });
  in_handler.wait(false);
  EXPECT_TRUE(OwnChain(handler_context).has_signal_frame);
  const RemoteMemory memory(getpid());
  const MemoryMap map = MemoryMap::Read(getpid()).value();
  EXPECT_EQ(JudgeStack(memory, map, FindCLibrary(map, memory).value(),
                       FromContext(handler_context), kNever),
            StackVerdict::kSignalHandler);
  looked_at = true;
  looked_at.notify_one();
  stands.join();
  sigaction(SIGUSR1, &old, nullptr);
}

TEST(CallChainTest, GivesUpInTime) {
  ucontext_t context = {};
  getcontext(&context);
  const RemoteMemory memory(getpid());
  const CallChain chain =
      FollowCallChain(memory, MemoryMap::Read(getpid()).value(), FromContext(context), {});
  EXPECT_FALSE(chain.is_complete);
  EXPECT_TRUE(chain.addresses.empty());
}

// Code without a description, as a compiler at run time makes it.
TEST(CallChainTest, IsIncompleteInUnknownCode) {
  FakeMemory memory;
  memory.Put(0x1000, std::vector<uint8_t>(4096, 0x90));
  Registers registers = {};
  registers.rip = 0x1100;
  registers.rsp = 0x1800;
  const CallChain chain = FollowCallChain(
      memory, MemoryMap::Parse("1000-2000 rwxp 0 00:00 0 \n"), registers, kNever);
  EXPECT_FALSE(chain.is_complete);
  EXPECT_EQ(chain.addresses.size(), 1u);
}

}  // namespace
}  // namespace utlz::attach
#endif
