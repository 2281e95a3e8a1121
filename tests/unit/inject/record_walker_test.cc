#include "inject/record/record_walker.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace utlz::agent {
namespace {

constexpr uint32_t kShortCopyBytes = 112;

// A library whose records say their own length, in a field that the agent does not look at.
struct Library {
  static inline uint32_t asked = 0;

  static cupti::Result NextRecord(uint8_t* buffer, size_t valid_bytes, cupti::RecordHead** record) {
    ++asked;
    uint8_t* next = buffer;
    if (*record != nullptr) {
      next = reinterpret_cast<uint8_t*>(*record);
      next += LengthAt(next);
    }
    if (next >= buffer + valid_bytes) return cupti::kErrorMaxLimitReached;
    *record = reinterpret_cast<cupti::RecordHead*>(next);
    return cupti::kSuccess;
  }

  static uint32_t LengthAt(const uint8_t* record) {
    uint32_t bytes = 0;
    std::memcpy(&bytes, record + 8, sizeof bytes);
    return bytes;
  }
};

class RecordWalkerTest : public testing::Test {
 protected:
  RecordWalkerTest() { Library::asked = 0; }

  void Add(uint32_t kind, uint32_t bytes) {
    const size_t place = buffer_.size();
    buffer_.resize(place + bytes);
    std::memcpy(&buffer_[place], &kind, sizeof kind);
    std::memcpy(&buffer_[place + 8], &bytes, sizeof bytes);
    // What is beyond a shorter kernel record's length looks like another, to whoever accepts it.
    for (size_t decoy = sizeof(cupti::KernelRecord); decoy + sizeof kind <= bytes; decoy += 8) {
      std::memcpy(&buffer_[place + decoy], &cupti::kKindConcurrentKernel, sizeof kind);
    }
    places_.push_back(place);
  }
  void AddKernels(int count, uint32_t bytes) {
    for (int i = 0; i < count; ++i) Add(cupti::kKindConcurrentKernel, bytes);
  }

  // Every record once, in order, and nothing else.
  void ExpectWalked() {
    walker_.Begin(Library::NextRecord, buffer_.data(), buffer_.size());
    for (const size_t place : places_) {
      const auto* record = reinterpret_cast<const uint8_t*>(walker_.Next());
      ASSERT_NE(record, nullptr);
      ASSERT_EQ(record - buffer_.data(), static_cast<ptrdiff_t>(place));
    }
    EXPECT_EQ(walker_.Next(), nullptr);
    buffer_.clear();
    places_.clear();
  }

  RecordWalker walker_;
  std::vector<uint8_t> buffer_;
  std::vector<size_t> places_;
};

constexpr uint32_t kKernelBytes = sizeof(cupti::KernelRecord);

TEST_F(RecordWalkerTest, AsksLittleOnceTheLengthIsKnown) {
  AddKernels(1000, kKernelBytes + 8);
  ExpectWalked();
  Library::asked = 0;
  AddKernels(1000, kKernelBytes + 8);
  ExpectWalked();
  EXPECT_LE(Library::asked, 6u);
}

TEST_F(RecordWalkerTest, OtherRecordsBetweenKernels) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      AddKernels(i % 7, kKernelBytes);
      Add(i % 2 == 0 ? cupti::kKindMemcpy : cupti::kKindMarker, i % 2 == 0 ? kShortCopyBytes : 64);
    }
    ExpectWalked();
  }
}

TEST_F(RecordWalkerTest, BuffersWithFewRecords) {
  AddKernels(100, kKernelBytes);
  ExpectWalked();
  ExpectWalked();  // none
  for (int kernels = 1; kernels < 6; ++kernels) {
    AddKernels(kernels, kKernelBytes);
    ExpectWalked();
  }
  Add(cupti::kKindMemcpy, kShortCopyBytes);
  ExpectWalked();
}

TEST_F(RecordWalkerTest, ALibraryThatIsReplacedByANewerOne) {
  AddKernels(100, kKernelBytes);
  ExpectWalked();
  AddKernels(100, kKernelBytes + 16);
  ExpectWalked();
  AddKernels(100, kKernelBytes);
  ExpectWalked();
}

TEST_F(RecordWalkerTest, LengthsThatNeverAgreeAreAlwaysAskedFor) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 500; ++i) {
      Add(cupti::kKindConcurrentKernel, kKernelBytes + 8 * static_cast<uint32_t>(i % 3));
    }
    ExpectWalked();
  }
}

// What is no kernel record behind a kernel record is left to the library, which may skip it.
TEST_F(RecordWalkerTest, ARecordThatTheLibraryHides) {
  AddKernels(100, kKernelBytes);
  ExpectWalked();
  for (int i = 0; i < 100; ++i) {
    AddKernels(1, kKernelBytes);
    if (i % 10 == 5) {
      const uint32_t covered = kKernelBytes + 48;
      std::memcpy(&buffer_[places_.back() + 8], &covered, sizeof covered);
      buffer_.resize(buffer_.size() + 48);
    }
  }
  ExpectWalked();
}

}  // namespace
}  // namespace utlz::agent
