#include "tools/attach/target/python_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/python_image.h"
#include "tests/unit/attach/fake_memory.h"

namespace utlz::attach {
namespace {

constexpr uint64_t kImageBase = PythonImage::kBase;

absl::StatusOr<PythonRequestPlace> Find(const PythonImage& image,
                                        const std::string& map = PythonImage::kMap) {
  FakeMemory memory;
  memory.PutValue(kImageBase, image.words);
  return FindPythonRequestPlace(memory, MemoryMap::Parse(map));
}

// What Find() says of an image with one word changed.
absl::Status FindWith(uint64_t offset_bytes, uint64_t value) {
  PythonImage image;
  image.At(offset_bytes) = value;
  return Find(image).status();
}

TEST(PythonRuntimeTest, FindsTheMainThread) {
  const auto place = Find(PythonImage());
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->eval_breaker, kImageBase + PythonImage::kThread + 24);
  EXPECT_EQ(place->pending_call, kImageBase + PythonImage::kThread + 304);
  EXPECT_EQ(place->script_path, kImageBase + PythonImage::kThread + 308);
}

TEST(PythonRuntimeTest, PassesYoungerInterpreters) {
  PythonImage image;
  constexpr uint64_t kYounger = 1600;
  image.At(kYounger) = kImageBase + PythonImage::kInterpreter;  // next
  image.At(kYounger + 8) = 1;
  image.At(808) = kImageBase + kYounger;
  EXPECT_TRUE(Find(image).ok());
  image.At(kYounger) = kImageBase + kYounger;  // a ring
  EXPECT_TRUE(absl::IsNotFound(Find(image).status()));
}

TEST(PythonRuntimeTest, OnlyFinalReleasesOf314) {
  for (const uint64_t version : {0x030d05f0, 0x030e00a7, 0x030e00c2, 0x030f00f0, 0x040e00f0}) {
    EXPECT_TRUE(absl::IsNotFound(FindWith(8, version))) << std::hex << version;
  }
  EXPECT_TRUE(absl::IsNotFound(FindWith(8, 0x1'030e0af0)));
  EXPECT_TRUE(FindWith(8, 0x030e00f0).ok());
}

TEST(PythonRuntimeTest, SaysWhyNoRequestIsTaken) {
  EXPECT_THAT(std::string(FindWith(16, 1).message()), testing::HasSubstr("global lock"));
  EXPECT_THAT(std::string(FindWith(PythonImage::kInterpreter + 72, 0).message()),
              testing::HasSubstr("remote debugging disabled"));
  EXPECT_THAT(std::string(FindWith(PythonImage::kThread + 304, 1).message()),
              testing::HasSubstr("another tool's request"));
}

TEST(PythonRuntimeTest, NoneBeforeAndAfterItRuns) {
  EXPECT_TRUE(absl::IsNotFound(FindWith(808, 0)));                             // no interpreter
  EXPECT_TRUE(absl::IsNotFound(FindWith(784, 1)));                             // finalizing
  EXPECT_TRUE(absl::IsNotFound(FindWith(PythonImage::kInterpreter + 16, 0)));  // no main thread
}

TEST(PythonRuntimeTest, OffsetsBeyondTheirStates) {
  for (const size_t word : {4, 5, 7, 8, 10, 25, 89, 90, 91, 92, 93}) {
    for (const uint64_t value : {uint64_t{1021}, uint64_t{1} << 40, ~uint64_t{0}}) {
      EXPECT_TRUE(absl::IsFailedPrecondition(FindWith(word * 8, value))) << word << " " << value;
    }
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(FindWith(94 * 8, 4096)));
  EXPECT_TRUE(absl::IsFailedPrecondition(FindWith(22 * 8, uint64_t{1} << 40)));
}

// Where there is no memory, where it is another process's too, or where it is nobody's to write.
TEST(PythonRuntimeTest, StateOutsideOrdinaryMemory) {
  EXPECT_FALSE(FindWith(PythonImage::kInterpreter + 16, 8).ok());
  EXPECT_FALSE(
      FindWith(PythonImage::kInterpreter + 16, kImageBase + PythonImage::kThread + 4).ok());
  PythonImage image;
  constexpr uint64_t kElsewhere = 0x20000;
  image.At(PythonImage::kInterpreter + 16) = kElsewhere;
  std::array<uint64_t, 128> thread = {};
  thread[2] = kImageBase + PythonImage::kInterpreter;
  FakeMemory memory;
  memory.PutValue(kImageBase, image.words);
  memory.PutValue(kElsewhere, thread);
  const auto find = [&](const char* permissions) {
    return FindPythonRequestPlace(memory,
                                  MemoryMap::Parse(PythonImage::kMap + std::string("20000-21000 ") +
                                                   permissions + " 0 00:00 0 \n"))
        .ok();
  };
  EXPECT_TRUE(find("rw-p"));
  EXPECT_FALSE(find("rw-s"));
  EXPECT_FALSE(find("r--p"));
}

TEST(PythonRuntimeTest, LooksOnlyWhereAnInterpreterKeepsIt) {
  const PythonImage image;
  EXPECT_TRUE(Find(image, "10000-11000 rw-p 0 08:01 7 /opt/lib/libpython3.14.so.1.0\n").ok());
  EXPECT_FALSE(Find(image, "10000-11000 rw-p 0 08:01 7 /opt/lib/libtorch.so\n").ok());
  EXPECT_FALSE(Find(image, "10000-11000 r--p 0 08:01 7 /usr/bin/python3.14\n").ok());
  EXPECT_FALSE(Find(image, "10000-11000 rw-s 0 08:01 7 /usr/bin/python3.14\n").ok());
  EXPECT_FALSE(Find(image, "10000-11000 rw-p 0 00:00 0 python3.14\n").ok());
}

TEST(PythonRuntimeTest, TwoAreNone) {
  PythonImage image;
  image.At(3000) = image.words[0];
  EXPECT_TRUE(absl::IsNotFound(Find(image).status()));
}

}  // namespace
}  // namespace utlz::attach
