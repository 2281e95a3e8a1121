#include "inject/xla/xla_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace utlz::agent {
namespace {

// One copy of NVTX in the process, which no other tool answers: what WatchXla takes over stays so
// until the process ends. Before a tool answers, the real one's tables hold functions that look for
// one, and then call what the table has.
constexpr unsigned int kFunctions = 16;
nvtx::Function functions[kFunctions];
nvtx::Function* entries[kFunctions];

void LookForATool() { ADD_FAILURE() << "called where no tool answers"; }

int GetTable(uint32_t module, nvtx::Function*** table, unsigned int* size) {
  if (module != nvtx::kModuleCore2) return 0;
  for (unsigned int i = 0; i < kFunctions; ++i) entries[i] = &functions[i];
  *table = entries;
  *size = kFunctions;
  return 1;
}

const void* GetExportTable(uint32_t table) {
  static const nvtx::CallbacksTable callbacks = {sizeof(nvtx::CallbacksTable), GetTable};
  return table == nvtx::kTableCallbacks ? &callbacks : nullptr;
}

template <typename Call>
Call FunctionAt(uint32_t number) {
  return reinterpret_cast<Call>(functions[number]);
}

std::vector<CaptureEvent> events;
void Tell(CaptureEvent event) { events.push_back(event); }

class XlaRangesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::fill(std::begin(functions), std::end(functions), LookForATool);
    ASSERT_TRUE(WatchXla(GetExportTable, false));
    domain_ = Create("TSL");
    ASSERT_NE(domain_, nullptr);
  }
  void SetUp() override {
    events.clear();
    TellOfXlaPrograms(nullptr);
  }

  static nvtx::Domain Create(const char* name) {
    return FunctionAt<nvtx::Domain (*)(const char*)>(nvtx::kDomainCreateA)(name);
  }
  static nvtx::String Register(const char* text, nvtx::Domain domain = domain_) {
    return FunctionAt<nvtx::String (*)(nvtx::Domain, const char*)>(nvtx::kDomainRegisterStringA)(
        domain, text);
  }
  static void Push(nvtx::String title, nvtx::Domain domain = domain_) {
    nvtx::EventAttributes attributes = {};
    attributes.size = sizeof(attributes);
    attributes.message_type = nvtx::kMessageRegistered;
    attributes.message = title;
    PushEx(&attributes, domain);
  }
  static void PushText(const char* text) {
    nvtx::EventAttributes attributes = {};
    attributes.size = sizeof(attributes);
    attributes.message_type = nvtx::kMessageAscii;
    attributes.message = text;
    PushEx(&attributes, domain_);
  }
  static void Pop(nvtx::Domain domain = domain_) {
    FunctionAt<int (*)(nvtx::Domain)>(nvtx::kDomainRangePop)(domain);
  }
  static std::string Current() {
    const uint32_t instruction = CurrentInstruction();
    return instruction == 0 ? "" : TextsOfInstruction(instruction).title;
  }

  static nvtx::Domain domain_;

 private:
  static void PushEx(const nvtx::EventAttributes* attributes, nvtx::Domain domain) {
    FunctionAt<int (*)(nvtx::Domain, const nvtx::EventAttributes*)>(nvtx::kDomainRangePushEx)(
        domain, attributes);
  }
};

nvtx::Domain XlaRangesTest::domain_ = nullptr;

TEST_F(XlaRangesTest, InnermostInstructionIsCurrent) {
  const nvtx::String program = Register("XlaModule:#hlo_module=jit_a,program_id=1#");
  const nvtx::String loop = Register("Thunk:#hlo_op=while.1#"),
                     dot = Register("Thunk:#hlo_op=dot#");
  EXPECT_EQ(Current(), "");
  Push(program);
  EXPECT_EQ(Current(), "") << "a program is no instruction";
  Push(loop);
  PushText("Thunk:#hlo_op=command_buffer#");
  EXPECT_EQ(Current(), "Thunk:#hlo_op=while.1#");
  Push(dot);
  EXPECT_EQ(Current(), "Thunk:#hlo_op=dot#");
  Pop();
  Pop();
  EXPECT_EQ(Current(), "Thunk:#hlo_op=while.1#");
  Pop();
  Pop();
  EXPECT_EQ(Current(), "");
  Pop();  // one too many
  EXPECT_EQ(Current(), "");
}

TEST_F(XlaRangesTest, InstructionsOfATrialAreTheTrial) {
  const nvtx::String trial = Register("XlaModule:#hlo_module=gemm_fusion_dot#");
  const nvtx::String dot = Register("Thunk:#hlo_op=gemm_fusion_dot#");
  Push(trial);
  Push(dot);
  EXPECT_EQ(Current(), "XlaModule:#hlo_module=gemm_fusion_dot#");
  Pop();
  Pop();
}

TEST_F(XlaRangesTest, ThreadsHaveRangesOfTheirOwn) {
  const nvtx::String one = Register("Thunk:#hlo_op=one#"), two = Register("Thunk:#hlo_op=two#");
  Push(one);
  std::thread([two] {
    EXPECT_EQ(Current(), "");
    Push(two);
    EXPECT_EQ(Current(), "Thunk:#hlo_op=two#");
    Pop();
  }).join();
  EXPECT_EQ(Current(), "Thunk:#hlo_op=one#");
  Pop();
}

TEST_F(XlaRangesTest, RangesTooDeepAreCounted) {
  const nvtx::String dot = Register("Thunk:#hlo_op=dot#");
  Push(dot);
  for (int i = 0; i < 100; ++i) PushText("XlaPass");
  EXPECT_EQ(Current(), "Thunk:#hlo_op=dot#");
  for (int i = 0; i < 100; ++i) Pop();
  EXPECT_EQ(Current(), "Thunk:#hlo_op=dot#");
  Pop();
  EXPECT_EQ(Current(), "");
}

TEST_F(XlaRangesTest, OtherDomainsAreAsWithoutATool) {
  EXPECT_EQ(Create("NCCL"), nullptr);
  EXPECT_EQ(Register("Thunk:#hlo_op=dot#", nullptr), nullptr);
  const nvtx::String dot = Register("Thunk:#hlo_op=dot#");
  Push(dot, nullptr);
  EXPECT_EQ(Current(), "");
  Push(dot);
  Pop(nullptr);
  EXPECT_EQ(Current(), "Thunk:#hlo_op=dot#");
  Pop();
}

TEST_F(XlaRangesTest, FirstRunsOfAProgramMayBuildGraphs) {
  const nvtx::String program = Register("XlaModule:#hlo_module=jit_b,program_id=2#");
  const nvtx::String trial = Register("XlaModule:#hlo_module=gemm_fusion_dot#");
  const nvtx::String dot = Register("Thunk:#hlo_op=dot#");
  Push(program);  // nobody listens
  Pop();
  TellOfXlaPrograms(Tell);
  Push(trial);
  Pop();
  EXPECT_TRUE(events.empty());
  PushText("XlaExecute");
  Push(program);
  EXPECT_EQ(events, (std::vector{CaptureEvent::kBuilds}));
  EXPECT_EQ(OpenXlaPrograms(), 1u);
  Push(dot);
  Pop();
  EXPECT_EQ(events.size(), 1u);
  Pop();
  EXPECT_EQ(events, (std::vector{CaptureEvent::kBuilds, CaptureEvent::kBuilt}));
  EXPECT_EQ(OpenXlaPrograms(), 0u);
  Pop();
  for (int i = 0; i < 100; ++i) {
    Push(program);
    Pop();
  }
  EXPECT_LT(events.size(), 50u) << "later runs build none";
  EXPECT_EQ(std::count(events.begin(), events.end(), CaptureEvent::kBuilds),
            std::count(events.begin(), events.end(), CaptureEvent::kBuilt));
}

TEST_F(XlaRangesTest, CopyThatAnotherToolAnswersDifferentlyStaysAsItIs) {
  static nvtx::Function others[kFunctions];
  static nvtx::Function* other_entries[kFunctions];
  for (unsigned int i = 0; i < kFunctions; ++i) other_entries[i] = &others[i];
  others[nvtx::kDomainRangePop] = [] {};
  const auto get_table = [](uint32_t, nvtx::Function*** table, unsigned int* size) {
    *table = other_entries;
    *size = kFunctions;
    return 1;
  };
  static nvtx::CallbacksTable callbacks = {sizeof(callbacks), get_table};
  const nvtx::Function before = others[nvtx::kDomainRangePop];
  EXPECT_FALSE(WatchXla([](uint32_t) -> const void* { return &callbacks; }, true));
  EXPECT_EQ(others[nvtx::kDomainRangePop], before);
  EXPECT_EQ(others[nvtx::kDomainRangePushEx], nullptr);
}

}  // namespace
}  // namespace utlz::agent
