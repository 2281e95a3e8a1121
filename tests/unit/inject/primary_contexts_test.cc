#include "inject/driver/primary_contexts.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace utlz::agent {
namespace {

constexpr cuda::Result kRefused = 1;
constexpr int kGlobalCaptureMode = 0;
constexpr int kRelaxedCaptureMode = 2;

// A driver: which devices have a primary context, and what was asked of it.
struct ContextDriver {
  int devices = 0;
  std::map<int, bool> active = {};
  std::map<int, int> retained = {};
  std::vector<int> refused = {};  // to retain
  int capture_mode = kGlobalCaptureMode;
  int calls_outside_relaxed_mode = 0;
};
ContextDriver context_driver;

void NoteMode() {
  if (context_driver.capture_mode != kRelaxedCaptureMode)
    ++context_driver.calls_outside_relaxed_mode;
}

CudaApi DriverWithContexts() {
  CudaApi api{};
  api.device_get_count = [](int* count) {
    *count = context_driver.devices;
    return cuda::kSuccess;
  };
  api.device_get = [](int* device, int ordinal) {
    *device = 100 + ordinal;
    return cuda::kSuccess;
  };
  api.primary_get_state = [](int device, unsigned* flags, int* active) {
    NoteMode();
    *flags = 0;
    *active = context_driver.active[device - 100] ? 1 : 0;
    return cuda::kSuccess;
  };
  api.primary_retain = [](cupti::Context* context, int device) {
    NoteMode();
    for (const int refused : context_driver.refused) {
      if (refused == device - 100) return kRefused;
    }
    ++context_driver.retained[device];
    *context = reinterpret_cast<cupti::Context>(static_cast<uintptr_t>(device));
    return cuda::kSuccess;
  };
  api.primary_release = [](int device) {
    NoteMode();
    --context_driver.retained[device];
    return cuda::kSuccess;
  };
  api.thread_exchange_capture_mode = [](int* mode) {
    std::swap(*mode, context_driver.capture_mode);
    return cuda::kSuccess;
  };
  return api;
}

uintptr_t Number(cupti::Context context) { return reinterpret_cast<uintptr_t>(context); }

TEST(PrimaryContextsTest, ThoseThatExistAndNoOthers) {
  context_driver = {.devices = 4, .active = {{1, true}, {3, true}}};
  const PrimaryContexts contexts(DriverWithContexts());
  EXPECT_EQ(contexts.devices(), 0b1010u);
  ASSERT_EQ(contexts.count(), 2u);
  EXPECT_EQ(Number(contexts[0]), 101u);
  EXPECT_EQ(Number(contexts[1]), 103u);
}

TEST(PrimaryContextsTest, NoneIsMadeOrKeptAlive) {
  context_driver = {.devices = 3, .active = {{0, true}, {2, true}}};
  const PrimaryContexts contexts(DriverWithContexts());
  EXPECT_EQ(context_driver.retained, (std::map<int, int>{{100, 0}, {102, 0}}));
}

TEST(PrimaryContextsTest, OneThatHasGoneMeanwhileIsLeftOut) {
  context_driver = {.devices = 3, .active = {{0, true}, {1, true}, {2, true}}, .refused = {1}};
  const PrimaryContexts contexts(DriverWithContexts());
  ASSERT_EQ(contexts.count(), 2u);
  EXPECT_EQ(Number(contexts[1]), 102u);
}

TEST(PrimaryContextsTest, NoCallCanInvalidateAStreamCapture) {
  context_driver = {.devices = 2, .active = {{0, true}}};
  const CudaApi api = DriverWithContexts();
  EXPECT_EQ(DevicesWithPrimaryContext(api), 1u);
  EXPECT_EQ(context_driver.capture_mode, kGlobalCaptureMode) << "the thread's own again";
  const PrimaryContexts contexts(api);
  EXPECT_EQ(context_driver.capture_mode, kGlobalCaptureMode);
  EXPECT_EQ(context_driver.calls_outside_relaxed_mode, 0);
}

TEST(PrimaryContextsTest, ADriverWithoutTheCallsHasNone) {
  context_driver = {.devices = 2, .active = {{0, true}}};
  for (const auto forget : {+[](CudaApi* api) { api->primary_get_state = nullptr; },
                            +[](CudaApi* api) { api->primary_retain = nullptr; },
                            +[](CudaApi* api) { api->primary_release = nullptr; }}) {
    CudaApi api = DriverWithContexts();
    forget(&api);
    EXPECT_EQ(PrimaryContexts(api).count(), 0u);
  }
  CudaApi old = DriverWithContexts();
  old.thread_exchange_capture_mode = nullptr;
  EXPECT_EQ(PrimaryContexts(old).count(), 1u);
}

TEST(PrimaryContextsTest, MoreDevicesThanThereIsRoomFor) {
  context_driver = {.devices = 70};
  for (int device = 0; device < 70; ++device) context_driver.active[device] = true;
  const PrimaryContexts contexts(DriverWithContexts());
  EXPECT_EQ(contexts.count(), PrimaryContexts::kMost);
  EXPECT_EQ(contexts.devices(), UINT64_MAX);
}

}  // namespace
}  // namespace utlz::agent
