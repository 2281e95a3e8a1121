#include "tools/attach/thread_choice.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace utlz::attach {
namespace {

TEST(BlockedCallTest, ReadsBlockedThread) {
  const auto call = ParseBlockedCall(
      "230 0x0 0x0 0x7ffc6cbcb6a0 0x3 0x4 0x5 0x7ffc6cbcb660 0x7fb081aed545\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, 230);
  EXPECT_EQ(call->arguments[2], 0x7ffc6cbcb6a0u);
  EXPECT_EQ(call->arguments[5], 5u);
  EXPECT_EQ(call->stack_pointer, 0x7ffc6cbcb660u);
  EXPECT_EQ(call->program_counter, 0x7fb081aed545u);
}

TEST(BlockedCallTest, IsAbsentForOthers) {
  EXPECT_FALSE(ParseBlockedCall("running\n"));
  EXPECT_FALSE(ParseBlockedCall("-1 0x7ffc6cbcb660 0x7fb081aed545\n"));
  EXPECT_FALSE(ParseBlockedCall(""));
}

TEST(PlainWaitTest, NeverLendsThreadsThatHoldLocks) {
  for (const int64_t number : {SYS_mmap, SYS_munmap, SYS_brk, SYS_mremap, SYS_madvise,
                               SYS_mprotect, SYS_futex, SYS_ioctl, SYS_wait4, SYS_write}) {
    EXPECT_FALSE(IsPlainWait(number)) << number;
  }
  for (const int64_t number : {SYS_epoll_pwait, SYS_ppoll, SYS_read, SYS_nanosleep,
                               SYS_clock_nanosleep, SYS_recvmsg, SYS_accept4}) {
    EXPECT_TRUE(IsPlainWait(number)) << number;
  }
}

BlockedCall EpollWithTimeout(int timeout_ms) {
  BlockedCall call;
  call.number = SYS_epoll_pwait;
  call.arguments[3] = static_cast<uint32_t>(timeout_ms);
  return call;
}

TEST(MayRestartTest, KeepsLongTimeouts) {
  EXPECT_TRUE(MayRestart(EpollWithTimeout(-1)));
  EXPECT_TRUE(MayRestart(EpollWithTimeout(50)));
  EXPECT_FALSE(MayRestart(EpollWithTimeout(60'000)));
  BlockedCall poll;
  poll.number = SYS_ppoll;
  EXPECT_TRUE(MayRestart(poll));
}

TEST(ThreadCensusTest, SaysWhatThreadsDo) {
  ThreadCensus census;
  EXPECT_EQ(census.ToString(), "none seen");
  census.running = 2;
  census.waiting = 1;
  EXPECT_EQ(census.ToString(), "2 running, 1 waiting");
}

}  // namespace
}  // namespace utlz::attach
