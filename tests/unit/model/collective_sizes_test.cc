#include "collector/model/collective_sizes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/model/run_builder.h"

namespace utlz {
namespace {

constexpr uint32_t kThread = 77;
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
    calls_.add_time_delta_ns(static_cast<int64_t>(Now() - told_ns_));
    told_ns_ = now_ns_ + kRunStartNs;
    calls_.add_thread(kThread);
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
  void Launch(uint32_t variant, uint32_t thread = kThread) {
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
    told_ns_ = 0;
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
      "ncclAllReduce",  "ncclAllGather", "ncclSend",         "ncclRecv",
      "ncclGroupStart", "ncclGroupEnd",  "ncclCommInitRank", "ncclAlltoAllConfig"};

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
  Launch(kAllReduce, kThread + 1);
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
  LaunchPlacement placement;
  EXPECT_FALSE(sizes.Add(process, uneven, &placement));
}

TEST_F(CollectiveSizesTest, SaysWhySizesAreNotKnown) {
  Launch(kAllReduce);
  run_.EndProcess();
  const Summary summary = run_.EndRun(1'000'000);
  ASSERT_EQ(summary.communication_size(), 1);
  EXPECT_NE(summary.communication(0).size_note().find("--nvtx"), std::string::npos);
}

}  // namespace
}  // namespace utlz
