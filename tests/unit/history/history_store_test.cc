#include "collector/history/history_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "collector/history/history_files.h"
#include "collector/history/history_log.h"
#include "collector/history/history_reader.h"
#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = HistoryStore::kLeastBytes;
constexpr size_t kPadding = 128;

class HistoryStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<HistoryStore> Open(uint64_t most_bytes = kMostBytes) const {
    absl::StatusOr<std::unique_ptr<HistoryStore>> store =
        HistoryStore::Open(path_, most_bytes);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  static HistoryInterval Interval(uint32_t number, const std::string& job = "job") {
    HistoryInterval interval;
    interval.set_run("run of " + job);
    interval.set_number(number);
    interval.set_job(job);
    interval.set_program(std::string(kPadding, 'p'));
    return interval;
  }

  std::vector<uint32_t> Numbers(HistoryReading* reading = nullptr) const {
    std::vector<uint32_t> numbers;
    const auto read = ReadHistory(
        path_, [&](const HistoryInterval& interval) { numbers.push_back(interval.number()); });
    EXPECT_TRUE(read.ok()) << read.status();
    if (reading != nullptr && read.ok()) *reading = *read;
    return numbers;
  }

  uint64_t BytesOnDisk() const {
    uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(path_)) bytes += entry.file_size();
    return bytes;
  }

  std::vector<std::string> Segments() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (SegmentNumber(entry.path().filename().string())) names.push_back(entry.path());
    }
    return names;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("a/history");
};

TEST_F(HistoryStoreTest, WhatIsAppendedIsReadInOrder) {
  const auto store = Open();
  for (uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(store->Append(Interval(i)).ok());
  const std::vector<uint32_t> numbers = Numbers();  // while it is being written
  ASSERT_EQ(numbers.size(), 100u);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(numbers[i], i);
  EXPECT_EQ(fs::status(Segments().front()).permissions() & fs::perms::all,
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(HistoryStoreTest, TheOldestMakeRoomAndTheBoundHolds) {
  const auto store = Open();
  constexpr uint32_t kCount = 20000;
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(store->Append(Interval(i)).ok());
    if (i % 500 == 0) {
      ASSERT_LE(BytesOnDisk(), kMostBytes);
    }
  }
  EXPECT_LE(BytesOnDisk(), kMostBytes);
  EXPECT_GT(BytesOnDisk(), kMostBytes * 8 / 10) << "room is made by parts";
  const std::vector<uint32_t> numbers = Numbers();
  EXPECT_EQ(numbers.back(), kCount - 1);
  EXPECT_GT(numbers.front(), 0u);
  EXPECT_EQ(numbers.size(), kCount - numbers.front()) << "none is missing between";
}

TEST_F(HistoryStoreTest, RunsShareASegment) {
  for (uint32_t i = 0; i < 50; ++i) ASSERT_TRUE(Open()->Append(Interval(i)).ok());
  EXPECT_EQ(Segments().size(), 1u);
  EXPECT_EQ(Numbers().size(), 50u);
}

TEST_F(HistoryStoreTest, WhatACrashCutOffIsOverwritten) {
  ASSERT_TRUE(Open()->Append(Interval(0)).ok());
  const std::string path = Segments().front();
  const uint64_t whole_bytes = fs::file_size(path);
  ASSERT_TRUE(Open()->Append(Interval(1)).ok());
  const std::string bytes = ReadWholeFile(path);
  for (uint64_t size = whole_bytes; size < bytes.size(); ++size) {
    WriteWholeFile(path, bytes.substr(0, size));
    HistoryReading reading;
    ASSERT_EQ(Numbers(&reading), std::vector<uint32_t>{0}) << size;
    ASSERT_EQ(reading.unreadable_bytes, size - whole_bytes);
    ASSERT_TRUE(Open()->Append(Interval(2)).ok());
    ASSERT_EQ(Numbers(&reading), (std::vector<uint32_t>{0, 2})) << size;
    ASSERT_EQ(reading.unreadable_bytes, 0u);
  }
}

TEST_F(HistoryStoreTest, ADamagedIntervalCostsNoOther) {
  const auto store = Open();
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(store->Append(Interval(i)).ok());
  const std::string path = Segments().front();
  std::string bytes = ReadWholeFile(path);
  bytes[bytes.size() / 2] ^= 1;
  WriteWholeFile(path, bytes);
  HistoryReading reading;
  EXPECT_EQ(Numbers(&reading), (std::vector<uint32_t>{0, 2}));
  EXPECT_GT(reading.unreadable_bytes, 0u);
}

TEST_F(HistoryStoreTest, SurvivesTheDeathOfItsProcess) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    const auto store = Open();
    for (uint32_t i = 0;; ++i) {
      if (!store->Append(Interval(i)).ok() || write(told[1], &i, sizeof(i)) != sizeof(i)) _exit(1);
    }
  }
  uint32_t last = 0;
  while (last < 200)
    ASSERT_EQ(read(told[0], &last, sizeof(last)), static_cast<ssize_t>(sizeof(last)));
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  for (const int end : told) close(end);
  const size_t before = Numbers().size();
  EXPECT_GE(before, last + 1);
  ASSERT_TRUE(Open()->Append(Interval(7)).ok());
  EXPECT_EQ(Numbers().size(), before + 1);
}

// Grows no file beyond what it is now, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(uint64_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(HistoryStoreTest, AFullDiskCostsWhatDidNotFitAndNoMore) {
  const auto store = Open();
  ASSERT_TRUE(store->Append(Interval(0)).ok());
  const uint64_t size = fs::file_size(Segments().front());
  {
    const FullDisk full(size + 40);
    const absl::Status failed = store->Append(Interval(1));
    EXPECT_FALSE(failed.ok());
    EXPECT_THAT(std::string(failed.message()), testing::HasSubstr(path_));
    EXPECT_EQ(fs::file_size(Segments().front()), size) << "nothing in part is left";
  }
  ASSERT_TRUE(store->Append(Interval(2)).ok());
  EXPECT_EQ(Numbers(), (std::vector<uint32_t>{0, 2}));
}

TEST_F(HistoryStoreTest, TheLogWritesWhatWaitedForTheDisk) {
  std::vector<std::string> said;
  {
    auto log = HistoryLog::Open(path_, kMostBytes,
                                [&](const std::string& sentence) { said.push_back(sentence); });
    ASSERT_TRUE(log.ok());
    {
      const FullDisk full(40);
      (*log)->Add(Interval(0));
      (*log)->Add(Interval(1));
      while (!fs::exists(path_ + "/" + SegmentName(1))) usleep(1000);
    }
  }
  EXPECT_EQ(Numbers(), (std::vector<uint32_t>{0, 1}));
}

TEST_F(HistoryStoreTest, WritersShareTheBoundAndOneTooManyIsTold) {
  std::vector<std::unique_ptr<HistoryStore>> stores;
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    stores.push_back(Open());
    const absl::Status status = stores.back()->Append(Interval(0, std::to_string(i)));
    if (status.ok()) continue;
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    ++refused;
  }
  EXPECT_EQ(refused, 24) << "sixteen segments fit";
  for (uint32_t i = 1; i < 500; ++i) {
    for (const auto& store : stores) (void)store->Append(Interval(i));
    if (i % 100 == 0) {
      ASSERT_LE(BytesOnDisk(), kMostBytes);
    }
  }
  EXPECT_LE(BytesOnDisk(), kMostBytes);
}

TEST_F(HistoryStoreTest, StrangeFilesAreLeftAlone) {
  ASSERT_TRUE(Open()->Append(Interval(0)).ok());
  WriteWholeFile(path_ + "/0000000002.utlzh", "rubbish that is longer than a header is");
  WriteWholeFile(path_ + "/notes", "mine");
  fs::create_symlink("/etc/passwd", path_ + "/0000000003.utlzh");
  ASSERT_EQ(mkfifo((path_ + "/0000000004.utlzh").c_str(), 0600), 0);
  HistoryReading reading;
  EXPECT_EQ(Numbers(&reading), std::vector<uint32_t>{0});
  EXPECT_EQ(reading.unreadable_segments, 3u);
  ASSERT_TRUE(Open()->Append(Interval(1)).ok());
  EXPECT_EQ(Numbers(), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(ReadWholeFile(path_ + "/notes"), "mine");
}

TEST_F(HistoryStoreTest, TooSmallABoundIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(HistoryStore::Open(path_, 1000).status()));
}

}  // namespace
}  // namespace utlz
