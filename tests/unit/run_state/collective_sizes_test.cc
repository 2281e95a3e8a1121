#include "collector/run/collective_sizes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/kernel_names/collective_kind.h"
#include "proto/ring_abi.h"
#include "tests/support/run_builder.h"

namespace utlz {
namespace {

constexpr uint32_t kSizesThread = 77;
constexpr uint64_t kMicrosecond = 1000;
const char* const kKernels[] = {"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                "ncclDevKernel_AllGather_RING_LL", "ncclDevKernel_SendRecv"};
enum Variant : uint32_t { kGemm, kAllReduce, kAllGather, kSendRecv };

struct Told {
  const char* function = nullptr;  // null: the innermost one ends
  uint64_t bytes = 0;              // + 1, as on the wire
  uint64_t communicator = 0;
  uint32_t ranks = 0;
};

// A process that launches kernels of 10 µs and tells of its calls; 1 µs passes between any two.
class CollectiveSizesTest : public ::testing::Test {
 protected:
  CollectiveSizesTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({kKernels[0], kKernels[1], kKernels[2], kKernels[3]});
    Strings strings;
    strings.set_first(kFirstFunction);
    for (const char* name : kFunctions) strings.add_values(name);
    run_.Send(1, FRAME_STRINGS, strings);
  }

  void Tell(const Told& told) {
    const uint64_t now_ns = Now();
    if (calls_.function_size() == 0) calls_.set_base_ns(told_ns_ = now_ns - 3);
    calls_.add_time_delta_ns(static_cast<int64_t>(now_ns - told_ns_));
    told_ns_ = now_ns;
    calls_.add_thread(kSizesThread);
    calls_.add_function(told.function == nullptr ? 0 : IdOf(told.function) + 1);
    calls_.add_bytes(told.bytes);
    calls_.add_communicator(told.communicator);
    calls_.add_ranks(told.ranks);
  }
  void Call(const char* function, uint64_t bytes, int variant = -1, uint64_t communicator = 9) {
    Tell({function, bytes + 1, communicator});
    if (variant >= 0) Launch(static_cast<uint32_t>(variant));
    Tell({});
  }
  void Plain(const char* function, int variant = -1) {
    Tell({function});
    if (variant >= 0) Launch(static_cast<uint32_t>(variant));
    Tell({});
  }
  void Communicator(uint32_t ranks, uint64_t communicator = 9) {
    Tell({"ncclCommInitRank"});
    Tell({nullptr, 0, communicator, ranks});
  }
  void Launch(uint32_t variant, uint32_t thread = kSizesThread) {
    LaunchCallBatch batch;
    batch.set_base_ns(0);
    batch.add_start_delta_ns(static_cast<int64_t>(Now()));
    batch.add_duration_ns(100);
    batch.add_correlation_delta(++correlation_);
    batch.add_thread(thread);
    run_.Send(1, FRAME_LAUNCH_CALLS, batch);
    utlz::Launch launch =
        RunBuilder::LaunchAt(now_ns_ + 5 * kMicrosecond, 10 * kMicrosecond, variant);
    launch.correlation = correlation_;
    run_.SendLaunches({launch});
  }
  void Send() {
    run_.Send(1, FRAME_COMMUNICATION_CALLS, calls_);
    calls_.Clear();
  }
  std::map<std::string, CommunicationSummary> End() {
    Send();
    run_.EndProcess();
    std::map<std::string, CommunicationSummary> found;
    summary_ = run_.EndRun(now_ns_ + 1'000'000);
    for (const CommunicationSummary& row : summary_.communication()) found[row.collective()] = row;
    return found;
  }

  static constexpr uint32_t kFirstFunction = 100;
  static constexpr const char* kFunctions[] = {
      "ncclAllReduce",    "ncclAllGather",      "ncclSend",
      "ncclRecv",         "ncclGroupStart",     "ncclGroupEnd",
      "ncclCommInitRank", "ncclAlltoAllConfig", "ncclGroupSimulateEnd"};

  uint64_t Now() { return kRunStartNs + (now_ns_ += kMicrosecond); }
  static uint32_t IdOf(const std::string& function) {
    uint32_t id = kFirstFunction;
    for (const char* name : kFunctions) {
      if (function == name) return id;
      ++id;
    }
    return 0;
  }

  RunBuilder run_;
  CommunicationCallBatch calls_;
  Summary summary_;
  uint64_t now_ns_ = 0;
  uint64_t told_ns_ = 0;
  uint32_t correlation_ = 0;
};

TEST_F(CollectiveSizesTest, AlgorithmAndBusBandwidthAsNcclTestsCountThem) {
  Communicator(4);
  Call("ncclAllReduce", 1000, kAllReduce);
  Call("ncclAllGather", 500, kAllGather);
  const auto rows = End();
  const CommunicationSummary& reduce = rows.at("AllReduce");
  EXPECT_DOUBLE_EQ(reduce.bytes(), 1000);
  EXPECT_EQ(reduce.sized_launches(), 1u);
  EXPECT_DOUBLE_EQ(reduce.algorithm_bytes_per_second(), 1000 / 10e-6);
  EXPECT_DOUBLE_EQ(reduce.bus_bytes_per_second(), 1000 / 10e-6 * 2 * 3 / 4);
  EXPECT_FALSE(reduce.has_size_note());
  const CommunicationSummary& gather = rows.at("AllGather");
  EXPECT_DOUBLE_EQ(gather.bytes(), 2000) << "a rank gives a share, and has all in the end";
  EXPECT_DOUBLE_EQ(gather.bus_bytes_per_second(), 2000 / 10e-6 * 3 / 4);
  ASSERT_EQ(gather.sizes_size(), 1);
  EXPECT_EQ(gather.sizes(0).ranks(), 4u);
  EXPECT_DOUBLE_EQ(gather.sizes(0).bytes(), 2000);
  EXPECT_DOUBLE_EQ(gather.sizes(0).time_ns(), 10'000);
}

TEST_F(CollectiveSizesTest, WithoutRanksThereIsNoBusBandwidthNorTheWholeOfAShare) {
  Call("ncclAllReduce", 1000, kAllReduce);
  Call("ncclAllGather", 500, kAllGather);
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").algorithm_bytes_per_second(), 1000 / 10e-6);
  EXPECT_FALSE(rows.at("AllReduce").has_bus_bytes_per_second());
  EXPECT_FALSE(rows.at("AllGather").has_bytes());
  EXPECT_NE(rows.at("AllGather").size_note().find("how many ranks"), std::string::npos);
}

TEST_F(CollectiveSizesTest, UnnamedCommunicatorsCountOnlyWhereTheyAreAlike) {
  Communicator(4, 0);
  Call("ncclAllReduce", 1000, kAllReduce, 0);
  Communicator(2, 0);
  Call("ncclAllReduce", 3000, kAllReduce, 0);
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bytes(), 4000);
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bus_bytes_per_second(), 1000 / 10e-6 * 2 * 3 / 4);
}

TEST_F(CollectiveSizesTest, AGroupIsLaunchedAtItsEnd) {
  Communicator(2);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Call("ncclAllReduce", 200);
  Launch(kGemm);
  Plain("ncclGroupEnd", kAllReduce);
  Plain("ncclGroupStart");
  Call("ncclSend", 70);
  Call("ncclRecv", 50);
  Plain("ncclGroupEnd", kSendRecv);
  Plain("ncclGroupStart");
  Call("ncclAlltoAllConfig", 30);
  Plain("ncclGroupEnd", kSendRecv);
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bytes(), 1200);
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").algorithm_bytes_per_second(), 1200 / 10e-6);
  EXPECT_DOUBLE_EQ(rows.at("SendRecv").bytes(), 70 + 60);
  EXPECT_DOUBLE_EQ(rows.at("SendRecv").bus_bytes_per_second(), (70 + 60 / 2) / 20e-6);
}

TEST_F(CollectiveSizesTest, AGroupOfSeveralKindsIsDividedOnlyByItsKernels) {
  Communicator(2);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Call("ncclAllGather", 100);
  Tell({"ncclGroupEnd"});
  Launch(kAllReduce);
  Launch(kAllGather);
  Tell({});
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Tell({"ncclGroupEnd"});
  Launch(kAllReduce);
  Launch(kAllGather);
  Tell({});
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bytes(), 1000);
  EXPECT_DOUBLE_EQ(rows.at("AllGather").bytes(), 200);
  EXPECT_NE(rows.at("AllGather").size_note().find("1 of 2"), std::string::npos);
}

TEST_F(CollectiveSizesTest, OtherThreadsLaunchesHaveNoSize) {
  Communicator(2);
  Tell({"ncclAllReduce", 1001, 9});
  Launch(kAllReduce, kSizesThread + 1);
  Tell({});
  const auto rows = End();
  EXPECT_FALSE(rows.at("AllReduce").has_bytes());
  EXPECT_NE(rows.at("AllReduce").size_note().find("CUDA graphs"), std::string::npos);
}

TEST_F(CollectiveSizesTest, SizesOfOneCollectiveStandApart) {
  Communicator(2);
  for (int i = 0; i < 3; ++i) Call("ncclAllReduce", 1 << 20, kAllReduce);
  Call("ncclAllReduce", 100, kAllReduce);
  const auto rows = End();
  ASSERT_EQ(rows.at("AllReduce").sizes_size(), 2);
  EXPECT_EQ(rows.at("AllReduce").sizes(0).launches(), 3u) << "most time first";
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").sizes(1).bytes(), 100);
}

TEST_F(CollectiveSizesTest, LostCallsSpoilNoneThatComeLater) {
  Communicator(2);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  calls_.set_lost(1);  // the group's end
  Send();
  Call("ncclAllReduce", 64, kAllReduce);
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bytes(), 64);
}

TEST_F(CollectiveSizesTest, HostileCallsAreRefusedOrBounded) {
  Communicator(UINT32_MAX);
  Call("ncclAllGather", UINT64_MAX - 1, kAllGather);
  for (int i = 0; i < 1000; ++i) Tell({"ncclGroupStart"});
  Tell({"no function that was ever named", UINT64_MAX, UINT64_MAX, UINT32_MAX});
  for (int i = 0; i < 2000; ++i) Tell({});
  const auto rows = End();
  EXPECT_GT(rows.at("AllGather").bytes(), 1e28);
  CommunicationCallBatch uneven;
  uneven.add_time_delta_ns(1);
  ProcessState process;
  CollectiveSizes sizes;
  NvtxRangeCorrelator correlator;
  EXPECT_FALSE(sizes.Add(process, uneven, &correlator));
}

TEST_F(CollectiveSizesTest, WhatWasOpenBeforeCallsWereLostIsForgotten) {
  Communicator(2);
  Tell({"ncclAllReduce", 1001, 9});
  Send();
  Launch(kAllReduce);
  calls_.set_lost(1);
  Tell({});  // of which, is not known
  EXPECT_FALSE(End().at("AllReduce").has_bytes());
}

TEST_F(CollectiveSizesTest, WhatOneProcessLosesSpoilsNothingOfAnother) {
  Communicator(2);
  Tell({"ncclAllReduce", 1001, 9});
  Launch(kAllReduce);
  Send();
  run_.StartProcess(2);
  CommunicationCallBatch lost;
  lost.set_lost(1);
  run_.Send(2, FRAME_COMMUNICATION_CALLS, lost);
  Tell({});
  EXPECT_EQ(End().at("AllReduce").bytes(), 1000);
}

TEST_F(CollectiveSizesTest, GroupsInGroupsAreLaunchedAtTheEndOfTheOutermost) {
  Communicator(2);
  Plain("ncclGroupStart");
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Plain("ncclGroupEnd");
  Plain("ncclGroupEnd", kAllReduce);
  EXPECT_EQ(End().at("AllReduce").bytes(), 1000);
}

TEST_F(CollectiveSizesTest, AGroupThatIsOnlySimulatedEndsToo) {
  Communicator(2);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Plain("ncclGroupSimulateEnd");
  Call("ncclAllReduce", 64, kAllReduce);
  EXPECT_EQ(End().at("AllReduce").bytes(), 64);
}

TEST_F(CollectiveSizesTest, ASizeIsThatOfOneLaunch) {
  Communicator(2);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1500);
  Call("ncclAllReduce", 548);
  Tell({"ncclGroupEnd"});
  Launch(kAllReduce);
  Launch(kAllReduce);
  Tell({});
  Call("ncclAllReduce", 1024, kAllReduce);
  const auto rows = End();
  ASSERT_EQ(rows.at("AllReduce").sizes_size(), 1);
  EXPECT_EQ(rows.at("AllReduce").sizes(0).launches(), 3u);
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").sizes(0).bytes(), 1024);
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").sizes(0).time_ns(), 10'000);
}

TEST_F(CollectiveSizesTest, AGroupAmongSeveralCommunicatorsHasNoOneNumberOfRanks) {
  Communicator(2);
  Communicator(4, 10);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Call("ncclAllReduce", 1000, -1, 10);
  Plain("ncclGroupEnd", kAllReduce);
  const auto rows = End();
  ASSERT_EQ(rows.at("AllReduce").sizes_size(), 1);
  EXPECT_FALSE(rows.at("AllReduce").sizes(0).has_ranks());
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bus_bytes_per_second(), (1000 + 1500) / 10e-6);
}

TEST_F(CollectiveSizesTest, AGroupWithAnUnknownCommunicatorHasNoBusBandwidth) {
  Communicator(2);
  Plain("ncclGroupStart");
  Call("ncclAllReduce", 1000);
  Call("ncclAllReduce", 1000, -1, 10);
  Plain("ncclGroupEnd", kAllReduce);
  Plain("ncclGroupStart");
  Call("ncclAllGather", 1000, -1, 10);
  Call("ncclAllGather", 1000);
  Plain("ncclGroupEnd", kAllGather);
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bytes(), 2000);
  EXPECT_FALSE(rows.at("AllReduce").has_bus_bytes_per_second());
  EXPECT_FALSE(rows.at("AllGather").has_bytes()) << "nor what the whole is";
}

TEST_F(CollectiveSizesTest, OneRankAloneLoadsNoLink) {
  Communicator(1);
  Call("ncclAllReduce", 1000, kAllReduce);
  const auto rows = End();
  EXPECT_DOUBLE_EQ(rows.at("AllReduce").bytes(), 1000);
  EXPECT_FALSE(rows.at("AllReduce").has_bus_bytes_per_second());
}

TEST_F(CollectiveSizesTest, ACommunicatorOfAUsedNameHasTheRanksThatItWasMadeWith) {
  Communicator(4);
  Communicator(2);
  Call("ncclAllReduce", 1000, kAllReduce);
  EXPECT_DOUBLE_EQ(End().at("AllReduce").bus_bytes_per_second(), 1000 / 10e-6);
}

TEST_F(CollectiveSizesTest, AGroupOfTooManyCallsHasNoSize) {
  Communicator(2);
  Plain("ncclGroupStart");
  for (size_t i = 0; i <= CollectiveSizes::kMaxMembers; ++i) Call("ncclAllReduce", 10);
  Plain("ncclGroupEnd", kAllReduce);
  EXPECT_FALSE(End().at("AllReduce").has_bytes());
}

TEST_F(CollectiveSizesTest, TheSizesThatTakeMostTimeAreListed) {
  Communicator(2);
  for (int i = 0; i < 30; ++i) Call("ncclAllReduce", uint64_t{1} << i, kAllReduce);
  const auto rows = End();
  EXPECT_EQ(rows.at("AllReduce").sizes_size(), 24);
  EXPECT_EQ(rows.at("AllReduce").sized_launches(), 30u);
}

// An operation waits until all that it can have launched has come.
TEST(CollectiveSizesSettleTest, OperationsAreCountedOnceTheyAreSettled) {
  ProcessState process;
  process.source = 1;
  process.strings = {"", "ncclAllReduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"};
  process.variants.resize(1);
  process.variants[0].name = 2;
  KernelTable kernels;
  const uint32_t kernel = kernels.Find(&process, 0, 0);
  CommunicationCallBatch batch;
  batch.set_base_ns(1000);
  for (const bool end : {false, true}) {
    batch.add_time_delta_ns(end ? 100 : 0);
    batch.add_thread(kSizesThread);
    batch.add_function(end ? 0 : 2);
    batch.add_bytes(end ? 0 : 501);
    batch.add_communicator(0);
    batch.add_ranks(0);
  }
  CollectiveSizes sizes;
  NvtxRangeCorrelator correlator;
  ASSERT_TRUE(sizes.Add(process, batch, &correlator));
  correlator.Settle(1, 1100);
  sizes.Settle(1, 1100, kernels);
  EXPECT_TRUE(sizes.groups().empty());
  LaunchCallBatch call;
  call.set_base_ns(1050);
  call.add_start_delta_ns(0);
  call.add_duration_ns(1);
  call.add_correlation_delta(7);
  call.add_thread(kSizesThread);
  ASSERT_TRUE(correlator.AddCalls(1, call));
  correlator.AddLaunch(1, 7, {kernel, 20});
  correlator.Settle(1, 1101);
  sizes.Settle(1, 1101, kernels);
  ASSERT_EQ(sizes.groups().size(), 1u);
  EXPECT_EQ(sizes.groups().begin()->second.bytes, 500);
}

// As nccl-tests counts them, of 1000 bytes that each of four ranks gives the call.
TEST(CollectiveKindTest, WholesAndLinksAreThoseOfNcclTests) {
  const struct {
    const char* function;
    const char* kernels;
    double whole;
    double link;
  } kExpected[] = {
      {"ncclAllReduce", "AllReduce", 1000, 1500},
      {"ncclAllGather", "AllGather", 4000, 3000},
      {"ncclReduceScatter", "ReduceScatter", 4000, 3000},
      {"ncclBroadcast", "Broadcast", 1000, 1000},
      {"ncclReduce", "Reduce", 1000, 1000},
      {"ncclSend", "SendRecv", 1000, 1000},
      {"ncclRecv", "SendRecv", 1000, 1000},
      {"ncclAlltoAll", "SendRecv", 4000, 3000},
      {"ncclGather", "SendRecv", 4000, 3000},
      {"ncclScatter", "SendRecv", 4000, 3000},
      {"ncclReduceConfig", "Reduce", 1000, 1000},
  };
  for (const auto& expected : kExpected) {
    const CollectiveKind* kind = CollectiveKindOf(expected.function);
    ASSERT_NE(kind, nullptr) << expected.function;
    EXPECT_EQ(kind->kernels, expected.kernels) << expected.function;
    const double whole = kind->size_is_of_a_rank ? 4000 : 1000;
    EXPECT_EQ(whole, expected.whole) << expected.function;
    EXPECT_EQ(whole * LinkBytes(kind->link_share, 4), expected.link) << expected.function;
  }
  for (const char* function :
       {"ncclCommInitRankConfig", "ncclGroupEnd", "Config", "", "ncclReduceX"}) {
    EXPECT_EQ(CollectiveKindOf(function), nullptr) << function;
  }
}

TEST_F(CollectiveSizesTest, SaysWhySizesAreNotKnown) {
  Launch(kAllReduce);
  EXPECT_NE(End().at("AllReduce").size_note().find("--nvtx"), std::string::npos);
}

TEST_F(CollectiveSizesTest, SaysThatALibraryToldNoSizesWhereRangesWereRecorded) {
  TraceWindow window;
  window.set_flags(kTraceKernels | kTraceMarkers);
  window.set_start_ns(kRunStartNs);
  run_.Send(1, FRAME_TRACE_WINDOW, window);
  Launch(kAllReduce);
  EXPECT_NE(End().at("AllReduce").size_note().find("since 2.18"), std::string::npos);
}

}  // namespace
}  // namespace utlz
