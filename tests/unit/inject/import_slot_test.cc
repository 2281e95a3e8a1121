#include "inject/import_slot.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace utlz::inject {
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

}  // namespace
}  // namespace utlz::inject
