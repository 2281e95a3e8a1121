#include "collector/sampler/sampler_subscribers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collector/sampler/sharing/sampler_socket.h"
#include "proto/sampler.pb.h"

namespace utlz {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

bool ReadsSamples(const SamplerSubscribers::Listener& listener) {
  return listener.subscribed && listener.kind != SubscriberKind::kYieldOnly;
}

bool IsSubscription(const SamplerCommand& command, const std::string& uuid) {
  return command.kind == kSamplerSubscribe &&
         static_cast<uint32_t>(command.argument) == kSamplerShareVersion &&
         command.argument >> 32 <= static_cast<uint32_t>(SubscriberKind::kYieldOnly) &&
         std::equal(uuid.begin(), uuid.end(), std::begin(command.uuid), std::end(command.uuid),
                    [](char left, uint8_t right) { return static_cast<uint8_t>(left) == right; });
}

}  // namespace

SamplerSubscribers::SamplerSubscribers(std::unique_ptr<FrameChannel> own, SubscriberKind kind) {
  own_.channel = std::move(own);
  own_.kind = kind;
  own_.subscribed = true;
}

template <typename Visit>
void SamplerSubscribers::ForEach(const Visit& visit) {
  if (own_listens()) visit(own_);
  for (const auto& subscriber : subscribers_) visit(*subscriber);
}

template <typename Visit>
void SamplerSubscribers::ForEach(const Visit& visit) const {
  if (own_listens()) visit(own_);
  for (const auto& subscriber : subscribers_) visit(std::as_const(*subscriber));
}

bool SamplerSubscribers::HasSubscribers(const std::string& uuid) const {
  return std::any_of(subscribers_.begin(), subscribers_.end(),
                     [&](const auto& subscriber) { return subscriber->uuid == uuid; });
}

void SamplerSubscribers::ReleaseOwn(uint64_t now_ns) {
  own_.channel->Send(FRAME_SAMPLER_DETACHED, SamplerDetached());
  released_ns_ = now_ns;
}

void SamplerSubscribers::Add(uint64_t now_ns, UniqueFd connection, const std::string& uuid) {
  if (subscribers_.size() >= kMostSubscribers) return;
  auto listener = std::make_unique<Listener>();
  // Those whom the kernel does not name share one account.
  listener->user = PeerUser(connection.get()).value_or(static_cast<uid_t>(-1));
  listener->channel = std::make_unique<FrameChannel>(connection.Release(), kMostPendingBytes);
  listener->uuid = uuid;
  listener->joined_ns = now_ns;
  subscribers_.push_back(std::move(listener));
}

bool SamplerSubscribers::Concerns(const Listener& listener, const std::string& uuid) const {
  return listener.uuid.empty() || listener.uuid == uuid;
}

bool SamplerSubscribers::MayHear(const Listener& listener, uint16_t type) const {
  if (!ReadsSamples(listener)) return false;
  if (type == FRAME_SAMPLER_READY || type == FRAME_SAMPLER_WINDOW) {
    return listener.kind == SubscriberKind::kPlanned;
  }
  return type != FRAME_DEVICE_TOTALS || &listener == &own_;
}

void SamplerSubscribers::Send(const std::string& uuid, uint16_t type,
                              const google::protobuf::MessageLite& message) {
  ForEach([&](Listener& listener) {
    if (Concerns(listener, uuid)) SendTo(&listener, type, message);
  });
}

void SamplerSubscribers::SendTo(Listener* listener, uint16_t type,
                                const google::protobuf::MessageLite& message) {
  if (!MayHear(*listener, type)) return;
  if (type == FRAME_SAMPLER_STATUS) {
    SendStatus(listener, static_cast<const SamplerStatus&>(message));
  } else if (!listener->channel->Send(type, message) && type == FRAME_SAMPLES) {
    listener->samples_lost += static_cast<const SampleBatch&>(message).samples();
  }
}

void SamplerSubscribers::SendToOwn(uint16_t type, std::string_view payload) {
  if (!own_listens() || own_.channel->Send(type, payload) || type != FRAME_SAMPLES) return;
  SampleBatch lost;
  if (lost.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    own_.samples_lost += lost.samples();
  }
}

void SamplerSubscribers::SendStatus(Listener* listener, SamplerStatus status) {
  // A collector whose own session has the counters need not hear why they are away.
  if (listener->yield_until_ns != 0) {
    status.clear_reason();
    status.clear_remedy();
  }
  status.set_samples_lost(status.samples_lost() + listener->samples_lost);
  uint32_t& most = listener->sharing[status.device_uuid()];
  most = std::max({most, CollectorsOn(status.device_uuid()), status.collectors()});
  if (most > 1) status.set_collectors(most);
  listener->channel->Send(FRAME_SAMPLER_STATUS, status);
}

uint32_t SamplerSubscribers::CollectorsOn(const std::string& uuid) const {
  uint32_t collectors = 0;
  ForEach([&](const Listener& listener) {
    collectors += Concerns(listener, uuid) && ReadsSamples(listener) ? 1 : 0;
  });
  return collectors;
}

void SamplerSubscribers::SendWindow(const SamplerWindow& window, const Listener* except) {
  ForEach([&](Listener& listener) {
    if (&listener != except && Concerns(listener, window.device_uuid()) &&
        MayHear(listener, FRAME_SAMPLER_WINDOW)) {
      listener.channel->Send(FRAME_SAMPLER_WINDOW, window);
    }
  });
}

bool SamplerSubscribers::congested() const {
  bool any = false;
  bool all = true;
  ForEach([&](const Listener& listener) {
    if (!ReadsSamples(listener)) return;
    any = true;
    all = all && listener.channel->congested();
  });
  return any && all;
}

std::optional<uint64_t> SamplerSubscribers::Progress(const std::string& uuid) const {
  std::optional<uint64_t> all;
  uint64_t any = 0;
  ForEach([&](const Listener& listener) {
    const auto found = listener.progress.find(uuid);
    if (found == listener.progress.end()) return;
    all = all.value_or(~uint64_t{0}) & found->second;
    any |= found->second;
  });
  if (all.has_value()) *all |= any & (kProgressSteady | kProgressPerhapsOnce);
  return all;
}

WindowPlanning SamplerSubscribers::Planning(const std::string& uuid) const {
  WindowPlanning planning{.planned = false, .always_wanted = false};
  ForEach([&](const Listener& listener) {
    if (!Concerns(listener, uuid) || !ReadsSamples(listener)) return;
    (listener.kind == SubscriberKind::kPlanned ? planning.planned : planning.always_wanted) = true;
  });
  return planning;
}

void SamplerSubscribers::Yield(uint64_t now_ns, Listener* listener) {
  if (listener == &own_) {
    listener->yield_until_ns = UINT64_MAX;
  } else {
    YieldBudget& budget = yield_budgets_[{listener->uuid, listener->user}];
    listener->yield_until_ns = budget.Lend(now_ns);
  }
}

void SamplerSubscribers::Resume(uint64_t now_ns, Listener* listener) {
  listener->yield_until_ns = 0;
  GiveBackYields(now_ns);
}

// Of users none of whose subscribers asks any more, since they said so or have left.
void SamplerSubscribers::GiveBackYields(uint64_t now_ns) {
  for (auto entry = yield_budgets_.begin(); entry != yield_budgets_.end();) {
    const auto& [uuid, user] = entry->first;
    const bool asked_for = std::any_of(
        subscribers_.begin(), subscribers_.end(), [&, &uuid = uuid, user = user](const auto& one) {
          return one->uuid == uuid && one->user == user && one->yield_until_ns > now_ns;
        });
    if (!asked_for) entry->second.GiveBack(now_ns);
    entry = entry->second.IsFull(now_ns) ? yield_budgets_.erase(entry) : std::next(entry);
  }
}

uint64_t SamplerSubscribers::YieldedUntilNs(const std::string& uuid) const {
  uint64_t until_ns = 0;
  ForEach([&](const Listener& listener) {
    if (Concerns(listener, uuid)) until_ns = std::max(until_ns, listener.yield_until_ns);
  });
  return until_ns;
}

void SamplerSubscribers::AddPolled(uint64_t now_ns, const Listener& listener,
                                   std::vector<pollfd>* entries) {
  const bool heard_enough =
      listener.commands >= kCommandsPerSecond && listener.second == now_ns / kSecondNs;
  const int events = (heard_enough ? 0 : POLLIN) | (listener.channel->pending() ? POLLOUT : 0);
  // With nothing to ask for, one that hung up would be reported again and again.
  if (events != 0) entries->push_back({listener.channel->fd(), static_cast<short>(events), 0});
}

void SamplerSubscribers::AddPolled(uint64_t now_ns, std::vector<pollfd>* entries) const {
  if (own_.channel->open()) AddPolled(now_ns, own_, entries);
  for (const auto& subscriber : subscribers_) AddPolled(now_ns, *subscriber, entries);
}

void SamplerSubscribers::Exchange(uint64_t now_ns, const CommandHandler& handle,
                                  const Joined& joined) {
  HearOwn(now_ns, handle);
  for (const auto& subscriber : subscribers_) Hear(now_ns, subscriber.get(), handle, joined);
  std::erase_if(subscribers_, [&](const auto& subscriber) {
    return !subscriber->channel->open() ||
           (!subscriber->subscribed && now_ns > subscriber->joined_ns + kPatienceNs);
  });
  GiveBackYields(now_ns);
}

void SamplerSubscribers::HearOwn(uint64_t now_ns, const CommandHandler& handle) {
  if (!own_.channel->open()) return;
  const std::vector<SamplerCommand> commands = own_.channel->Exchange(0);
  if (released_ns_ == 0) {
    for (const SamplerCommand& command : commands) handle(&own_, command);
  } else if (!own_.channel->pending() || now_ns > released_ns_ + kPatienceNs) {
    own_.channel->Close();
  }
}

void SamplerSubscribers::Hear(uint64_t now_ns, Listener* listener, const CommandHandler& handle,
                              const Joined& joined) {
  if (std::exchange(listener->second, now_ns / kSecondNs) != now_ns / kSecondNs) {
    listener->commands = 0;
  }
  // What it says beyond waits in its socket; what is there to be sent goes out all the same.
  const bool heard_enough = listener->commands >= kCommandsPerSecond;
  if (heard_enough) {
    listener->channel->Drain(0);
    return;
  }
  for (const SamplerCommand& command : listener->channel->Exchange(0)) {
    ++listener->commands;
    if (listener->subscribed) {
      handle(listener, command);
      continue;
    }
    if (!IsSubscription(command, listener->uuid)) {
      listener->channel->Close();
      return;
    }
    listener->kind = static_cast<SubscriberKind>(command.argument >> 32);
    listener->subscribed = true;
    joined(listener);
  }
}

}  // namespace utlz
