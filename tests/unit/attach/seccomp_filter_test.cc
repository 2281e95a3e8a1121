#include "tools/attach/seccomp_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <string>
#include <vector>

namespace utlz::attach {
namespace {

using testing::HasSubstr;

// Answers one system call with `action`, everything else with permission.
SeccompFilter Answer(uint32_t number, uint32_t action) {
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

TEST(SeccompFilterTest, LetsPass) {
  EXPECT_TRUE(CheckSeccompFilters({}).ok());
  EXPECT_TRUE(CheckSeccompFilters({Answer(SYS_ptrace, SECCOMP_RET_KILL_PROCESS)}).ok());
}

TEST(SeccompFilterTest, NamesForbiddenCall) {
  for (const uint32_t action :
       {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
        SECCOMP_RET_ERRNO | 1u, SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF}) {
    const absl::Status status = CheckSeccompFilters({Answer(SYS_socketpair, action)});
    EXPECT_THAT(std::string(status.message()), HasSubstr("system call socketpair")) << action;
  }
}

// Containers refuse clone3, and the C library then uses clone.
TEST(SeccompFilterTest, AcceptsRefusalWithAnotherWay) {
  EXPECT_TRUE(CheckSeccompFilters({Answer(SYS_clone3, SECCOMP_RET_ERRNO | 38u)}).ok());
  EXPECT_FALSE(CheckSeccompFilters({Answer(SYS_clone3, SECCOMP_RET_KILL_PROCESS)}).ok());
}

TEST(SeccompFilterTest, AsksEveryFilter) {
  EXPECT_FALSE(CheckSeccompFilters({Answer(SYS_ptrace, SECCOMP_RET_TRAP),
                                    Answer(SYS_munmap, SECCOMP_RET_KILL_PROCESS)})
                   .ok());
}

TEST(SeccompFilterTest, SeesArguments) {
  // Forbids mmap with the third argument's bit 2 (PROT_EXEC) set.
  const SeccompFilter filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  EXPECT_EQ(RunSeccompFilter(filter, SYS_mmap, {0, 1, 5, 0, 0, 0}, 0), SECCOMP_RET_TRAP);
  EXPECT_EQ(RunSeccompFilter(filter, SYS_mmap, {0, 1, 3, 0, 0, 0}, 0), SECCOMP_RET_ALLOW);
  EXPECT_EQ(RunSeccompFilter(filter, SYS_read, {0, 1, 5, 0, 0, 0}, 0), SECCOMP_RET_ALLOW);
}

TEST(SeccompFilterTest, Computes) {
  // ((nr + 3) << 2 | 1) kept in memory and index register, and returned from the accumulator.
  const SeccompFilter filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 3),
      BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_STX, 5),
      BPF_STMT(BPF_LD | BPF_MEM, 5),
      BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 1),
      BPF_STMT(BPF_RET | BPF_A, 0)};
  EXPECT_EQ(RunSeccompFilter(filter, 4, {}, 0), 29u);
}

TEST(SeccompFilterTest, RefusesMalformedProgram) {
  EXPECT_FALSE(RunSeccompFilter({}, 0, {}, 0));
  EXPECT_FALSE(RunSeccompFilter(SeccompFilter{BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0)}, 0,
                                {}, 0));
  EXPECT_FALSE(
      RunSeccompFilter(SeccompFilter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0xfffffffe)}, 0, {}, 0));
  EXPECT_FALSE(RunSeccompFilter(SeccompFilter{BPF_STMT(BPF_LD | BPF_MEM, 16)}, 0, {}, 0));
  EXPECT_FALSE(
      RunSeccompFilter(SeccompFilter{BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0)}, 0, {}, 0));
}

}  // namespace
}  // namespace utlz::attach
