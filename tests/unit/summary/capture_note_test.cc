// Whether a report says that captures of CUDA graphs were not seen, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/support/graph_run.h"
#include "tests/support/made_up_loads.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint64_t kRunNs = 1'000'000;
constexpr char kBusy[] =
    "process 1001 captured CUDA graphs whose stacks were not seen: the agent was busy at that "
    "moment, and a capture does not wait for it";
constexpr char kNoNumbers[] =
    "process 1001 captured CUDA graphs whose stacks were not seen: its CUPTI does not number their "
    "nodes";
constexpr char kOtherTorch[] =
    "process 1001 has backward launches without an owner: its PyTorch is no release from 2.0 to "
    "2.11";

class CaptureNoteTest : public ::testing::Test {
 protected:
  CaptureNoteTest() {
    run_.StartRun();
    run_.StartProcess();
  }

  void SendReasons(NoCaptureReason no_capture, uint32_t source = 1) {
    AgentStatus status;
    status.set_no_capture(no_capture);
    status.set_no_backward(NO_BACKWARD_OTHER_RELEASE);
    run_.Send(source, FRAME_AGENT_STATUS, status);
  }
  std::string Note() { return run_.EndRun(kRunNs).owners().note(); }

  RunBuilder run_;
};

TEST_F(CaptureNoteTest, AReasonIsGivenWhereCapturesWereNotSeen) {
  SendReasons(NO_CAPTURE_BUSY);
  SendGraphRun(3, &run_);
  EXPECT_EQ(Note(), kBusy);
}

TEST_F(CaptureNoteTest, NoneWhereEachKernelOfGraphsHasTheStackOfItsCapture) {
  SendReasons(NO_CAPTURE_BUSY);
  SendGraphRun(3, &run_, /*captured=*/true);
  EXPECT_EQ(Note(), kOtherTorch);
}

TEST_F(CaptureNoteTest, GraphsOfAnotherProcessAreNotThisOnes) {
  run_.StartProcess(2);
  SendReasons(NO_CAPTURE_BUSY, 2);
  SendGraphRun(3, &run_);
  EXPECT_THAT(Note(), testing::HasSubstr("backward"));
}

TEST_F(CaptureNoteTest, NodesWithoutNumbersAreUnknown) {
  SendReasons(NO_CAPTURE_OTHER_RELEASE);
  run_.SendKernels({"gemm", "norm"});
  SendLoop(&run_, 10, 100, 10);
  EXPECT_EQ(Note(), kNoNumbers);
}

}  // namespace
}  // namespace utlz
