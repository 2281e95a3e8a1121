#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "collector/profile/profile_reader.h"
#include "collector/profile/profile_writer.h"
#include "proto/frame.h"
#include "proto/profile.pb.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

using ::testing::HasSubstr;

struct WrittenFrame {
  uint32_t source;
  uint16_t type;
  std::string payload;
  bool operator==(const WrittenFrame&) const = default;
};

std::string RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Small, empty, compressible and incompressible payloads, of types known and not.
std::vector<WrittenFrame> SomeFrames() {
  return {{0, FRAME_RUN_START, "start"},
          {1, FRAME_PROCESS, ""},
          {1, FRAME_LAUNCHES, std::string(100'000, 'x')},
          {2, FRAME_LAUNCHES, RandomBytes(70'000, 1)},
          {2, 29, "of a later release"},
          {0, FRAME_RUN_END, "end"},
          {0, FRAME_SUMMARY, std::string(5'000, 's')}};
}

void WriteProfile(const std::string& path, const std::vector<WrittenFrame>& frames) {
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (const WrittenFrame& frame : frames) {
    ASSERT_TRUE(writer->Append(frame.source, frame.type, frame.payload).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
}

std::vector<WrittenFrame> ReadFrames(ProfileReader* reader) {
  std::vector<WrittenFrame> frames;
  for (FrameView frame; reader->Next(&frame);) {
    frames.push_back({frame.source, frame.type, std::string(frame.payload)});
  }
  return frames;
}

class ProfileTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.File("a b ü.utlz"); }

  std::string OpenError(const std::string& file) {
    const absl::StatusOr<ProfileReader> reader = ProfileReader::Open(file);
    return reader.ok() ? "" : std::string(reader.status().message());
  }

  TemporaryFolder folder_;
};

// A payload of zeros is a few hundred bytes for each 8 MiB.
TEST_F(ProfileTest, AFileThatExpandsWithoutMeasureIsGivenUp) {
  constexpr size_t kPayloadBytes = 8 << 20;
  constexpr size_t kFrames = 40;
  const std::vector<WrittenFrame> frames(kFrames,
                                         {1, FRAME_LAUNCHES, std::string(kPayloadBytes, '\0')});
  WriteProfile(path(), frames);
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  size_t read = 0;
  for (FrameView frame; reader->Next(&frame);) ++read;
  EXPECT_GT(read, 4u);
  EXPECT_LT(read, kFrames / 2);
  EXPECT_GT(reader->refused_frames(), 0u);
}

TEST_F(ProfileTest, ReadsBackWhatWasWritten) {
  WriteProfile(path(), SomeFrames());
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(reader->finished());
  EXPECT_EQ(ReadFrames(&*reader), SomeFrames());
  EXPECT_EQ(reader->refused_frames(), 0u);
  EXPECT_EQ(reader->unreadable_bytes(), 0u);
  reader->Rewind();
  EXPECT_EQ(ReadFrames(&*reader), SomeFrames());
}

TEST_F(ProfileTest, CompressesOnlyWhereItPays) {
  WriteProfile(path(), {{1, FRAME_LAUNCHES, std::string(100'000, 'x')}});
  EXPECT_LT(ReadWholeFile(path()).size(), 2'000u);
  WriteProfile(path(), {{1, FRAME_LAUNCHES, std::string(4'096, 'x')}});
  EXPECT_GT(ReadWholeFile(path()).size(), 4'096u);
}

TEST_F(ProfileTest, FindsTheLastFrameOfATypeWithAndWithoutAnIndex) {
  std::vector<WrittenFrame> frames = SomeFrames();
  frames.push_back({0, FRAME_SUMMARY, "the newer summary"});
  WriteProfile(path(), frames);
  const std::string bytes = ReadWholeFile(path());
  for (const bool finished : {true, false}) {
    WriteWholeFile(path(), finished ? bytes : bytes.substr(0, bytes.size() - 1));
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
    ASSERT_TRUE(reader.ok());
    ASSERT_EQ(reader->finished(), finished);
    FrameView first;
    ASSERT_TRUE(reader->Next(&first));
    const std::optional<FrameView> found = reader->FindLast(FRAME_SUMMARY);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->payload, "the newer summary");
    EXPECT_FALSE(reader->FindLast(FRAME_RANKS).has_value());
    FrameView second;
    ASSERT_TRUE(reader->Next(&second)) << "FindLast must not move the reader";
    EXPECT_EQ(second.type, FRAME_PROCESS);
  }
}

TEST_F(ProfileTest, FindsACompressedFrameAmongOthersWithoutAnIndex) {
  const std::string launches(10'000, 'l');
  const std::string summary(20'000, 's');
  WriteProfile(path(), {{1, FRAME_LAUNCHES, launches},
                        {0, FRAME_SUMMARY, "an older summary"},
                        {0, FRAME_SUMMARY, summary},
                        {1, FRAME_LAUNCHES, launches}});
  const std::string bytes = ReadWholeFile(path());
  ASSERT_LT(bytes.size(), launches.size()) << "none was compressed";
  WriteWholeFile(path(), bytes.substr(0, bytes.size() - 1));
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok());
  const std::optional<FrameView> found = reader->FindLast(FRAME_SUMMARY);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->payload, summary);
  FrameView first;
  ASSERT_TRUE(reader->Next(&first));
  EXPECT_EQ(first.payload, launches) << "others are whole for those who ask for them";
}

TEST_F(ProfileTest, SurvivesTheDeathOfItsWriterUpToTheLastFlush) {
  const pid_t child = fork();
  if (child == 0) {
    absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path());
    const bool flushed =
        writer.ok() && writer->Append(1, FRAME_LAUNCHES, "kept").ok() && writer->Flush().ok();
    if (flushed) writer->Append(1, FRAME_LAUNCHES, "lost").IgnoreError();
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_FALSE(reader->finished());
  EXPECT_EQ(ReadFrames(&*reader), (std::vector<WrittenFrame>{{1, FRAME_LAUNCHES, "kept"}}));
}

TEST_F(ProfileTest, ReadsEveryTruncationUpToItsLastWholeFrame) {
  const std::vector<WrittenFrame> frames = {
      {0, FRAME_RUN_START, "start"}, {1, FRAME_LAUNCHES, "launches"}, {1, FRAME_COPIES, "copies"}};
  WriteProfile(path(), frames);
  const std::string whole = ReadWholeFile(path());
  for (size_t size = sizeof(ProfileHeader); size < whole.size(); ++size) {
    WriteWholeFile(path(), whole.substr(0, size));
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
    ASSERT_TRUE(reader.ok());
    EXPECT_FALSE(reader->finished());
    const std::vector<WrittenFrame> read = ReadFrames(&*reader);
    size_t expected = 0;
    for (uint64_t end = sizeof(ProfileHeader); expected < frames.size(); ++expected) {
      end += FrameBytes(static_cast<uint32_t>(frames[expected].payload.size()));
      if (end > size) break;
    }
    EXPECT_EQ(read, std::vector<WrittenFrame>(frames.begin(), frames.begin() + expected))
        << "at " << size << " bytes";
    EXPECT_EQ(reader->refused_frames(), 0u) << "a cut is no damage";
  }
}

TEST_F(ProfileTest, SkipsADamagedFrameAndGoesOnBehindIt) {
  WriteProfile(path(), SomeFrames());
  const std::string whole = ReadWholeFile(path());
  // Every byte of the second to fourth frame's header, one after the other.
  const uint64_t second = sizeof(ProfileHeader) + FrameBytes(5);
  for (uint64_t offset = second; offset < second + 2 * sizeof(FrameHeader); ++offset) {
    std::string damaged = whole;
    damaged[offset] = static_cast<char>(damaged[offset] ^ 0x41);
    WriteWholeFile(path(), damaged);
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
    ASSERT_TRUE(reader.ok());
    const std::vector<WrittenFrame> read = ReadFrames(&*reader);
    ASSERT_EQ(read.size(), SomeFrames().size() - 1) << "offset " << offset;
    EXPECT_EQ(read.back(), SomeFrames().back());
    EXPECT_EQ(reader->refused_frames(), 1u);
    EXPECT_GE(reader->unreadable_bytes(), sizeof(FrameHeader));
  }
}

TEST_F(ProfileTest, NoRandomDamageBreaksTheReader) {
  WriteProfile(path(), SomeFrames());
  const std::string whole = ReadWholeFile(path());
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 20; ++i)
      damaged[16 + random() % (damaged.size() - 16)] = static_cast<char>(random());
    WriteWholeFile(path(), damaged);
    absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
    ASSERT_TRUE(reader.ok());
    const std::vector<WrittenFrame> expected = SomeFrames();
    for (const WrittenFrame& frame : ReadFrames(&*reader)) {
      EXPECT_NE(std::find(expected.begin(), expected.end(), frame), expected.end());
    }
    reader->FindLast(FRAME_SUMMARY);
  }
}

TEST_F(ProfileTest, AFileThatLooksLikeEndlessFramesIsGivenUpInBoundedTime) {
  // Every 8 bytes a header that announces 4 MiB with a wrong checksum.
  std::string bytes(ReadWholeFile(path()));
  ProfileHeader header = {};
  std::memcpy(header.magic, kProfileMagic, sizeof(header.magic));
  header.version = kProfileVersion;
  bytes.assign(reinterpret_cast<const char*>(&header), sizeof(header));
  const uint32_t word[2] = {4u << 20, 0};
  for (int i = 0; i < (8 << 20) / 8; ++i) bytes.append(reinterpret_cast<const char*>(word), 8);
  WriteWholeFile(path(), bytes);
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok());
  FrameView frame;
  EXPECT_FALSE(reader->Next(&frame));  // without a bound: 500,000 hashes of 4 MiB
  EXPECT_EQ(reader->unreadable_bytes(), bytes.size() - sizeof(header));
}

TEST_F(ProfileTest, RefusesACompressedFrameThatClaimsTooMuch) {
  WriteProfile(path(), {{1, FRAME_LAUNCHES, std::string(100'000, 'x')}, {1, FRAME_COPIES, "b"}});
  std::string bytes = ReadWholeFile(path());
  FrameHeader header;
  std::memcpy(&header, bytes.data() + sizeof(ProfileHeader), sizeof(header));
  ASSERT_EQ(header.flags, kFrameCompressed);
  char* payload = bytes.data() + sizeof(ProfileHeader) + sizeof(FrameHeader);
  // A zstd frame header (RFC 8878) with a content size of 4 GiB − 1 in its 4-byte field.
  ASSERT_EQ(static_cast<unsigned char>(payload[4]) >> 6, 2) << "expected a 4-byte content size";
  std::memset(payload + 5, 0xff, 4);
  header.checksum = FrameChecksum(header, payload);
  std::memcpy(bytes.data() + sizeof(ProfileHeader), &header, sizeof(header));
  WriteWholeFile(path(), bytes);
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadFrames(&*reader), (std::vector<WrittenFrame>{{1, FRAME_COPIES, "b"}}));
  EXPECT_EQ(reader->refused_frames(), 1u);
}

TEST_F(ProfileTest, SaysInOneSentenceWhatCannotBeRead) {
  EXPECT_THAT(OpenError(folder_.File("none")), HasSubstr("No such file"));
  WriteWholeFile(path(), "");
  EXPECT_THAT(OpenError(path()), HasSubstr("is empty"));
  WriteWholeFile(path(), "UTLZ");
  EXPECT_THAT(OpenError(path()), HasSubstr("cut off"));
  WriteWholeFile(path(), "#!/bin/sh\necho this is something else\n");
  EXPECT_THAT(OpenError(path()), HasSubstr("is not a utlz profile"));
  WriteProfile(folder_.File("newer.utlz"), {});
  std::string bytes = ReadWholeFile(folder_.File("newer.utlz"));
  bytes[8] = 9;
  WriteWholeFile(path(), bytes);
  EXPECT_THAT(OpenError(path()), HasSubstr("format 9"));
  EXPECT_THAT(OpenError(path()), HasSubstr("reads up to 1"));
  EXPECT_THAT(OpenError(folder_.path()), HasSubstr("not a regular file"));
}

TEST_F(ProfileTest, ReplacesAProfileButNothingElse) {
  WriteProfile(path(), SomeFrames());
  WriteProfile(path(), {});
  WriteWholeFile(path(), "import torch");
  EXPECT_EQ(ProfileWriter::Open(path()).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReadWholeFile(path()), "import torch");
  EXPECT_EQ(ProfileWriter::Open(folder_.File("no/such")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(ProfileWriter::Open(folder_.path()).ok());
}

TEST_F(ProfileTest, TwoRunsCannotWriteOneFile) {
  absl::StatusOr<ProfileWriter> first = ProfileWriter::Open(path());
  ASSERT_TRUE(first.ok());
  const absl::Status second = ProfileWriter::Open(path()).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.message()), HasSubstr("another utlz"));
}

TEST_F(ProfileTest, RefusesAMessageThatIsTooLargeAndGoesOn) {
  absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path());
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer->Append(0, FRAME_SUMMARY, std::string(kMaxFramePayloadBytes + 1, 'a')).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(writer->Append(0, FRAME_RUN_END, "b").ok());
  EXPECT_TRUE(writer->Finish().ok());
}

// A limit on the file's size stands for a full disk: write fails in the middle of a frame.
TEST_F(ProfileTest, AFullDiskLeavesAProfileOfWholeFrames) {
  constexpr rlim_t kLimitBytes = 300'000;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {kLimitBytes, kLimitBytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    absl::StatusOr<ProfileWriter> writer = ProfileWriter::Open(path());
    absl::Status status;
    for (uint32_t i = 0; i < 100 && status.ok(); ++i) {
      status = writer->Append(1, FRAME_LAUNCHES, RandomBytes(10'000, i));
    }
    const bool failed_for_good = !status.ok() && writer->Append(1, FRAME_COPIES, "a") == status &&
                                 writer->Flush() == status && writer->Finish() == status;
    _exit(failed_for_good ? 0 : 1);
  }
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  EXPECT_EQ(wait_status, 0);
  const uint64_t frame_bytes = FrameBytes(10'000);
  const uint64_t whole_frames = (kLimitBytes - sizeof(ProfileHeader)) / frame_bytes;
  EXPECT_EQ(ReadWholeFile(path()).size(), sizeof(ProfileHeader) + whole_frames * frame_bytes);
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadFrames(&*reader).size(), whole_frames);
  EXPECT_EQ(reader->unreadable_bytes(), 0u);
}

}  // namespace
}  // namespace utlz
