#include "inject/tracing/launch_callbacks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace utlz::agent {
namespace {

// What a stand-in for CUPTI was asked for. Its functions carry no user pointer, so there is one.
struct Asked {
  int subscribed = 0;
  int unsubscribed = 0;
  cupti::Result answer = cupti::kSuccess;  // to subscriptions
  std::set<uint32_t> on;                   // calls whose callbacks are on
  std::set<uint32_t> nodes_on;             // events of nodes of graphs
  std::function<void()> at_first_off;      // called when the first of them goes off
};
Asked asked;

int subscriber_place;
cupti::Subscriber TheSubscriber() { return reinterpret_cast<cupti::Subscriber>(&subscriber_place); }

cupti::Result Subscribe(cupti::Subscriber* subscriber, cupti::Callback, void*) {
  ++asked.subscribed;
  if (asked.answer == cupti::kSuccess) *subscriber = TheSubscriber();
  return asked.answer;
}

cupti::Result Unsubscribe(cupti::Subscriber subscriber) {
  EXPECT_EQ(subscriber, TheSubscriber());
  ++asked.unsubscribed;
  return cupti::kSuccess;
}

cupti::Result EnableCallback(uint32_t on, cupti::Subscriber subscriber, uint32_t domain,
                             uint32_t call) {
  if (subscriber == nullptr) return cupti::kErrorMultipleSubscribers;  // it was given up
  EXPECT_EQ(subscriber, TheSubscriber());
  EXPECT_TRUE(domain == cupti::kDomainDriverApi || domain == cupti::kDomainResource);
  std::set<uint32_t>& switched = domain == cupti::kDomainDriverApi ? asked.on : asked.nodes_on;
  static std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  if (on != 0) switched.insert(call);
  if (on == 0) switched.erase(call);
  if (on != 0 || !asked.at_first_off) return cupti::kSuccess;
  const auto at_first_off = std::exchange(asked.at_first_off, nullptr);
  lock.unlock();
  at_first_off();
  return cupti::kSuccess;
}

void Ignore(void*, uint32_t, uint32_t, const void*) {}

class LaunchCallbacksTest : public testing::Test {
 protected:
  static constexpr uint64_t kNowNs = 1'000'000'000;
  static constexpr uint64_t kGraceNs = LaunchCallbacks::kGraceNs;

  // A thread in a launching call.
  struct Call {
    uint64_t mark = 0;
    cupti::CallbackData data{};
  };
  void Enter(Call* call) {
    call->data.correlation_data = &call->mark;
    callbacks_.Entered(call->data);
  }
  void Leave(const Call& call) { callbacks_.Left(cupti_, call.data); }
  void Launch() {
    Call call;
    Enter(&call);
    Leave(call);
  }

  LaunchCallbacksTest() {
    asked = {};
    cupti_.subscribe = Subscribe;
    cupti_.unsubscribe = Unsubscribe;
    cupti_.enable_callback = EnableCallback;
  }

  CuptiApi cupti_{};
  LaunchCallbacks callbacks_;
};

TEST_F(LaunchCallbacksTest, SwitchesEveryLaunchingCallOn) {
  ASSERT_EQ(callbacks_.On(cupti_, Ignore), cupti::kSuccess);
  EXPECT_TRUE(callbacks_.on());
  EXPECT_TRUE(callbacks_.subscribed());
  EXPECT_EQ(asked.on.size(), std::size(cupti::kDriverLaunchCalls));
}

TEST_F(LaunchCallbacksTest, SubscriptionOutlivesItsCallbacks) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  Launch();
  EXPECT_TRUE(asked.on.empty());
  callbacks_.Turn(cupti_, kNowNs + kGraceNs - 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  callbacks_.Turn(cupti_, kNowNs + kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 1);
  EXPECT_FALSE(callbacks_.subscribed());
}

TEST_F(LaunchCallbacksTest, TheLastThreadThatLeavesACallSwitchesThemOff) {
  callbacks_.On(cupti_, Ignore);
  Call first, second;
  Enter(&first);
  Enter(&second);
  callbacks_.Silence(cupti_, kNowNs);
  EXPECT_FALSE(callbacks_.on()) << "stacks are not wanted";
  Leave(first);
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  EXPECT_EQ(asked.on.size(), std::size(cupti::kDriverLaunchCalls)) << "one is in a call";
  Leave(second);
  EXPECT_TRUE(asked.on.empty());
}

TEST_F(LaunchCallbacksTest, AThreadThatWasInACallBeforeThemIsNotWaitedFor) {
  Call early;
  callbacks_.On(cupti_, Ignore);
  early.data.correlation_data = &early.mark;
  callbacks_.Silence(cupti_, kNowNs);
  Leave(early);
  EXPECT_FALSE(asked.on.empty());
  Launch();
  EXPECT_TRUE(asked.on.empty());
}

TEST_F(LaunchCallbacksTest, AProgramThatLaunchesNothingHasThemSwitchedOff) {
  callbacks_.On(cupti_, Ignore);
  Launch();
  callbacks_.Silence(cupti_, kNowNs);
  callbacks_.Turn(cupti_, kNowNs + kGraceNs - 1);
  EXPECT_FALSE(asked.on.empty());
  callbacks_.Turn(cupti_, kNowNs + kGraceNs);
  EXPECT_TRUE(asked.on.empty());
  EXPECT_EQ(asked.unsubscribed, 0);
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 1);
}

TEST_F(LaunchCallbacksTest, ACallThatDoesNotEndIsNotWaitedForForever) {
  callbacks_.On(cupti_, Ignore);
  Call call;
  Enter(&call);
  callbacks_.Silence(cupti_, kNowNs);
  callbacks_.Turn(cupti_, kNowNs + LaunchCallbacks::kMostLaunchNs - 1);
  EXPECT_FALSE(asked.on.empty());
  callbacks_.Turn(cupti_, kNowNs + LaunchCallbacks::kMostLaunchNs);
  EXPECT_TRUE(asked.on.empty());
  // Its end is of an earlier window.
  callbacks_.On(cupti_, Ignore);
  Call later;
  Enter(&later);
  callbacks_.Silence(cupti_, kNowNs);
  Leave(call);
  EXPECT_FALSE(asked.on.empty());
  Leave(later);
  EXPECT_TRUE(asked.on.empty());
}

TEST_F(LaunchCallbacksTest, AThreadThatEntersACallMeanwhileIsWaitedForToo) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  Call call;
  asked.at_first_off = [&] { Enter(&call); };
  Launch();
  EXPECT_EQ(asked.on.size(), std::size(cupti::kDriverLaunchCalls));
  Leave(call);
  EXPECT_TRUE(asked.on.empty());
}

TEST_F(LaunchCallbacksTest, WindowsComeAndGoWhileThreadsLaunch) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends) Launch();
    });
  }
  for (int window = 0; window < 200; ++window) {
    const uint64_t now_ns = kNowNs * (1 + window);
    // A thread may be kept from its core while it switches them off.
    while (callbacks_.On(cupti_, Ignore) != cupti::kSuccess) std::this_thread::yield();
    EXPECT_TRUE(callbacks_.on());
    callbacks_.Silence(cupti_, now_ns);
    callbacks_.Turn(cupti_, now_ns + LaunchCallbacks::kMostLaunchNs - 1);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  callbacks_.Off(cupti_);
  EXPECT_TRUE(asked.on.empty());
  EXPECT_EQ(asked.unsubscribed, asked.subscribed);
}

TEST_F(LaunchCallbacksTest, WindowsInQuickSuccessionShareASubscription) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  callbacks_.On(cupti_, Ignore);
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  EXPECT_EQ(asked.subscribed, 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  Launch();
  EXPECT_FALSE(asked.on.empty()) << "whether they were switched off in between or not";
  callbacks_.Silence(cupti_, kNowNs);
  Launch();
  callbacks_.On(cupti_, Ignore);
  EXPECT_FALSE(asked.on.empty());
  EXPECT_EQ(asked.subscribed, 1);
}

TEST_F(LaunchCallbacksTest, GivesUpAtOnce) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Off(cupti_);
  callbacks_.Off(cupti_);
  EXPECT_TRUE(asked.on.empty());
  EXPECT_EQ(asked.unsubscribed, 1);
  EXPECT_FALSE(callbacks_.on());
  EXPECT_FALSE(callbacks_.subscribed());
}

TEST_F(LaunchCallbacksTest, ComesBackAfterItWasGivenUp) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  asked.at_first_off = [&] {
    Call call;  // does not end
    Enter(&call);
    callbacks_.Off(cupti_);  // while a thread switches them off
  };
  Launch();
  EXPECT_EQ(asked.unsubscribed, 1);
  asked.on.clear();
  ASSERT_EQ(callbacks_.On(cupti_, Ignore), cupti::kSuccess);
  EXPECT_EQ(asked.on.size(), std::size(cupti::kDriverLaunchCalls));
}

TEST_F(LaunchCallbacksTest, HasNothingWhereAnotherClientSubscribed) {
  asked.answer = cupti::kErrorMultipleSubscribers;
  EXPECT_EQ(callbacks_.On(cupti_, Ignore), cupti::kErrorMultipleSubscribers);
  EXPECT_FALSE(callbacks_.on());
  EXPECT_FALSE(callbacks_.subscribed());
  callbacks_.Off(cupti_);
  EXPECT_EQ(asked.unsubscribed, 0);
  EXPECT_TRUE(asked.on.empty());
}

TEST_F(LaunchCallbacksTest, NodesHaveASubscriptionOfTheirOwn) {
  ASSERT_EQ(callbacks_.NodesOn(cupti_, Ignore), cupti::kSuccess);
  EXPECT_EQ(asked.nodes_on,
            (std::set<uint32_t>{cupti::kGraphNodeCreated, cupti::kGraphNodeCloned}));
  EXPECT_TRUE(asked.on.empty()) << "launches are not watched for it";
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  EXPECT_TRUE(callbacks_.subscribed());
  callbacks_.SilenceNodes(cupti_, kNowNs);
  EXPECT_TRUE(asked.nodes_on.empty());
  callbacks_.Turn(cupti_, kNowNs + kGraceNs - 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  callbacks_.Turn(cupti_, kNowNs + kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 1);
}

TEST_F(LaunchCallbacksTest, NodesAndWindowsShareASubscription) {
  callbacks_.NodesOn(cupti_, Ignore);
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  Launch();
  EXPECT_TRUE(asked.on.empty());
  EXPECT_FALSE(asked.nodes_on.empty()) << "a capture goes on when a window ends";
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  callbacks_.On(cupti_, Ignore);
  callbacks_.SilenceNodes(cupti_, kNowNs);
  EXPECT_TRUE(callbacks_.on());
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  EXPECT_EQ(asked.subscribed, 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  callbacks_.NodesOn(cupti_, Ignore);
  callbacks_.Off(cupti_);
  EXPECT_TRUE(asked.on.empty());
  EXPECT_TRUE(asked.nodes_on.empty());
  EXPECT_FALSE(callbacks_.nodes_on());
  EXPECT_EQ(asked.unsubscribed, 1);
}

TEST_F(LaunchCallbacksTest, NodesHaveNothingWhereAnotherClientSubscribed) {
  asked.answer = cupti::kErrorMultipleSubscribers;
  EXPECT_EQ(callbacks_.NodesOn(cupti_, Ignore), cupti::kErrorMultipleSubscribers);
  EXPECT_FALSE(callbacks_.nodes_on());
  callbacks_.SilenceNodes(cupti_, kNowNs);
  EXPECT_FALSE(callbacks_.subscribed());
}

TEST_F(LaunchCallbacksTest, LeavesTornDownCuptiAlone) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Lost();
  callbacks_.Off(cupti_);
  callbacks_.Turn(cupti_, kNowNs + 2 * kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 0);
  EXPECT_FALSE(callbacks_.subscribed());
}

}  // namespace
}  // namespace utlz::agent
