#include "inject/tracing/launch_callbacks.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

namespace utlz::agent {
namespace {

// What a stand-in for CUPTI was asked for. Its functions carry no user pointer, so there is one.
struct Asked {
  int subscribed = 0;
  int unsubscribed = 0;
  cupti::Result answer = cupti::kSuccess;  // to subscriptions
  std::set<uint32_t> on;                   // calls whose callbacks are on
  std::set<uint32_t> nodes_on;             // events of nodes of graphs
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
  EXPECT_EQ(subscriber, TheSubscriber());
  EXPECT_TRUE(domain == cupti::kDomainDriverApi || domain == cupti::kDomainResource);
  std::set<uint32_t>& switched = domain == cupti::kDomainDriverApi ? asked.on : asked.nodes_on;
  if (on != 0) switched.insert(call);
  if (on == 0) switched.erase(call);
  return cupti::kSuccess;
}

void Ignore(void*, uint32_t, uint32_t, const void*) {}

class LaunchCallbacksTest : public testing::Test {
 protected:
  static constexpr uint64_t kNowNs = 1'000'000'000;

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
  EXPECT_TRUE(asked.on.empty());
  callbacks_.Turn(cupti_, kNowNs + LaunchCallbacks::kGraceNs - 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  callbacks_.Turn(cupti_, kNowNs + LaunchCallbacks::kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 1);
  EXPECT_FALSE(callbacks_.subscribed());
}

TEST_F(LaunchCallbacksTest, WindowsInQuickSuccessionShareASubscription) {
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  callbacks_.On(cupti_, Ignore);
  callbacks_.Turn(cupti_, kNowNs + 2 * LaunchCallbacks::kGraceNs);
  EXPECT_EQ(asked.subscribed, 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  EXPECT_FALSE(asked.on.empty());
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
  callbacks_.Turn(cupti_, kNowNs + 2 * LaunchCallbacks::kGraceNs);
  EXPECT_TRUE(callbacks_.subscribed());
  callbacks_.SilenceNodes(cupti_, kNowNs);
  EXPECT_TRUE(asked.nodes_on.empty());
  callbacks_.Turn(cupti_, kNowNs + LaunchCallbacks::kGraceNs - 1);
  EXPECT_EQ(asked.unsubscribed, 0);
  callbacks_.Turn(cupti_, kNowNs + LaunchCallbacks::kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 1);
}

TEST_F(LaunchCallbacksTest, NodesAndWindowsShareASubscription) {
  callbacks_.NodesOn(cupti_, Ignore);
  callbacks_.On(cupti_, Ignore);
  callbacks_.Silence(cupti_, kNowNs);
  EXPECT_TRUE(asked.on.empty());
  EXPECT_FALSE(asked.nodes_on.empty()) << "a capture goes on when a window ends";
  callbacks_.Turn(cupti_, kNowNs + 2 * LaunchCallbacks::kGraceNs);
  callbacks_.On(cupti_, Ignore);
  callbacks_.SilenceNodes(cupti_, kNowNs);
  EXPECT_TRUE(callbacks_.on());
  callbacks_.Turn(cupti_, kNowNs + 2 * LaunchCallbacks::kGraceNs);
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
  callbacks_.Turn(cupti_, kNowNs + 2 * LaunchCallbacks::kGraceNs);
  EXPECT_EQ(asked.unsubscribed, 0);
  EXPECT_FALSE(callbacks_.subscribed());
}

}  // namespace
}  // namespace utlz::agent
