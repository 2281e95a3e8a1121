#include "inject/tracing/import_slot.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "inject/base/page_protection.h"
#include "tests/support/temporary_folder.h"

namespace utlz::agent {
namespace {

pid_t Stranger() { return 4242; }

uintptr_t HereInThisModule() { return reinterpret_cast<uintptr_t>(&Stranger); }

TEST(ImportSlot, RedirectsThisModulesCallsAndBack) {
  void** slot = FindImportSlot(HereInThisModule(), "getppid");
  ASSERT_NE(slot, nullptr);
  const pid_t before = getppid();
  void* const original = *slot;
  ASSERT_TRUE(SetImportSlot(slot, reinterpret_cast<void*>(&Stranger)));
  EXPECT_EQ(getppid(), 4242);
  ASSERT_TRUE(SetImportSlot(slot, original));
  EXPECT_EQ(getppid(), before);
}

TEST(ImportSlot, FindsNothingWhereThereIsNoImport) {
  EXPECT_EQ(FindImportSlot(HereInThisModule(), "no_such_function_anywhere"), nullptr);
  EXPECT_EQ(FindImportSlot(0, "getppid"), nullptr);
}

// Volatile, so that a call goes through the memory.
using Process = pid_t (*)();
Process volatile kept_process = getppid;

TEST(ImportSlot, ReplacesWhatIsKeptInStaticData) {
  void* const original = reinterpret_cast<void*>(&getppid);
  void* const stranger = reinterpret_cast<void*>(&Stranger);
  EXPECT_GE(ReplaceStoredPointers(HereInThisModule(), original, stranger), 1u);
  EXPECT_EQ(kept_process(), 4242);
  EXPECT_GE(ReplaceStoredPointers(HereInThisModule(), stranger, original), 1u);
  EXPECT_NE(kept_process(), 4242);
}

TEST(ImportSlot, FindsModulesByTheLibraryThatTheyNeed) {
  uintptr_t modules[64];
  const uint32_t count = FindDependents("libc.so", modules, 64);
  ASSERT_GE(count, 1u);
  bool this_one = false;
  for (uint32_t i = 0; i < count; ++i) {
    this_one = this_one || FindImportSlot(modules[i], "getppid") ==
                               FindImportSlot(HereInThisModule(), "getppid");
  }
  EXPECT_TRUE(this_one);
  EXPECT_EQ(FindDependents("libc.so", modules, 1), 1u);
  EXPECT_EQ(FindDependents("no_such_library.so", modules, 64), 0u);
  EXPECT_GE(ModulesEverLoaded(), 1u);
}

// A library whose slot for getppid() lies in what the loader makes read-only (RELRO).
class RelroTest : public testing::Test {
 protected:
  // The slot, of a copy of the library whose RELRO ends `less` bytes before the page does.
  void** LoadWithRelroShorterBy(size_t less) {
    std::string bytes = ReadWholeFile(UTLZ_RELRO_LIBRARY);
    ElfW(Ehdr) file;
    memcpy(&file, bytes.data(), sizeof file);
    for (size_t i = 0; i < file.e_phnum; ++i) {
      const size_t place = file.e_phoff + i * sizeof(ElfW(Phdr));
      ElfW(Phdr) header;
      memcpy(&header, bytes.data() + place, sizeof header);
      if (header.p_type == PT_GNU_RELRO) header.p_memsz -= less;
      memcpy(bytes.data() + place, &header, sizeof header);
    }
    const std::string path = folder_.Write("relro.so", bytes);
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library == nullptr
               ? nullptr
               : FindImportSlot(reinterpret_cast<uintptr_t>(dlsym(library, "AskParent")),
                                "getppid");
  }

  static int Protection(void** slot) {
    int protection = -1;
    EXPECT_TRUE(ReadProtection(reinterpret_cast<uintptr_t>(slot), &protection));
    return protection;
  }

  TemporaryFolder folder_;
};

TEST_F(RelroTest, APageThatTheLoaderMadeReadOnlyStaysSo) {
  void** const slot = LoadWithRelroShorterBy(0);
  ASSERT_NE(slot, nullptr);
  ASSERT_EQ(Protection(slot), PROT_READ);
  ASSERT_TRUE(SetImportSlot(slot, reinterpret_cast<void*>(&Stranger)));
  EXPECT_EQ(*slot, reinterpret_cast<void*>(&Stranger));
  EXPECT_EQ(Protection(slot), PROT_READ);
}

// As of a library that was linked for pages of 4 KiB where they have 64: the loader leaves the last
// page, which RELRO shares with the program's variables, as it is.
TEST_F(RelroTest, APageThatItLeftWritableStaysSo) {
  void** const slot = LoadWithRelroShorterBy(8);
  ASSERT_NE(slot, nullptr);
  ASSERT_EQ(Protection(slot), PROT_READ | PROT_WRITE);
  ASSERT_TRUE(SetImportSlot(slot, reinterpret_cast<void*>(&Stranger)));
  EXPECT_EQ(*slot, reinterpret_cast<void*>(&Stranger));
  EXPECT_EQ(Protection(slot), PROT_READ | PROT_WRITE) << "the program's next write would crash";
}

TEST(PageProtection, IsThatOfTheMapping) {
  int protection = 0;
  ASSERT_TRUE(ReadProtection(HereInThisModule(), &protection));
  EXPECT_EQ(protection, PROT_READ | PROT_EXEC);
  EXPECT_FALSE(ReadProtection(0, &protection));
}

}  // namespace
}  // namespace utlz::agent
