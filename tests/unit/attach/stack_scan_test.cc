#include "tools/attach/stack_scan.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <vector>

#include "tests/unit/attach/fake_memory.h"

namespace utlz::attach {
namespace {

constexpr uint64_t kStack = 0x7ffc00000000;
constexpr uint64_t kStackBytes = 4096;
constexpr uint64_t kLoader = 0x7f0000000000;
constexpr uint64_t kAllocator = 0x7f0000100000;
constexpr uint64_t kOther = 0x7f0000200000;
constexpr uint64_t kCodeBytes = 4096;
constexpr uint64_t kReturnOffset = 0x100;

class StackScanTest : public testing::Test {
 protected:
  StackScanTest() {
    map_ = MemoryMap::Parse(
        "7f0000000000-7f0000001000 r-xp 0 08:01 1 /lib/ld-linux-x86-64.so.2\n"
        "7f0000100000-7f0000101000 r-xp 0 08:01 2 /lib/libc.so.6\n"
        "7f0000200000-7f0000201000 r-xp 0 08:01 3 /bin/program\n"
        "7ffc00000000-7ffc00001000 rw-p 0 00:00 0 [stack]\n");
    library_.loader_code = {{kLoader, kLoader + kCodeBytes}};
    library_.allocator_code = {{kAllocator, kAllocator + kCodeBytes}};
    for (const uint64_t code : {kLoader, kAllocator, kOther}) memory_.Put(code, CodeWithCall());
  }

  // A call instruction right before kReturnOffset, and nothing like one elsewhere.
  static std::vector<uint8_t> CodeWithCall() {
    std::vector<uint8_t> code(kCodeBytes, 0);
#if defined(__x86_64__)
    code[kReturnOffset - 5] = 0xe8;
#else
    code[kReturnOffset - 1] = 0x94;
#endif
    return code;
  }

  StackVerdict ScanWith(uint64_t word) {
    std::vector<uint8_t> stack(kStackBytes, 0);
    std::memcpy(stack.data() + 512, &word, sizeof(word));
    memory_.Put(kStack, stack);
    return ScanStack(memory_, map_, library_, kStack + 64);
  }

  MemoryMap map_;
  CLibrary library_;
  FakeMemory memory_;
};

TEST_F(StackScanTest, IsClearWithoutReturnAddresses) {
  EXPECT_EQ(ScanWith(0), StackVerdict::kClear);
  EXPECT_EQ(ScanWith(kOther + kReturnOffset), StackVerdict::kClear);
}

TEST_F(StackScanTest, FindsLoaderAndAllocator) {
  EXPECT_EQ(ScanWith(kLoader + kReturnOffset), StackVerdict::kLoader);
  EXPECT_EQ(ScanWith(kAllocator + kReturnOffset), StackVerdict::kAllocator);
}

// A pointer to a function, such as the one that the loader passes to every program's start.
TEST_F(StackScanTest, PassesFunctionPointers) {
  EXPECT_EQ(ScanWith(kLoader + 0x200), StackVerdict::kClear);
}

TEST_F(StackScanTest, FindsSignalFrame) {
  std::vector<uint8_t> code(kCodeBytes, 0);
#if defined(__x86_64__)
  const std::vector<uint8_t> restorer = {0x48, 0xc7, 0xc0, SYS_rt_sigreturn, 0, 0, 0, 0x0f, 0x05};
#else
  const std::vector<uint8_t> restorer = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
#endif
  std::copy(restorer.begin(), restorer.end(), code.begin() + 0x300);
  memory_.Put(kOther, code);
  EXPECT_EQ(ScanWith(kOther + 0x300), StackVerdict::kSignalHandler);
}

TEST_F(StackScanTest, LooksOnlyAboveTheStackPointer) {
  std::vector<uint8_t> stack(kStackBytes, 0);
  const uint64_t word = kLoader + kReturnOffset;
  std::memcpy(stack.data() + 512, &word, sizeof(word));
  memory_.Put(kStack, stack);
  EXPECT_EQ(ScanStack(memory_, map_, library_, kStack + 512), StackVerdict::kLoader);
  EXPECT_EQ(ScanStack(memory_, map_, library_, kStack + 520), StackVerdict::kClear);
}

TEST_F(StackScanTest, RefusesStrangeStackPointers) {
  memory_.Put(kStack, std::vector<uint8_t>(kStackBytes, 0));
  EXPECT_EQ(ScanStack(memory_, map_, library_, kStack + 3), StackVerdict::kUnreadable);
  EXPECT_EQ(ScanStack(memory_, map_, library_, 0x1000), StackVerdict::kUnreadable);
}

}  // namespace
}  // namespace utlz::attach
