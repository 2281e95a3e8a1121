// What CollectiveSizes takes from a process: threads apart, and no more than it has room for.
#include <gtest/gtest.h>

#include <string>

#include "collector/run/collective_sizes.h"

namespace utlz {
namespace {

constexpr uint32_t kCollectiveThread = 7;

class CollectiveBoundsTest : public ::testing::Test {
 protected:
  enum Function : uint32_t { kEnd, kAllReduce, kAllGather, kGroupStart, kInitRank };

  CollectiveBoundsTest() {
    process_.source = 1;
    process_.strings = {"ncclAllReduce", "ncclAllGather", "ncclGroupStart", "ncclCommInitRank"};
  }

  uint32_t AddKernel(const std::string& suffix = "") {
    VariantShape shape;
    shape.name = static_cast<uint32_t>(process_.strings.size());
    process_.strings.push_back("ncclDevKernel_AllReduce_Sum_f32_RING_LL" + suffix);
    process_.variants.push_back(shape);
    return kernels_.Find(&process_, static_cast<uint32_t>(process_.variants.size() - 1), 0);
  }
  void Tell(Function function, uint32_t thread = kCollectiveThread, uint64_t bytes = 0,
            uint64_t communicator = 0, uint32_t ranks = 0) {
    calls_.add_time_delta_ns(static_cast<int64_t>(++now_ns_ - told_ns_));
    told_ns_ = now_ns_;
    calls_.add_thread(thread);
    calls_.add_function(function);
    calls_.add_bytes(bytes == 0 ? 0 : bytes + 1);
    calls_.add_communicator(communicator);
    calls_.add_ranks(ranks);
  }
  void Launch(uint32_t kernel, uint32_t thread = kCollectiveThread) {
    LaunchCallBatch call;
    call.set_base_ns(++now_ns_);
    call.add_start_delta_ns(0);
    call.add_duration_ns(1);
    call.add_correlation_delta(++correlation_);
    call.add_thread(thread);
    ASSERT_TRUE(correlator_.AddCalls(1, call));
    correlator_.AddLaunch(1, correlation_, {kernel, 20});
  }
  void AllReduce(uint64_t bytes, uint32_t kernel, uint32_t thread = kCollectiveThread,
                 uint64_t communicator = 0) {
    Tell(kAllReduce, thread, bytes, communicator);
    Launch(kernel, thread);
    Tell(kEnd, thread);
  }
  void SettleAll() {
    ASSERT_TRUE(sizes_.Add(process_, calls_, &correlator_));
    calls_.Clear();
    calls_.set_base_ns(told_ns_);
    correlator_.SettleAll();
    sizes_.SettleAll(kernels_);
  }
  uint64_t Launches() const {
    uint64_t launches = 0;
    for (const auto& [group, totals] : sizes_.groups()) launches += totals.launches;
    return launches;
  }

  ProcessState process_;
  KernelTable kernels_;
  CommunicationCallBatch calls_;
  NvtxRangeCorrelator correlator_;
  CollectiveSizes sizes_;
  uint64_t now_ns_ = 0;
  uint64_t told_ns_ = 0;
  uint32_t correlation_ = 0;
};

TEST_F(CollectiveBoundsTest, ABatchWhoseColumnsDisagreeIsRefused) {
  Tell(kAllReduce, kCollectiveThread, 1000);
  for (const auto shorten :
       {+[](CommunicationCallBatch* batch) { batch->mutable_time_delta_ns()->RemoveLast(); },
        +[](CommunicationCallBatch* batch) { batch->mutable_thread()->RemoveLast(); },
        +[](CommunicationCallBatch* batch) { batch->mutable_function()->RemoveLast(); },
        +[](CommunicationCallBatch* batch) { batch->mutable_bytes()->RemoveLast(); },
        +[](CommunicationCallBatch* batch) { batch->mutable_communicator()->RemoveLast(); },
        +[](CommunicationCallBatch* batch) { batch->mutable_ranks()->RemoveLast(); }}) {
    CommunicationCallBatch batch = calls_;
    shorten(&batch);
    EXPECT_FALSE(sizes_.Add(process_, batch, &correlator_)) << batch.ShortDebugString();
  }
  EXPECT_FALSE(sizes_.known());
}

TEST_F(CollectiveBoundsTest, ThreadsThatCallAtTheSameTimeAreToldApart) {
  const uint32_t kernel = AddKernel();
  Tell(kAllReduce, kCollectiveThread, 1000);
  Tell(kAllReduce, kCollectiveThread + 1, 30);
  Launch(kernel, kCollectiveThread);
  Tell(kEnd, kCollectiveThread);
  Launch(kernel, kCollectiveThread + 1);
  Tell(kEnd, kCollectiveThread + 1);
  SettleAll();
  ASSERT_EQ(sizes_.groups().size(), 2u);
  EXPECT_EQ(sizes_.groups().begin()->second.bytes, 30);
  EXPECT_EQ(sizes_.groups().rbegin()->second.bytes, 1000);
}

TEST_F(CollectiveBoundsTest, AnOperationLastsAsLongAsItsOutermostFunction) {
  const uint32_t kernel = AddKernel();
  Tell(kInitRank);
  Tell(kAllReduce, kCollectiveThread, 1000);
  Tell(kEnd);
  Launch(kernel);
  Tell(kEnd);
  SettleAll();
  ASSERT_EQ(sizes_.groups().size(), 1u);
  EXPECT_EQ(sizes_.groups().begin()->second.bytes, 1000);
}

TEST_F(CollectiveBoundsTest, AThreadWithTooManyFunctionsOpenBeginsAnew) {
  const uint32_t kernel = AddKernel();
  for (size_t i = 0; i <= CollectiveSizes::kMaxDepth; ++i) Tell(kGroupStart);
  AllReduce(1000, kernel);
  SettleAll();
  EXPECT_EQ(Launches(), 1u);
}

TEST_F(CollectiveBoundsTest, OperationsThatFindNoRoomHaveNoSizeUntilOthersAreCounted) {
  const uint32_t kernel = AddKernel();
  for (size_t i = 0; i < CollectiveSizes::kMaxWaiting; ++i) {
    Tell(kAllReduce, kCollectiveThread, 1000);
    Tell(kEnd);
  }
  AllReduce(1000, kernel);
  SettleAll();
  EXPECT_EQ(Launches(), 0u);
  AllReduce(1000, kernel);
  SettleAll();
  EXPECT_EQ(Launches(), 1u);
}

TEST_F(CollectiveBoundsTest, AnOperationOfTooManyKernelsHasNoSize) {
  for (const size_t kernels :
       {NvtxRangeCorrelator::kMaxPassing, NvtxRangeCorrelator::kMaxPassing + 1}) {
    Tell(kAllReduce, kCollectiveThread, 1000);
    for (size_t i = 0; i < kernels; ++i) Launch(AddKernel(std::to_string(i)));
    Tell(kEnd);
    SettleAll();
    EXPECT_EQ(Launches(), NvtxRangeCorrelator::kMaxPassing);
  }
}

TEST_F(CollectiveBoundsTest, CommunicatorsBeyondThoseThatItRemembersHaveNoRanks) {
  const uint32_t kernel = AddKernel();
  for (uint64_t i = 1; i <= CollectiveSizes::kMaxCommunicators + 1; ++i) {
    Tell(kInitRank);
    Tell(kEnd, kCollectiveThread, 0, i, 4);
  }
  AllReduce(1000, kernel, kCollectiveThread, CollectiveSizes::kMaxCommunicators);
  AllReduce(1000, kernel, kCollectiveThread, CollectiveSizes::kMaxCommunicators + 1);
  SettleAll();
  ASSERT_EQ(sizes_.groups().size(), 2u);
  EXPECT_EQ(sizes_.groups().begin()->first.ranks, 0u);
  EXPECT_EQ(sizes_.groups().rbegin()->first.ranks, 4u);
}

TEST_F(CollectiveBoundsTest, GroupsThatFindNoRoomAreLeftOut) {
  const uint32_t kernel = AddKernel();
  for (uint32_t i = 1; i <= CollectiveSizes::kMaxGroups + 1; ++i) {
    Tell(kInitRank);
    Tell(kEnd, kCollectiveThread, 0, i, i);
    AllReduce(1000, kernel, kCollectiveThread, i);
  }
  AllReduce(1000, kernel, kCollectiveThread, 1);  // of a group that is there already
  SettleAll();
  EXPECT_EQ(sizes_.groups().size(), CollectiveSizes::kMaxGroups);
  EXPECT_EQ(Launches(), CollectiveSizes::kMaxGroups + 1);
}

TEST_F(CollectiveBoundsTest, ThreadsThatFindNoRoomAreLeftOut) {
  const uint32_t kernel = AddKernel();
  for (uint32_t i = 0; i <= CollectiveSizes::kMaxThreads; ++i) AllReduce(1000, kernel, i);
  AllReduce(1000, kernel, 0);
  SettleAll();
  EXPECT_EQ(Launches(), CollectiveSizes::kMaxThreads + 1);
}

}  // namespace
}  // namespace utlz
