#include "cupti/file_pages.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <libgen.h>

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace utlz {
namespace {

constexpr size_t kFewBytes = size_t{128} << 10;

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string FileName() {
  std::string path = UTLZ_LARGE_CONSTANTS_LIBRARY;
  return basename(path.data());
}

// Of the mapping that holds an address.
size_t ResidentBytes(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    size_t kib = 0;
    if (sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      const auto wanted = reinterpret_cast<uintptr_t>(address);
      inside = begin <= wanted && wanted < end;
    } else if (inside && sscanf(line.c_str(), "Rss: %zu kB", &kib) == 1) {
      return kib << 10;
    }
  }
  return 0;
}

TEST(FilePagesTest, ConstantsGoAndComeAgain) {
  EXPECT_FALSE(IsLoaded(FileName().c_str()));
  void* library = dlopen(UTLZ_LARGE_CONSTANTS_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_TRUE(IsLoaded(FileName().c_str()));
  const char* data = Find<const char* (*)()>(library, "LargeConstants")();
  const size_t bytes = Find<size_t (*)()>(library, "LargeConstantsBytes")();
  const auto sevens = [&] { return std::count(data, data + bytes, 7); };
  EXPECT_EQ(sevens(), static_cast<std::ptrdiff_t>(bytes));
  ASSERT_GT(ResidentBytes(data), bytes - kFewBytes);
  EXPECT_GT(ReleaseFilePages(FileName().c_str()), bytes - kFewBytes);
  EXPECT_LT(ResidentBytes(data), kFewBytes);
  EXPECT_EQ(sevens(), static_cast<std::ptrdiff_t>(bytes));
  dlclose(library);
}

TEST(FilePagesTest, WhatIsNotLoadedIsNotFound) {
  EXPECT_FALSE(IsLoaded("libnothing.so"));
  EXPECT_EQ(ReleaseFilePages("libnothing.so"), 0u);
  EXPECT_TRUE(IsLoaded("libc.so")) << "by the beginning of its file's name";
}

}  // namespace
}  // namespace utlz
