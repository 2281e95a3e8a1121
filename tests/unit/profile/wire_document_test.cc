// The hex dump in docs/design/wire.md is a profile: it must say what the text around it says.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>

#include "collector/profile/profile_reader.h"
#include "proto/profile.pb.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

// The bytes of the block that is fenced by ```hex: lines of an offset, bytes, and text after '|'.
std::string DumpedBytes(const std::string& document) {
  const size_t begin = document.find("```hex\n");
  const size_t end = document.find("```", begin + 3);
  std::string bytes;
  if (begin == std::string::npos || end == std::string::npos) return bytes;
  std::istringstream block(document.substr(begin + 7, end - begin - 7));
  for (std::string line; std::getline(block, line);) {
    std::istringstream words(line.substr(0, line.find('|')));
    std::string offset;
    words >> offset;
    EXPECT_EQ(std::strtoul(offset.c_str(), nullptr, 16), bytes.size()) << line;
    for (std::string word; words >> word;) {
      bytes.push_back(static_cast<char>(std::strtoul(word.c_str(), nullptr, 16)));
    }
  }
  return bytes;
}

TEST(WireDocument, TheDumpIsTheProfileThatTheTextDescribes) {
  const std::string document = ReadWholeFile(UTLZ_SOURCE_FOLDER "/docs/design/wire.md");
  ASSERT_FALSE(document.empty());
  TemporaryFolder folder;
  WriteWholeFile(folder.File("dump.utlz"), DumpedBytes(document));
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(folder.File("dump.utlz"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(reader->finished());

  FrameView frame;
  ASSERT_TRUE(reader->Next(&frame));
  EXPECT_EQ(frame.type, FRAME_STRINGS);
  EXPECT_EQ(frame.source, 1u);
  Strings strings;
  ASSERT_TRUE(strings.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size())));
  EXPECT_EQ(strings.first(), 1u);
  ASSERT_EQ(strings.values_size(), 1);
  EXPECT_EQ(strings.values(0), "saxpy");

  ASSERT_TRUE(reader->Next(&frame));
  EXPECT_EQ(frame.type, FRAME_LAUNCHES);
  EXPECT_EQ(frame.source, 1u);
  LaunchBatch batch;
  ASSERT_TRUE(batch.ParseFromArray(frame.payload.data(), static_cast<int>(frame.payload.size())));
  EXPECT_EQ(batch.base_ns(), 1'000'000'000u);
  EXPECT_EQ(batch.launches(), 3u);
  EXPECT_EQ(std::vector<uint32_t>(batch.run_variant().begin(), batch.run_variant().end()),
            (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(
      std::vector<int64_t>(batch.duration_residual().begin(), batch.duration_residual().end()),
      (std::vector<int64_t>{2000, 8, 0}));
  EXPECT_FALSE(reader->Next(&frame));
  EXPECT_EQ(reader->unreadable_bytes(), 0u);
}

}  // namespace
}  // namespace utlz
