#include "tools/attach/library_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace utlz::attach {
namespace {

using testing::HasSubstr;

TEST(LibraryFileTest, RefusesMissingFile) {
  EXPECT_EQ(LibraryFile::Open("/nonexistent/libutlz_inject.so").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(LibraryFileTest, RefusesWhatIsNoLibrary) {
  EXPECT_THAT(std::string(LibraryFile::Open("/proc/self/status").status().message()),
              HasSubstr("is no shared library"));
}

TEST(LibraryFileTest, RefusesLibraryWithoutConfiguration) {
  // The test program itself is an ELF file of the right kind that holds no configuration.
  EXPECT_THAT(std::string(LibraryFile::Open("/proc/self/exe").status().message()),
              HasSubstr("does not take this version's attach configuration"));
}

}  // namespace
}  // namespace utlz::attach
