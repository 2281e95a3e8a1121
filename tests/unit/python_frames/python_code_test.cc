#include "inject/python/python_code.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/python_frames/address_of.h"

namespace utlz::agent {
namespace {

// A str as CPython 3.12 lays it out.
std::vector<uint8_t> Text(const std::u32string& characters, uint32_t character_bytes, bool ascii) {
  const size_t head = ascii ? 40 : 56;
  std::vector<uint8_t> text(head + (characters.size() + 1) * character_bytes);
  const uint64_t length = characters.size();
  const uint32_t state = character_bytes << 2 | 1u << 5 | (ascii ? 1u << 6 : 0);
  std::memcpy(&text[16], &length, sizeof(length));
  std::memcpy(&text[32], &state, sizeof(state));
  for (size_t i = 0; i < characters.size(); ++i) {
    std::memcpy(&text[head + i * character_bytes], &characters[i], character_bytes);
  }
  return text;
}

class PythonCodeTest : public ::testing::Test {
 protected:
  PythonCodeTest() : code_(std::make_unique<PythonCode>()) {
    EXPECT_TRUE(memory_.Create());
    layout_.code_type = 0x1234567890;
    layout_.code_file = 24;
    layout_.code_name = 32;
    layout_.code_line_table = 40;
    layout_.code_first_line = 48;
    layout_.text_ascii = 40;
    layout_.text_compact = 56;
    table_.resize(32 + 4);
    table_[16] = 4;
    Put(8, layout_.code_type);
    Put(16, 10);
    Put(40, AddressOf(table_.data()));
    Put(48, 17);
    SetFile(U"/a/b.py", 1, true);
    name_ = Text(U"Owner.call", 1, true);
    Put(32, AddressOf(name_.data()));
  }

  void Put(size_t at, uint64_t word) { object_[at / 8] = word; }
  void SetFile(const std::u32string& file, uint32_t character_bytes, bool ascii) {
    file_ = Text(file, character_bytes, ascii);
    Put(24, AddressOf(file_.data()));
  }
  bool Read(uint64_t address) {
    memory_.Forget();
    return ReadPythonCode(layout_, &memory_, address, code_.get());
  }
  bool Read() { return Read(AddressOf(object_)); }

  PythonLayout layout_;
  MemoryPages memory_;
  uint64_t object_[8] = {};
  std::vector<uint8_t> file_, name_, table_;
  std::unique_ptr<PythonCode> code_;
};

TEST_F(PythonCodeTest, ReadsACodeObject) {
  ASSERT_TRUE(Read());
  EXPECT_STREQ(code_->file, "/a/b.py");
  EXPECT_STREQ(code_->name, "Owner.call");
  EXPECT_EQ(code_->first_line, 17);
  EXPECT_EQ(code_->instruction_bytes, 20u);
  EXPECT_EQ(code_->line_table_bytes, 4u);
}

TEST_F(PythonCodeTest, WritesUtf8) {
  SetFile(U"größe", 1, false);
  ASSERT_TRUE(Read());
  EXPECT_STREQ(code_->file, "größe");
  SetFile(U"долго長い", 2, false);
  ASSERT_TRUE(Read());
  EXPECT_STREQ(code_->file, "долго長い");
  SetFile(U"\U0001d4d0", 4, false);
  ASSERT_TRUE(Read());
  EXPECT_STREQ(code_->file, "\U0001d4d0");
  const std::u32string odd = {0xdc80, 0x110000, 0xffffffff};
  SetFile(odd, 4, false);
  ASSERT_TRUE(Read());
  EXPECT_STREQ(code_->file, "\uFFFD\uFFFD\uFFFD");
}

TEST_F(PythonCodeTest, KeepsTheEndOfALongFileName) {
  SetFile(std::u32string(5000, U'x') + U"end.py", 1, true);
  ASSERT_TRUE(Read());
  EXPECT_EQ(std::strlen(code_->file), PythonCode::kMostFileBytes - 1);
  EXPECT_STREQ(code_->file + std::strlen(code_->file) - 6, "end.py");
  SetFile(std::u32string(5000, U'長'), 2, false);
  ASSERT_TRUE(Read());
  EXPECT_EQ(std::strlen(code_->file), PythonCode::kMostFileBytes / 3 * 3);
  name_ = Text(U"begin" + std::u32string(5000, U'\U0001d4d0'), 4, false);
  Put(32, AddressOf(name_.data()));
  ASSERT_TRUE(Read());
  EXPECT_EQ(std::strncmp(code_->name, "begin", 5), 0);
  EXPECT_LT(std::strlen(code_->name), PythonCode::kMostNameBytes);
}

TEST_F(PythonCodeTest, RefusesWhatIsNoCodeObject) {
  Put(8, 1);
  EXPECT_FALSE(Read());
  EXPECT_FALSE(Read(0));
  EXPECT_FALSE(Read(~uint64_t{15}));
}

TEST_F(PythonCodeTest, RefusesTextThatIsNone) {
  for (const uint64_t wrong : {uint64_t{0}, uint64_t{8}, ~uint64_t{63}}) {
    Put(24, wrong);
    EXPECT_FALSE(Read()) << wrong;
  }
  SetFile(U"/a/b.py", 1, true);
  const uint64_t length = ~uint64_t{0};
  std::memcpy(&file_[16], &length, sizeof(length));
  EXPECT_FALSE(Read());
  SetFile(U"/a/b.py", 3, true);  // no size of a character
  EXPECT_FALSE(Read());
}

TEST_F(PythonCodeTest, SurvivesMemoryThatIsNotMapped) {
  const size_t page = sysconf(_SC_PAGESIZE);
  auto* pages = static_cast<uint8_t*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  munmap(pages + page, page);
  for (size_t left = 0; left <= layout_.code_first_line; left += 8) {
    std::memcpy(pages + page - left, object_, left);
    EXPECT_FALSE(Read(AddressOf(pages + page - left))) << left;
  }
  munmap(pages, page);
}

TEST_F(PythonCodeTest, LeavesOutAHugeLineTable) {
  const uint64_t length = PythonCode::kMostLineTableBytes + 1;
  std::memcpy(&table_[16], &length, sizeof(length));
  ASSERT_TRUE(Read());
  EXPECT_EQ(code_->line_table_bytes, 0u);
  EXPECT_EQ(LineOfInstruction(*code_, 0), 0);
}

TEST_F(PythonCodeTest, FindsLines) {
  // Two instructions on the next line; one without a line; one with columns, 70 lines on; one
  // 35 lines back.
  const uint8_t table[] = {
      0x80 | 11 << 3 | 1, 0,        0, 0x80 | 15 << 3, 0x80 | 14 << 3, 0x40 | 12, 2, 0, 1, 1,
      0x80 | 13 << 3,     0x40 | 7, 1};
  code_->first_line = 10;
  code_->line_table_bytes = sizeof(table);
  std::memcpy(code_->line_table, table, sizeof(table));
  const int32_t lines[] = {11, 11, 0, 81, 46, 0, 0};
  for (size_t i = 0; i < std::size(lines); ++i) {
    EXPECT_EQ(LineOfInstruction(*code_, 2 * i), lines[i]) << i;
  }
}

TEST_F(PythonCodeTest, SurvivesSpoiledLineTables) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    code_->first_line = static_cast<int32_t>(random());
    code_->line_table_bytes = static_cast<uint32_t>(random() % 60);
    for (uint32_t i = 0; i < code_->line_table_bytes; ++i) {
      code_->line_table[i] = static_cast<uint8_t>(random());
    }
    ASSERT_GE(LineOfInstruction(*code_, random() % 200), 0);
  }
}

}  // namespace
}  // namespace utlz::agent
