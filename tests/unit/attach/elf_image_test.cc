#include "tools/attach/target/elf_image.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "tests/unit/attach/fake_memory.h"
#include "tests/unit/attach/tiny_object.h"

namespace utlz::attach {
namespace {

constexpr uint64_t kObjectBase = 0x7f0000000000;

TinyObject MakeObject() { return MakeTinyObject(kObjectBase); }

absl::StatusOr<ElfImage> ReadObject(const TinyObject& object) {
  FakeMemory memory;
  memory.PutValue(kObjectBase, object);
  return ElfImage::Read(memory, kObjectBase);
}

TEST(ElfImageTest, FindsFunction) {
  const auto image = ReadObject(MakeObject());
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->FindFunction("dlopen"), kObjectBase + 0x400);
  EXPECT_EQ(image->FindFunction("dlsym"), std::nullopt);
  EXPECT_EQ(image->HighestGlibcMinorVersion(), 34);
}

TEST(ElfImageTest, RefusesWhatIsNoObject) {
  TinyObject object = MakeObject();
  object.header.e_ident[1] = 'F';
  EXPECT_FALSE(ReadObject(object).ok());
  object = MakeObject();
  object.header.e_phnum = 5000;
  EXPECT_FALSE(ReadObject(object).ok());
  object = MakeObject();
  object.segment.p_type = PT_NOTE;
  EXPECT_FALSE(ReadObject(object).ok());
}

// Sizes that the process chose must not decide how much memory the tool takes.
TEST(ElfImageTest, RefusesImmodestSizes) {
  TinyObject object = MakeObject();
  object.dynamic[2].d_un.d_val = ~uint64_t{0};
  EXPECT_FALSE(ReadObject(object).ok());
  object = MakeObject();
  object.hash[1] = 0xffffffff;
  EXPECT_FALSE(ReadObject(object).ok());
}

TEST(ElfImageTest, RefusesTablesOutsideMemory) {
  for (size_t entry : {0u, 1u}) {
    TinyObject object = MakeObject();
    object.dynamic[entry].d_un.d_ptr = kObjectBase + 0x10000;
    EXPECT_FALSE(ReadObject(object).ok()) << entry;
  }
}

TEST(ElfImageTest, LeavesOutNamesBeyondStrings) {
  TinyObject object = MakeObject();
  object.symbols[1].st_name = 1000;
  const auto image = ReadObject(object);
  ASSERT_TRUE(image.ok());
  EXPECT_TRUE(image->functions().empty());
}

TEST(ElfImageTest, EndsAtUnterminatedName) {
  TinyObject object = MakeObject();
  std::memset(object.strings, 'a', sizeof(object.strings));
  const auto image = ReadObject(object);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->functions()[0].name.size(), sizeof(object.strings) - 1);
}

TEST(ElfImageTest, IdentifiesClassAndMachine) {
  TinyObject object = MakeObject();
  object.header.e_machine = EM_AARCH64;
  FakeMemory memory;
  memory.PutValue(kObjectBase, object);
  const auto identity = ReadElfIdentity(memory, kObjectBase);
  ASSERT_TRUE(identity);
  EXPECT_TRUE(identity->is_64_bit);
  EXPECT_EQ(identity->machine, EM_AARCH64);
  EXPECT_FALSE(ReadElfIdentity(memory, kObjectBase + 8));
}

}  // namespace
}  // namespace utlz::attach
