#include "inject/python/python_layout.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "gtest/gtest.h"

namespace utlz::agent {
namespace {

// What a process exports, as each test wants it.
std::map<std::string, void*> exported;
unsigned long version;
std::array<uint64_t, 128> runtime;
uint64_t object;

void* LookUp(const char* name) {
  const auto found = exported.find(name);
  return found == exported.end() ? nullptr : found->second;
}

// The published offsets of an interpreter, with the words that its structures begin at.
void Publish(uint64_t of_version, size_t thread, size_t frame, size_t code) {
  runtime = {};
  std::memcpy(runtime.data(), "xdebugpy", 8);
  runtime[1] = of_version;
  runtime[3] = 1024;  // the runtime's size
  runtime[4] = 608;
  runtime[5] = 632;
  const auto put = [](size_t at, std::initializer_list<uint64_t> words) {
    for (const uint64_t word : words) runtime[at++] = word;
  };
  put(thread, {400, 0, 8, 16, 72});
  put(frame, {88, 8, 0, 56, 72, 70});
  put(code, {208, 112, 120, 128, 136, 68, 52, 96, 104, 200});
}

class PythonLayoutTest : public ::testing::Test {
 protected:
  PythonLayoutTest() {
    for (const char* name : {"PyGILState_GetThisThreadState", "PyCell_Type", "PyCode_Type"}) {
      exported[name] = &object;
    }
    exported["_PyRuntime"] = runtime.data();
    exported["Py_Version"] = &version;
    version = 0x030d04f0;
    Publish(version, 19, 28, 34);
  }
  ~PythonLayoutTest() override { exported.clear(); }

  NoStack Find() { return FindPython(LookUp, &layout_); }

  PythonLayout layout_;
};

TEST_F(PythonLayoutTest, ReadsWhatIsPublished) {
  ASSERT_EQ(Find(), NoStack::kNone);
  EXPECT_EQ(layout_.thread_frame, 72u);
  EXPECT_EQ(layout_.frame_owner, 70u);
  EXPECT_EQ(layout_.code_name, 128u);
  EXPECT_EQ(layout_.code_instructions, 200u);
  EXPECT_FALSE(layout_.has_tags);
  version = 0x030e00f0;
  Publish(version, 22, 31, 39);
  ASSERT_EQ(Find(), NoStack::kNone);
  EXPECT_EQ(layout_.frame_locals, 72u);
  EXPECT_TRUE(layout_.has_tags);
}

TEST_F(PythonLayoutTest, ThereIsNoPython) {
  exported.erase("_PyRuntime");
  EXPECT_EQ(Find(), NoStack::kNoPython);
}

TEST_F(PythonLayoutTest, RefusesOtherVersions) {
  for (const unsigned long other : {0x030a0df0ul, 0x030f00f0ul, 0x030e00b2ul, 0x030c00a1ul, 0ul}) {
    version = other;
    EXPECT_EQ(Find(), NoStack::kOtherVersion) << std::hex << other;
  }
  exported.erase("Py_Version");
  EXPECT_EQ(Find(), NoStack::kOtherVersion);
}

TEST_F(PythonLayoutTest, RefusesOtherBuilds) {
  runtime[2] = 1;
  EXPECT_EQ(Find(), NoStack::kFreeThreaded);
  runtime[2] = 0;
  exported["_Py_NegativeRefcount"] = &object;
  EXPECT_EQ(Find(), NoStack::kDebugBuild);
  exported.erase("_Py_NegativeRefcount");
  for (const char* name : {"_PyOptimizer_Optimize", "_Py_GetExecutor"}) {
    exported[name] = &object;
    EXPECT_EQ(Find(), NoStack::kJitBuild) << name;
    exported.erase(name);
  }
  EXPECT_EQ(Find(), NoStack::kNone);
}

TEST_F(PythonLayoutTest, RefusesOffsetsOfAnotherVersion) {
  runtime[1] = 0x030d05f0;
  EXPECT_EQ(Find(), NoStack::kOtherLayout);
  runtime[1] = version;
  runtime[0] = 0;
  EXPECT_EQ(Find(), NoStack::kOtherLayout);
}

TEST_F(PythonLayoutTest, RefusesOffsetsThatLeadOutside) {
  // Every word that is read: of the runtime, a thread, a frame, a code object, with their sizes.
  for (const size_t word : {3, 4, 5, 19, 22, 23, 28, 29, 30, 31, 32, 33, 34, 35, 37, 38, 39, 43}) {
    const uint64_t kept = runtime[word];
    for (const uint64_t wrong : {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 7}) {
      runtime[word] = wrong;
      EXPECT_EQ(Find(), NoStack::kOtherLayout) << word << " " << wrong;
    }
    runtime[word] = kept;
  }
  EXPECT_EQ(Find(), NoStack::kNone);
}

}  // namespace
}  // namespace utlz::agent
