// Who listens to a sampler, told turn by turn: what each of them is heard saying, and hears.
#include "collector/sampler/sampler_subscribers.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/nanoseconds.h"
#include "tests/unit/sampler/sampler_ends.h"

namespace utlz {
namespace {

const std::string kGpu(16, 'u');
const std::string kOther(16, 'v');

uint64_t Subscription(SubscriberKind kind) {
  return uint64_t{static_cast<uint32_t>(kind)} << 32 | kSamplerShareVersion;
}

// One who listens, from outside.
struct End {
  UniqueFd fd;
  Heard heard;

  void Read() { heard.Read(fd.get()); }
  bool TurnedAway() {
    Read();
    return heard.ended;
  }
};

class SamplerSubscribersTest : public testing::Test {
 protected:
  void Start(SubscriberKind own) {
    subscribers_ = std::make_unique<SamplerSubscribers>(
        std::make_unique<FrameChannel>(Connect(&own_).Release()), own);
  }
  SamplerSubscribersTest() { Start(SubscriberKind::kAlways); }

  static UniqueFd Connect(End* end) {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    end->fd.Reset(sockets[0]);
    return UniqueFd(sockets[1]);
  }

  std::unique_ptr<End> Come(const std::string& uuid = kGpu) {
    auto end = std::make_unique<End>();
    subscribers_->Add(now_ns_, Connect(end.get()), uuid);
    return end;
  }
  std::unique_ptr<End> Subscribed(SubscriberKind kind, const std::string& uuid = kGpu) {
    auto end = Come(uuid);
    Command(end->fd.get(), kSamplerSubscribe, uuid, Subscription(kind));
    Exchange();
    return end;
  }

  void Exchange() {
    subscribers_->Exchange(
        now_ns_,
        [this](SamplerSubscribers::Listener* listener, const SamplerCommand& command) {
          handled_.push_back(command.kind);
          if (command.kind == kSamplerYield) subscribers_->Yield(now_ns_, listener);
          if (command.kind == kSamplerResume) subscribers_->Resume(now_ns_, listener);
          if (command.kind == kSamplerProgress) {
            listener->progress[kGpu] = command.argument;
          }
        },
        [this](SamplerSubscribers::Listener*) { ++joined_; });
  }

  void Say(const End& end, SamplerCommandKind kind) {
    Command(end.fd.get(), kind, kGpu);
    Exchange();
  }

  // What everybody polls for: one entry each.
  std::vector<short> Polled() const {
    std::vector<pollfd> entries;
    subscribers_->AddPolled(now_ns_, &entries);
    std::vector<short> events;
    for (const pollfd& entry : entries) events.push_back(entry.events);
    return events;
  }

  static SampleBatch Samples(size_t bytes = 0) {
    SampleBatch batch;
    batch.set_device_uuid(kGpu);
    batch.set_samples(10);
    for (size_t i = 0; i < bytes / 5; ++i) batch.add_interval_residual_ns(-1'000'000'000);
    return batch;
  }
  // More than its socket takes waits to be read.
  void FillUp(uint64_t bytes = 12 << 20) {
    for (uint64_t sent = 0; sent < bytes; sent += 1 << 20) {
      subscribers_->Send(kGpu, FRAME_SAMPLES, Samples(1 << 20));
    }
  }
  SamplerStatus StatusFor(End* end, SamplerStatus status = {}) {
    end->heard.statuses.clear();
    status.set_device_uuid(kGpu);
    subscribers_->Send(kGpu, FRAME_SAMPLER_STATUS, status);
    Exchange();
    end->Read();
    return end->heard.statuses.empty() ? SamplerStatus() : end->heard.statuses.back();
  }

  End own_;
  std::unique_ptr<SamplerSubscribers> subscribers_;
  uint64_t now_ns_ = 1000 * kSecondNs;
  std::vector<uint32_t> handled_;
  int joined_ = 0;
};

TEST_F(SamplerSubscribersTest, TheFirstCommandSaysWhatForAndInWhichVersion) {
  const auto turned_away = [&](SamplerCommandKind kind, const std::string& uuid,
                               uint64_t argument) {
    auto end = Come();
    Command(end->fd.get(), kind, uuid, argument);
    Command(end->fd.get(), kSamplerStartWindow, uuid);
    Exchange();
    return end->TurnedAway();
  };
  const uint64_t good = Subscription(SubscriberKind::kPlanned);
  EXPECT_TRUE(turned_away(kSamplerStartWindow, kGpu, good));
  EXPECT_TRUE(turned_away(kSamplerSubscribe, kGpu, good + 1)) << "another version";
  EXPECT_TRUE(turned_away(kSamplerSubscribe, kOther, good)) << "another GPU";
  EXPECT_TRUE(turned_away(kSamplerSubscribe, kGpu, good + (uint64_t{2} << 32))) << "what kind?";
  EXPECT_EQ(joined_, 0);
  EXPECT_TRUE(handled_.empty());
  EXPECT_FALSE(turned_away(kSamplerSubscribe, kGpu, good));
  EXPECT_EQ(joined_, 1);
  EXPECT_EQ(handled_, std::vector<uint32_t>{kSamplerStartWindow});
}

TEST_F(SamplerSubscribersTest, WhoSaysNothingIsTurnedAwayAndWhoSubscribedStays) {
  const auto silent = Come();
  const auto subscribed = Subscribed(SubscriberKind::kAlways);
  now_ns_ += SamplerSubscribers::kPatienceNs;
  Exchange();
  EXPECT_FALSE(silent->TurnedAway());
  ++now_ns_;
  Exchange();
  EXPECT_TRUE(silent->TurnedAway());
  EXPECT_FALSE(subscribed->TurnedAway());
}

TEST_F(SamplerSubscribersTest, WhoLeavesIsForgotten) {
  auto end = Subscribed(SubscriberKind::kAlways);
  EXPECT_TRUE(subscribers_->HasSubscribers(kGpu));
  EXPECT_FALSE(subscribers_->HasSubscribers(kOther));
  end.reset();
  Exchange();
  EXPECT_FALSE(subscribers_->has_subscribers());
}

TEST_F(SamplerSubscribersTest, NoMoreSubscribersThanAreServed) {
  std::vector<std::unique_ptr<End>> ends;
  for (size_t i = 0; i < SamplerSubscribers::kMostSubscribers; ++i) ends.push_back(Come());
  Exchange();
  EXPECT_FALSE(ends.back()->TurnedAway());
  EXPECT_TRUE(Come()->TurnedAway());
}

TEST_F(SamplerSubscribersTest, EachHearsWhatConcernsIt) {
  Start(SubscriberKind::kPlanned);
  const auto always = Subscribed(SubscriberKind::kAlways);
  const auto planned = Subscribed(SubscriberKind::kPlanned);
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  const auto elsewhere = Subscribed(SubscriberKind::kPlanned, kOther);
  const auto silent = Come();
  subscribers_->Send(kGpu, FRAME_SAMPLES, Samples());
  subscribers_->Send(kGpu, FRAME_SAMPLER_READY, SamplerReady());
  subscribers_->Send(kGpu, FRAME_SAMPLER_WINDOW, SamplerWindow());
  subscribers_->Send(kGpu, FRAME_DEVICE_TOTALS, DeviceTotalsBatch());
  Exchange();
  const auto heard = [](End* end) {
    end->Read();
    return std::vector<size_t>{end->heard.batches.size(), end->heard.ready.size(),
                               end->heard.windows.size(), end->heard.totals.size()};
  };
  using Counts = std::vector<size_t>;
  EXPECT_EQ(heard(&own_), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(heard(always.get()), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(heard(planned.get()), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(heard(yielding.get()), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(heard(elsewhere.get()), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(heard(silent.get()), (Counts{0, 0, 0, 0}));
}

TEST_F(SamplerSubscribersTest, AWindowIsToldToAllWhoPlanButWhoNamedIt) {
  Start(SubscriberKind::kPlanned);
  const auto planned = Subscribed(SubscriberKind::kPlanned);
  const auto always = Subscribed(SubscriberKind::kAlways);
  const auto elsewhere = Subscribed(SubscriberKind::kPlanned, kOther);
  SamplerSubscribers::Listener* speaker = nullptr;
  Command(planned->fd.get(), kSamplerWindowAt, kGpu, 1);
  subscribers_->Exchange(
      now_ns_, [&](SamplerSubscribers::Listener* listener, const auto&) { speaker = listener; },
      [](auto) {});
  SamplerWindow window;
  window.set_device_uuid(kGpu);
  subscribers_->SendWindow(window, speaker);
  Exchange();
  for (End* end : {&own_, planned.get(), always.get(), elsewhere.get()}) end->Read();
  EXPECT_EQ(own_.heard.windows.size(), 1u);
  EXPECT_TRUE(planned->heard.windows.empty());
  EXPECT_TRUE(always->heard.windows.empty());
  EXPECT_TRUE(elsewhere->heard.windows.empty());
}

TEST_F(SamplerSubscribersTest, AStatusSaysHowManyShareTheCounters) {
  EXPECT_EQ(StatusFor(&own_).collectors(), 0u);
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  const auto elsewhere = Subscribed(SubscriberKind::kAlways, kOther);
  EXPECT_EQ(StatusFor(&own_).collectors(), 0u);
  auto sharing = Subscribed(SubscriberKind::kAlways);
  EXPECT_EQ(StatusFor(&own_).collectors(), 2u);
  sharing->fd.Reset();
  Exchange();
  EXPECT_EQ(StatusFor(&own_).collectors(), 2u) << "also once the other has gone";
  sharing = Subscribed(SubscriberKind::kAlways);
  SamplerStatus before;
  before.set_collectors(7);
  EXPECT_EQ(StatusFor(sharing.get(), before).collectors(), 7u) << "the most at any time";
}

TEST_F(SamplerSubscribersTest, WhoHasTheCountersIsNotToldWhyTheyAreAway) {
  const auto other = Subscribed(SubscriberKind::kAlways);
  SamplerStatus status;
  status.set_reason("lent");
  status.set_remedy("wait");
  Say(own_, kSamplerYield);
  EXPECT_EQ(StatusFor(&own_, status).reason(), "");
  EXPECT_EQ(StatusFor(&own_, status).remedy(), "");
  EXPECT_EQ(StatusFor(other.get(), status).reason(), "lent");
}

TEST_F(SamplerSubscribersTest, TheCountersAreAskedForUntilTheLastOneWhoDoes) {
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), 0u);
  Say(*yielding, kSamplerYield);
  EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), now_ns_ + YieldBudget::kLongestNs);
  EXPECT_EQ(subscribers_->YieldedUntilNs(kOther), 0u);
  Say(own_, kSamplerYield);
  EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), UINT64_MAX) << "ours has them until it says";
  EXPECT_EQ(subscribers_->YieldedUntilNs(kOther), UINT64_MAX) << "ours asks for every GPU";
}

// Whoever repeats it, over however many connections: of a whole minute the counters are away for a
// third at most, and for a twelfth of the time in the long run.
TEST_F(SamplerSubscribersTest, AYieldThatIsRepeatedUsesUpItsUsersBudget) {
  std::vector<std::unique_ptr<End>> ends;
  for (int i = 0; i < 4; ++i) ends.push_back(Subscribed(SubscriberKind::kYieldOnly));
  constexpr uint64_t kStep = kSecondNs / 10;
  std::vector<bool> away;
  for (int step = 0; step < 3000; ++step) {
    Say(*ends[static_cast<size_t>(step) % ends.size()], kSamplerYield);
    away.push_back(subscribers_->YieldedUntilNs(kGpu) > now_ns_);
    now_ns_ += kStep;
  }
  constexpr size_t kMinute = 600;
  size_t in_minute = 0;
  size_t most_in_minute = 0;
  for (size_t step = 0; step < away.size(); ++step) {
    in_minute += away[step] ? 1 : 0;
    if (step >= kMinute) in_minute -= away[step - kMinute] ? 1 : 0;
    most_in_minute = std::max(most_in_minute, in_minute);
  }
  EXPECT_GE(most_in_minute, 150u) << "15 s at once are everybody's";
  EXPECT_LE(most_in_minute, 202u) << "20 s of a minute";
}

TEST_F(SamplerSubscribersTest, TakingAndGivingBackInTurnUsesItUpToo) {
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  int yields = 0;
  for (int i = 0; i < 600; ++i, now_ns_ += kSecondNs / 10) {
    Say(*yielding, kSamplerYield);
    yields += subscribers_->YieldedUntilNs(kGpu) > now_ns_ ? 1 : 0;
    Say(*yielding, kSamplerResume);
    EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), 0u);
  }
  EXPECT_GE(yields, 15);
  EXPECT_LE(yields, 21) << "each counts for a second at least";
}

TEST_F(SamplerSubscribersTest, WhoGivesTheCountersBackHasThemAgainLater) {
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  Say(*yielding, kSamplerYield);
  now_ns_ += 2 * kSecondNs;
  Say(*yielding, kSamplerResume);
  EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), 0u);
  Say(*yielding, kSamplerYield);
  EXPECT_GE(subscribers_->YieldedUntilNs(kGpu), now_ns_ + 13 * kSecondNs);
  now_ns_ += 60 * kSecondNs;
  Exchange();
  now_ns_ += 180 * kSecondNs;
  Say(*yielding, kSamplerYield);
  EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), now_ns_ + YieldBudget::kLongestNs)
      << "it filled up";
}

TEST_F(SamplerSubscribersTest, OneWhoLeavesTakesNothingFromAnotherOfItsUser) {
  auto leaving = Subscribed(SubscriberKind::kYieldOnly);
  const auto staying = Subscribed(SubscriberKind::kYieldOnly);
  Say(*leaving, kSamplerYield);
  Say(*staying, kSamplerYield);
  const uint64_t until_ns = subscribers_->YieldedUntilNs(kGpu);
  leaving.reset();
  now_ns_ += kSecondNs;
  Exchange();
  EXPECT_EQ(subscribers_->YieldedUntilNs(kGpu), until_ns);
}

TEST_F(SamplerSubscribersTest, WindowsArePlannedAsTheirReadersWish) {
  EXPECT_TRUE(subscribers_->Planning(kGpu).always_wanted);
  EXPECT_FALSE(subscribers_->Planning(kGpu).planned);
  Start(SubscriberKind::kPlanned);
  EXPECT_FALSE(subscribers_->Planning(kGpu).always_wanted);
  EXPECT_TRUE(subscribers_->Planning(kGpu).planned);
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  const auto elsewhere = Subscribed(SubscriberKind::kAlways, kOther);
  EXPECT_FALSE(subscribers_->Planning(kGpu).always_wanted);
  EXPECT_TRUE(subscribers_->Planning(kOther).always_wanted);
}

TEST_F(SamplerSubscribersTest, CongestedWhereNobodyReads) {
  const auto slow = Subscribed(SubscriberKind::kAlways);
  const auto yielding = Subscribed(SubscriberKind::kYieldOnly);
  EXPECT_FALSE(subscribers_->congested());
  FillUp();
  EXPECT_TRUE(subscribers_->congested());
  const auto reader = Subscribed(SubscriberKind::kAlways);
  EXPECT_FALSE(subscribers_->congested()) << "one who reads is enough";
  Start(SubscriberKind::kYieldOnly);
  EXPECT_FALSE(subscribers_->congested()) << "there is nobody";
}

TEST_F(SamplerSubscribersTest, WritingIsPolledForWhileSomethingWaits) {
  EXPECT_EQ(Polled(), std::vector<short>{POLLIN});
  subscribers_->Send(kGpu, FRAME_SAMPLES, Samples());
  EXPECT_EQ(Polled(), std::vector<short>{POLLIN | POLLOUT});
  Exchange();
  EXPECT_EQ(Polled(), std::vector<short>{POLLIN});
}

TEST_F(SamplerSubscribersTest, AFloodOfCommandsWaitsForTheNextSecond) {
  const auto flooding = Subscribed(SubscriberKind::kAlways);
  constexpr size_t kSent = 2 * SamplerSubscribers::kCommandsPerSecond;
  for (size_t i = 0; i < kSent; ++i) Command(flooding->fd.get(), kSamplerStartWindow, kGpu);
  for (int i = 0; i < 20; ++i) Exchange();
  EXPECT_GE(handled_.size() + 1, size_t{SamplerSubscribers::kCommandsPerSecond});
  EXPECT_LT(handled_.size(), kSent);
  EXPECT_EQ(Polled(), std::vector<short>{POLLIN}) << "ours alone: it would not be heard";
  subscribers_->Send(kGpu, FRAME_SAMPLES, Samples());
  EXPECT_EQ(Polled(), (std::vector<short>{POLLIN | POLLOUT, POLLOUT}));
  Exchange();
  flooding->Read();
  EXPECT_EQ(flooding->heard.batches.size(), 1u) << "it hears all the same";
  now_ns_ += kSecondNs;
  EXPECT_EQ(Polled(), (std::vector<short>{POLLIN, POLLIN}));
  for (int i = 0; i < 20; ++i) Exchange();
  EXPECT_EQ(handled_.size(), kSent);
}

TEST_F(SamplerSubscribersTest, OursIsReleasedOnceItHasReadAll) {
  const auto other = Subscribed(SubscriberKind::kAlways);
  FillUp();
  subscribers_->ReleaseOwn(now_ns_);
  EXPECT_FALSE(subscribers_->own_listens());
  subscribers_->Send(kGpu, FRAME_SAMPLER_READY, SamplerReady());
  Command(own_.fd.get(), kSamplerStartWindow, kGpu);
  Exchange();
  EXPECT_TRUE(handled_.empty()) << "its part is over";
  EXPECT_TRUE(subscribers_->own_channel().open()) << "it has not read all";
  EXPECT_EQ(Polled()[0], POLLIN | POLLOUT);
  while (subscribers_->own_channel().open()) {
    Exchange();
    own_.Read();
  }
  own_.Read();
  EXPECT_TRUE(own_.heard.detached);
  EXPECT_EQ(own_.heard.batches.size(), 12u);
  EXPECT_FALSE(subscribers_->empty()) << "the other one listens on";
}

TEST_F(SamplerSubscribersTest, OneWhoDoesNotReadIsReleasedAllTheSame) {
  FillUp();
  subscribers_->ReleaseOwn(now_ns_);
  now_ns_ += SamplerSubscribers::kPatienceNs;
  Exchange();
  EXPECT_FALSE(subscribers_->empty());
  ++now_ns_;
  Exchange();
  EXPECT_TRUE(subscribers_->empty());
}

TEST_F(SamplerSubscribersTest, WhatOursMissesOfAnothersSamplesIsCounted) {
  const std::string large = Samples(1 << 20).SerializeAsString();
  for (int i = 0; i < 60; ++i) subscribers_->SendToOwn(FRAME_SAMPLES, large);
  for (int i = 0; i < 60; ++i) subscribers_->SendToOwn(FRAME_CONTEXT, large);
  while (subscribers_->own_channel().pending()) {
    Exchange();
    own_.Read();
  }
  const size_t missed = 60 - own_.heard.batches.size();
  EXPECT_GT(missed, 0u);
  SamplerStatus before;
  before.set_samples_lost(3);
  EXPECT_EQ(StatusFor(&own_, before).samples_lost(), 3 + 10 * missed);
  subscribers_->ReleaseOwn(now_ns_);
  own_.heard.batches.clear();
  subscribers_->SendToOwn(FRAME_SAMPLES, Samples().SerializeAsString());
  Exchange();
  own_.Read();
  EXPECT_TRUE(own_.heard.batches.empty()) << "it was released";
}

TEST_F(SamplerSubscribersTest, WhatASlowSubscriberMissesIsCountedAndTheOthersGetAll) {
  const auto slow = Subscribed(SubscriberKind::kAlways);
  constexpr size_t kBatches = 40;
  ASSERT_GT(kBatches << 20, 2 * SamplerSubscribers::kMostPendingBytes);
  for (size_t i = 0; i < kBatches; ++i) {
    subscribers_->Send(kGpu, FRAME_SAMPLES, Samples(1 << 20));
    while (own_.heard.batches.size() <= i) {
      Exchange();
      own_.Read();
    }
  }
  SamplerStatus status;
  status.set_device_uuid(kGpu);
  subscribers_->Send(kGpu, FRAME_SAMPLER_STATUS, status);
  while (slow->heard.statuses.empty()) {
    Exchange();
    slow->Read();
  }
  EXPECT_LT(slow->heard.batches.size(), kBatches);
  EXPECT_GT(slow->heard.batches.size(), 0u);
  EXPECT_EQ(slow->heard.statuses[0].samples_lost(), 10 * (kBatches - slow->heard.batches.size()));
  EXPECT_EQ(StatusFor(&own_).samples_lost(), 0u);
}

TEST_F(SamplerSubscribersTest, TheStartUpIsOverForAllOnceItIsForOneAndRecordsMayEndForOne) {
  Start(SubscriberKind::kPlanned);
  const auto other = Subscribed(SubscriberKind::kPlanned);
  EXPECT_FALSE(subscribers_->Progress(kGpu).has_value());
  Command(own_.fd.get(), kSamplerProgress, kGpu, kProgressBaseKnown);
  Command(other->fd.get(), kSamplerProgress, kGpu, kProgressSteady | kProgressPerhapsOnce);
  Exchange();
  EXPECT_EQ(subscribers_->Progress(kGpu), uint64_t{kProgressSteady | kProgressPerhapsOnce})
      << "the other's kernels are not known well";
}

}  // namespace
}  // namespace utlz
