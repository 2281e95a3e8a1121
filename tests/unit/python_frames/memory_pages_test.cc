#include "inject/python/memory_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "tests/unit/python_frames/address_of.h"

namespace utlz::agent {
namespace {

constexpr size_t kPage = 4096;

class MemoryPagesTest : public ::testing::Test {
 protected:
  MemoryPagesTest() { EXPECT_TRUE(pages_.Create()); }

  MemoryPages pages_;
};

TEST_F(MemoryPagesTest, CopiesAreOfTheMomentWhenTheirPageWasFirstAskedFor) {
  uint64_t word = 1, copy = 0;
  ASSERT_TRUE(pages_.CopyValue(AddressOf(&word), &copy));
  EXPECT_EQ(copy, 1u);
  word = 2;
  ASSERT_TRUE(pages_.CopyValue(AddressOf(&word), &copy));
  EXPECT_EQ(copy, 1u);
  pages_.Forget();
  ASSERT_TRUE(pages_.CopyValue(AddressOf(&word), &copy));
  EXPECT_EQ(copy, 2u);
}

TEST_F(MemoryPagesTest, CopiesReachOverPages) {
  std::vector<uint8_t> bytes(5 * kPage);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / kPage);
  std::vector<uint8_t> copy(bytes.size());
  ASSERT_TRUE(pages_.Copy(AddressOf(bytes.data()), copy.data(), bytes.size()));
  EXPECT_EQ(copy, bytes);
  EXPECT_TRUE(pages_.Copy(AddressOf(bytes.data()), nullptr, 0));
}

TEST_F(MemoryPagesTest, PagesThatShareAPlaceAreToldApart) {
  std::vector<uint8_t> bytes(1025 * kPage);
  for (size_t page = 0; page < 1025; ++page) bytes[page * kPage] = static_cast<uint8_t>(page % 251);
  for (int round = 0; round < 2; ++round) {
    for (size_t page = 0; page < 1025; ++page) {
      uint8_t copy = 0;
      ASSERT_TRUE(pages_.CopyValue(AddressOf(&bytes[page * kPage]), &copy));
      ASSERT_EQ(copy, page % 251);
    }
  }
}

TEST_F(MemoryPagesTest, WhatIsNotMappedIsRefused) {
  auto* memory = static_cast<uint8_t*>(
      mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(munmap(memory + kPage, kPage), 0);
  uint64_t copy = 0;
  EXPECT_TRUE(pages_.CopyValue(AddressOf(memory + kPage - 8), &copy));
  EXPECT_FALSE(pages_.CopyValue(AddressOf(memory + kPage - 7), &copy));
  EXPECT_FALSE(pages_.CopyValue(AddressOf(memory + kPage), &copy));
  EXPECT_TRUE(pages_.CopyValue(AddressOf(memory + 2 * kPage), &copy));
  EXPECT_FALSE(pages_.CopyValue(0, &copy));
  EXPECT_FALSE(pages_.CopyValue(~uint64_t{0} - 3, &copy));
  munmap(memory, kPage);
  munmap(memory + 2 * kPage, kPage);
}

}  // namespace
}  // namespace utlz::agent
