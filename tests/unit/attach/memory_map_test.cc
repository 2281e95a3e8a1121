#include "tools/attach/target/memory_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace utlz::attach {
namespace {

constexpr char kMaps[] =
    "7f0000000000-7f0000001000 r--p 00000000 08:01 77    /usr/lib/libc.so.6\n"
    "7f0000001000-7f0000005000 r-xp 00001000 08:01 77    /usr/lib/libc.so.6\n"
    "7f0000005000-7f0000006000 rw-p 00000000 00:00 0 \n"
    "7f0000006000-7f0000007000 r-xp 00000000 00:01 9     /memfd:a name with spaces (deleted)\n"
    "nonsense\n"
    "7f0000009000-7f0000008000 r-xp 00000000 00:01 9     /backwards\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

TEST(MemoryMapTest, ReadsLines) {
  const MemoryMap map = MemoryMap::Parse(kMaps);
  ASSERT_EQ(map.mappings().size(), 5u);
  const Mapping& code = map.mappings()[1];
  EXPECT_EQ(code.range, (AddressRange{0x7f0000001000, 0x7f0000005000}));
  EXPECT_TRUE(code.executable);
  EXPECT_FALSE(code.writable);
  EXPECT_EQ(code.file_offset_bytes, 0x1000u);
  EXPECT_EQ(code.inode, 77u);
  EXPECT_EQ(code.BaseName(), "libc.so.6");
  EXPECT_EQ(map.mappings()[2].path, "");
  EXPECT_EQ(map.mappings()[3].path, "/memfd:a name with spaces");
}

TEST(MemoryMapTest, FindsByAddress) {
  const MemoryMap map = MemoryMap::Parse(kMaps);
  EXPECT_EQ(map.Find(0x7f0000001000), &map.mappings()[1]);
  EXPECT_EQ(map.Find(0x7f0000005000), &map.mappings()[2]);
  EXPECT_EQ(map.Find(0x7f0000007000), nullptr);
}

TEST(MemoryMapTest, FindsPartsOfOneFile) {
  const MemoryMap map = MemoryMap::Parse(kMaps);
  EXPECT_EQ(map.SameFile(map.mappings()[0]).size(), 2u);
  const auto code = map.ExecutableRanges(map.mappings()[0]);
  ASSERT_EQ(code.size(), 1u);
  EXPECT_EQ(code[0].start, 0x7f0000001000u);
}

TEST(MemoryMapTest, RefusesProcessWithoutMemory) {
  EXPECT_FALSE(MemoryMap::Read(0).ok());
  EXPECT_TRUE(MemoryMap::Read(getpid()).ok());
}

}  // namespace
}  // namespace utlz::attach
