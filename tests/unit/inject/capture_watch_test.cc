#include "inject/tracing/capture_watch.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <vector>

#include "inject/tracing/import_slot.h"

namespace utlz::agent {
namespace {

// Observers carry no user pointer, so there is one of each.
struct Seen {
  std::vector<CaptureEvent> events;
  uint32_t open_at_begin = 0;
};
Seen seen;

void Note(CaptureEvent event) {
  seen.events.push_back(event);
  if (event == CaptureEvent::kBegins) seen.open_at_begin = CaptureWatch::Open();
}

// A module that is linked to the runtime, which calls a driver that was not initialized at first:
// what it asks for is refused.
class CaptureWatchTest : public testing::Test {
 protected:
  CaptureWatchTest() : library_(dlopen(UTLZ_GRAPH_CAPTURES, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(library_, nullptr) << dlerror();
    Find("captures_begin", &begin_);
    Find("captures_end", &end_);
    Find("captures_instantiate", &instantiate_);
    seen = {};
  }

  template <typename Function>
  void Find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library_, name));
    ASSERT_NE(*function, nullptr);
  }

  void InitializeDriver() {
    int (*initialize)(unsigned) = nullptr;
    int (*retain)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*make_stream)(void**, unsigned) = nullptr;
    void* context = nullptr;
    Find("cuInit", &initialize);
    Find("cuDevicePrimaryCtxRetain", &retain);
    Find("cuCtxSetCurrent", &set_current);
    Find("cuStreamCreate", &make_stream);
    ASSERT_EQ(initialize(0), 0);
    ASSERT_EQ(retain(&context, 0), 0);
    ASSERT_EQ(set_current(context), 0);
    ASSERT_EQ(make_stream(&stream_, 1), 0);
  }

  void Destroy(const char* name, void* graph) {
    int (*destroy)(void*) = nullptr;
    Find(name, &destroy);
    EXPECT_EQ(destroy(graph), 0);
  }

  void* Slot(const char* name) const {
    void** const slot = FindImportSlot(reinterpret_cast<uintptr_t>(begin_), name);
    return slot == nullptr ? nullptr : *slot;
  }

  void* library_;
  void* stream_ = nullptr;
  int (*begin_)(void* stream) = nullptr;
  int (*end_)(void* stream, void** graph) = nullptr;
  int (*instantiate_)(void** executable, void* graph) = nullptr;
};

TEST_F(CaptureWatchTest, TellsOfCapturesAndCallsTheRuntime) {
  CaptureWatch watch;
  ASSERT_TRUE(watch.TakeNewModules());
  EXPECT_FALSE(watch.TakeNewModules());
  void* const launch = Slot("cudaGraphLaunch");
  const int refused = begin_(nullptr);
  EXPECT_NE(refused, 0) << "without a driver that was initialized";
  EXPECT_TRUE(seen.events.empty());
  CaptureWatch::WatchImporters(Note);
  EXPECT_EQ(Slot("cudaGraphLaunch"), launch) << "nothing is in the way of a launch";

  EXPECT_EQ(begin_(nullptr), refused);
  EXPECT_EQ(seen.events, std::vector<CaptureEvent>{CaptureEvent::kBegins});
  EXPECT_EQ(seen.open_at_begin, 1u);
  EXPECT_EQ(CaptureWatch::Open(), 0u) << "it did not begin";

  seen = {};
  void* graph = nullptr;
  EXPECT_NE(end_(nullptr, &graph), 0);
  EXPECT_TRUE(seen.events.empty());
  EXPECT_EQ(CaptureWatch::Open(), 0u) << "one that was not watched has ended";

  seen = {};
  void* executable = nullptr;
  EXPECT_NE(instantiate_(&executable, nullptr), 0);
  EXPECT_EQ(seen.events,
            (std::vector<CaptureEvent>{CaptureEvent::kInstantiates, CaptureEvent::kInstantiated}));

  InitializeDriver();
  seen = {};
  EXPECT_EQ(begin_(stream_), 0);
  EXPECT_EQ(CaptureWatch::Open(), 1u);
  EXPECT_EQ(end_(stream_, &graph), 0);
  EXPECT_EQ(CaptureWatch::Open(), 0u);
  EXPECT_EQ(instantiate_(&executable, graph), 0);
  EXPECT_NE(executable, nullptr);
  EXPECT_EQ(seen.events,
            (std::vector<CaptureEvent>{CaptureEvent::kBegins, CaptureEvent::kInstantiates,
                                       CaptureEvent::kInstantiated}));
  Destroy("cuGraphExecDestroy", executable);
  Destroy("cuGraphDestroy", graph);
}

TEST_F(CaptureWatchTest, CallsTheRuntimeThatAModuleIsLinkedTo) {
  constexpr int kRefusedByOlder = 812;  // older_runtime_library.cc
  void* const older = dlopen(UTLZ_OLDER_GRAPH_CAPTURES, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(older, nullptr) << dlerror();
  auto* const older_begin = reinterpret_cast<int (*)(void* stream)>(dlsym(older, "captures_begin"));
  ASSERT_NE(older_begin, nullptr);
  CaptureWatch::WatchImporters(Note);

  EXPECT_EQ(older_begin(nullptr), kRefusedByOlder);
  EXPECT_EQ(seen.events, std::vector<CaptureEvent>{CaptureEvent::kBegins});
  EXPECT_EQ(CaptureWatch::Open(), 0u) << "it did not begin";

  seen = {};
  EXPECT_NE(begin_(nullptr), kRefusedByOlder);
  EXPECT_EQ(seen.events, std::vector<CaptureEvent>{CaptureEvent::kBegins});
}

}  // namespace
}  // namespace utlz::agent
