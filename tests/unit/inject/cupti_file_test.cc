#include "inject/driver/cupti_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

#include "tests/support/temporary_folder.h"

namespace utlz::agent {
namespace {

TEST(CuptiFile, ShowsWhatItIs) {
  EXPECT_EQ(LookAtCupti(UTLZ_FAKE_CUPTI), CuptiLook::kUsable);
  EXPECT_EQ(LookAtCupti(UTLZ_OLDER_CUPTI), CuptiLook::kTooOld);
  EXPECT_EQ(LookAtCupti(UTLZ_LARGE_CONSTANTS_LIBRARY), CuptiLook::kIncomplete);
}

TEST(CuptiFile, WhatIsNoLibraryIsForTheLoaderToRefuse) {
  const TemporaryFolder folder;
  for (const std::string& text : {std::string(), std::string("text"), std::string(5000, 'x'),
                                  std::string(ELFMAG) + std::string(5000, '\xff')}) {
    EXPECT_EQ(LookAtCupti(folder.Write("file", text).c_str()), CuptiLook::kUnreadable);
  }
  EXPECT_EQ(LookAtCupti(folder.File("absent").c_str()), CuptiLook::kUnreadable);
  EXPECT_EQ(LookAtCupti(folder.path().c_str()), CuptiLook::kUnreadable);
  const std::string pipe = folder.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(LookAtCupti(pipe.c_str()), CuptiLook::kUnreadable) << "nobody writes to it";
}

// Whatever a file says of itself, the look ends, within it.
TEST(CuptiFile, AnyHeaderIsBounded) {
  const TemporaryFolder folder;
  const std::string whole = ReadWholeFile(UTLZ_OLDER_CUPTI);
  for (const size_t kept : {size_t{64}, size_t{1000}, whole.size() / 2}) {
    const std::string path = folder.Write("cut", whole.substr(0, kept));
    EXPECT_EQ(LookAtCupti(path.c_str()), CuptiLook::kUnreadable) << kept;
  }
  for (size_t at = 0; at + 8 <= sizeof(ElfW(Ehdr)); at += 8) {
    std::string changed = whole;
    memset(changed.data() + at, 0xff, 8);
    LookAtCupti(folder.Write("changed", changed).c_str());
  }
  ElfW(Ehdr) head;
  memcpy(&head, whole.data(), sizeof head);
  for (size_t at = head.e_shoff; at + 8 <= whole.size(); at += 8) {
    std::string changed = whole;
    memset(changed.data() + at, 0xff, 8);
    LookAtCupti(folder.Write("changed", changed).c_str());
  }
}

}  // namespace
}  // namespace utlz::agent
