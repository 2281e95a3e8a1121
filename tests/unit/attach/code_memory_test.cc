#include "tools/attach/target/code_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/unit/attach/fake_memory.h"

namespace utlz::attach {
namespace {

constexpr uint64_t kPage = 4096;

MemoryMap Map() {
  return MemoryMap::Parse(
      "10000-12000 r-xp 0 08:01 7 /lib/a.so\n"
      "12000-13000 rw-p 2000 08:01 7 /lib/a.so\n"
      "20000-21000 r-xp 0 00:00 0 \n");
}

class CodeMemoryTest : public testing::Test {
 protected:
  void Fill(uint8_t byte) {
    memory_.Put(0x10000, std::vector<uint8_t>(3 * kPage, byte));
    memory_.Put(0x20000, std::vector<uint8_t>(kPage, byte));
  }
  uint8_t At(uint64_t address) { return code_.ReadValue<uint8_t>(address).value_or(0); }

  FakeMemory memory_;
  const MemoryMap map_ = Map();
  const CodeMemory code_{memory_, map_};
};

TEST_F(CodeMemoryTest, ReadsCodeOnce) {
  Fill(1);
  EXPECT_EQ(At(0x10ff0), 1);
  Fill(2);
  EXPECT_EQ(At(0x10000), 1);
  EXPECT_EQ(At(0x11000), 2) << "another page";
}

TEST_F(CodeMemoryTest, ReadsAnewWhatMayChange) {
  Fill(1);
  EXPECT_EQ(At(0x12000), 1) << "may be written";
  EXPECT_EQ(At(0x20000), 1) << "of no file: made at run time";
  Fill(2);
  EXPECT_EQ(At(0x12000), 2);
  EXPECT_EQ(At(0x20000), 2);
}

TEST_F(CodeMemoryTest, ReadsAcrossPagesAndUpToTheEnd) {
  Fill(1);
  EXPECT_EQ(At(0x11000), 1);
  Fill(2);
  std::array<uint8_t, 3 * kPage> bytes = {};
  EXPECT_EQ(code_.ReadSome(0x10800, absl::MakeSpan(bytes)), bytes.size() - 0x800);
  EXPECT_EQ(bytes[0], 2);
  EXPECT_EQ(bytes[0x800], 1);
  EXPECT_EQ(bytes[0x1800], 2);
  EXPECT_EQ(code_.ReadSome(0x30000, absl::MakeSpan(bytes)), 0u);
}

}  // namespace
}  // namespace utlz::attach
