// The fakes as a client of CUPTI sees them: which records come, when, and what ends the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/cupti_records.h"
#include "tests/fakes/fake_cuda.h"

namespace utlz::fake {

extern "C" {
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t**, size_t*, size_t*),
                                   void (*complete)(void*, uint32_t, uint8_t*, size_t, size_t));
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, uint8_t** record);
int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* dropped);
int cuptiFinalize();
}

namespace {

constexpr size_t kBufferBytes = 4096;
constexpr KernelImage kKernel = {
    .name = "_Z1kv", .duration_ns = 100'000, .registers_per_thread = 77};

std::vector<Kernel9Record>& Records() {
  static std::vector<Kernel9Record> records;
  return records;
}

std::atomic<size_t> buffers_held{0};  // by the fake

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
  ++buffers_held;
}

void Complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid_bytes) {
  uint8_t* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == 0) {
    const auto* kernel = reinterpret_cast<const Kernel9Record*>(record);
    if (kernel->kind == kActivityConcurrentKernel) Records().push_back(*kernel);
  }
  std::free(buffer);
  --buffers_held;
}

class ActivityTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    const ModuleImage image = {.kernel_count = 1, .kernels = &kKernel};
    ASSERT_EQ(cuModuleLoadData(&module_, &image), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&function_, module_, kKernel.name), CUDA_SUCCESS);
    ASSERT_EQ(cuptiActivityRegisterCallbacks(Request, Complete), 0);
    ASSERT_EQ(cuptiActivityEnable(kActivityConcurrentKernel), 0);
    Records().clear();
  }

  void TearDown() override {
    cuptiActivityDisable(kActivityConcurrentKernel);
    cuptiActivityFlushAll(1);
    cuModuleUnload(module_);
  }

  void Launch(int times, RecordFate fate = RecordFate::kNormal) {
    FakeCudaSetRecordFate(fate);
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(cuLaunchKernel(function_, 3, 2, 1, 64, 1, 1, 16, nullptr, nullptr, nullptr),
                CUDA_SUCCESS);
    }
    FakeCudaSetRecordFate(RecordFate::kNormal);
  }

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

TEST_F(ActivityTest, GivesEachLaunchARecordInOrder) {
  Launch(100);  // several buffers
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  cuptiActivityFlushAll(0);
  ASSERT_EQ(Records().size(), 100u);
  uint64_t last_end = 0;
  for (const Kernel9Record& record : Records()) {
    EXPECT_EQ(record.end - record.start, kKernel.duration_ns);
    EXPECT_GE(record.start, last_end);
    EXPECT_STREQ(record.name, kKernel.name);
    EXPECT_EQ(record.grid[0], 3);
    EXPECT_EQ(record.registers_per_thread, 77);
    last_end = record.end;
  }
}

TEST_F(ActivityTest, HoldsBackWhatHasNotEnded) {
  Launch(10'000);  // one second of work
  cuptiActivityFlushAll(0);
  EXPECT_LT(Records().size(), 10'000u);
  cuptiActivityFlushAll(1);
  ASSERT_EQ(Records().size(), 10'000u);
  EXPECT_EQ(Records().back().start, 0u) << "forced out before its end";
  EXPECT_EQ(Records().back().end, 0u);
}

// One that was requested for a record which then went into the buffer before it.
TEST_F(ActivityTest, KeepsNoBufferThatIsEmpty) {
  for (int launches = 1; launches < 40; ++launches) {
    Launch(launches);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    cuptiActivityFlushAll(1);
    ASSERT_EQ(buffers_held, 0u) << "after " << launches << " launches";
  }
}

TEST_F(ActivityTest, MeetsTheArrangedFates) {
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  Launch(2, RecordFate::kZeroTime);
  Launch(3, RecordFate::kMissing);
  Launch(4, RecordFate::kDropped);
  Launch(1);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  cuptiActivityFlushAll(0);
  ASSERT_EQ(Records().size(), 3u);
  EXPECT_EQ(Records()[0].start, 0u);
  EXPECT_NE(Records()[2].start, 0u);
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  EXPECT_EQ(dropped, 4u);
}

TEST_F(ActivityTest, RecordsNothingOnceDisabled) {
  ASSERT_EQ(cuptiActivityDisable(kActivityConcurrentKernel), 0);
  Launch(5);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  cuptiActivityFlushAll(1);
  EXPECT_TRUE(Records().empty());
}

TEST_F(ActivityTest, RunsNothingAtAFailedLaunch) {
  const uint64_t before = FakeCudaWorkCount();
  FakeCudaFailNextCall(CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(FakeCudaWorkCount(), before);
}

TEST(MisuseDeathTest, FinalizeEndsTheProcess) {
  EXPECT_DEATH(cuptiFinalize(), "cuptiFinalize kills live processes");
}

}  // namespace
}  // namespace utlz::fake
