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

}  // namespace
}  // namespace utlz::inject
