#include "cupti/zero_pages.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace utlz {
namespace {

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

size_t ResidentPages(const char* data, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) & ~(page - 1);
  std::vector<unsigned char> resident(bytes / page - 1);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), resident.size() * page, resident.data()), 0);
  return static_cast<size_t>(std::count_if(resident.begin(), resident.end(),
                                           [](unsigned char in) { return (in & 1) != 0; }));
}

TEST(ZeroPagesTest, PagesOfZerosGoAndTheDataStays) {
  void* library = dlopen(UTLZ_ZERO_FILLED_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  char* data = Find<char* (*)()>(library, "ZeroFilledData")();
  const size_t bytes = Find<size_t (*)()>(library, "ZeroFilledBytes")();
  const size_t mark = Find<size_t (*)()>(library, "ZeroFilledMark")();
  ASSERT_GT(ResidentPages(data, bytes), bytes / 8192) << "it does not fill its data";
  EXPECT_GT(ReleaseZeroPages(library), bytes * 9 / 10);
  EXPECT_LT(ResidentPages(data, bytes), 100u);
  const std::span<char> all(data, bytes);
  EXPECT_EQ(std::count(all.begin(), all.end(), 0), static_cast<std::ptrdiff_t>(bytes) - 1);
  EXPECT_EQ(data[mark], 42);
  data[mark + 1] = 7;
  EXPECT_EQ(data[mark + 1], 7) << "and it can be written as before";
  dlclose(library);
}

TEST(ZeroPagesTest, ALibraryThatWasThereBeforeIsLeftAlone) {
  void* library = dlopen(UTLZ_ZERO_FILLED_LIBRARY, RTLD_NOW);
  char* data = Find<char* (*)()>(library, "ZeroFilledData")();
  const size_t bytes = Find<size_t (*)()>(library, "ZeroFilledBytes")();
  void* again = OpenWithoutZeroPages(UTLZ_ZERO_FILLED_LIBRARY, RTLD_NOW);
  EXPECT_EQ(again, library);
  EXPECT_GT(ResidentPages(data, bytes), bytes / 8192);
  dlclose(again);
  dlclose(library);
  ASSERT_EQ(dlopen(UTLZ_ZERO_FILLED_LIBRARY, RTLD_NOW | RTLD_NOLOAD), nullptr);
  library = OpenWithoutZeroPages(UTLZ_ZERO_FILLED_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  EXPECT_LT(ResidentPages(Find<char* (*)()>(library, "ZeroFilledData")(), bytes), 100u);
  dlclose(library);
}

TEST(ZeroPagesTest, NothingIsDoneToWhatIsNoLibrary) {
  EXPECT_EQ(ReleaseZeroPages(nullptr), 0u);
  EXPECT_EQ(OpenWithoutZeroPages("/nowhere/libnothing.so", RTLD_NOW), nullptr);
}

}  // namespace
}  // namespace utlz
