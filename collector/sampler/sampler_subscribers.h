// Who listens to a sampler: the collector that started it, and the samplers of other collectors
// that share the counters of one GPU. What they send is checked, and bounded in number; one that
// reads slowly loses frames, which are counted, and holds nobody up.
#ifndef UTLZ_COLLECTOR_SAMPLER_SAMPLER_SUBSCRIBERS_H_
#define UTLZ_COLLECTOR_SAMPLER_SAMPLER_SUBSCRIBERS_H_

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/sampler/channel/frame_channel.h"
#include "collector/sampler/channel/sampler_command.h"
#include "collector/sampler/counter_session.h"
#include "collector/sampler/sharing/yield_budget.h"
#include "google/protobuf/message_lite.h"
#include "proto/profile.pb.h"

namespace utlz {

class SamplerSubscribers {
 public:
  static constexpr size_t kMostSubscribers = 32;
  // Further commands of a subscriber wait for the next second.
  static constexpr int kCommandsPerSecond = 100;
  static constexpr size_t kMostPendingBytes = size_t{16} << 20;
  // How long a new connection may take to subscribe, and a released collector to read its last
  // frames.
  static constexpr uint64_t kPatienceNs = 1'000'000'000;

  // One who listens. `uuid` is empty for the collector that started us, which hears of every GPU.
  struct Listener {
    std::unique_ptr<FrameChannel> channel;
    std::string uuid;
    SubscriberKind kind = SubscriberKind::kAlways;
    uint64_t joined_ns = 0;
    bool subscribed = false;  // said so in its first command
    uint64_t samples_lost = 0;
    uid_t user = 0;
    uint64_t yield_until_ns = 0;  // it has asked for the counters, until then
    uint64_t second = 0;
    int commands = 0;                          // in that second
    std::map<std::string, uint64_t> progress;  // SamplingProgress, by GPU
    // By GPU: how many collectors share it, by the highest count that the sampler sent to this one.
    std::map<std::string, uint32_t> sharing;
  };

  // `own`: the collector that started us.
  SamplerSubscribers(std::unique_ptr<FrameChannel> own, SubscriberKind kind);

  // The own collector listens; not once it was released.
  bool own_listens() const { return own_.channel->open() && released_ns_ == 0; }
  // Says to it that its part is over while others listen on, and closes when it has read all.
  void ReleaseOwn(uint64_t now_ns);
  FrameChannel& own_channel() { return *own_.channel; }
  bool empty() const { return !own_.channel->open() && subscribers_.empty(); }
  bool has_subscribers() const { return !subscribers_.empty(); }
  bool HasSubscribers(const std::string& uuid) const;

  // Takes in one whom AcceptSubscriber let through.
  void Add(uint64_t now_ns, UniqueFd connection, const std::string& uuid);

  // To all whom it concerns: what concerns windows only those who plan them, and what NVML says
  // the own collector alone.
  void Send(const std::string& uuid, uint16_t type, const google::protobuf::MessageLite& message);
  void SendTo(Listener* listener, uint16_t type, const google::protobuf::MessageLite& message);
  // To the own collector, what another sampler made.
  void SendToOwn(uint16_t type, std::string_view payload);
  // The window that is planned, to all who plan but `except`.
  void SendWindow(const SamplerWindow& window, const Listener* except);

  // Nobody could take another window's samples now.
  bool congested() const;

  // What those who listen for this GPU make of its windows.
  WindowPlanning Planning(const std::string& uuid) const;
  // SamplingProgress of this GPU: kProgressBaseKnown if all collectors that spoke of it say so, the
  // others if any does. None where nobody spoke of it.
  std::optional<uint64_t> Progress(const std::string& uuid) const;
  // A listener asks for the counters. The own collector has them until it gives them back, others
  // as long as their user's YieldBudget for this GPU allows.
  void Yield(uint64_t now_ns, Listener* listener);
  void Resume(uint64_t now_ns, Listener* listener);
  // Somebody asks for this GPU's counters, or for all: until when; 0: nobody.
  uint64_t YieldedUntilNs(const std::string& uuid) const;

  void AddPolled(uint64_t now_ns, std::vector<pollfd>* entries) const;

  // Commands of the own collector, and of subscribers; `joined` is called for a new one.
  using CommandHandler = std::function<void(Listener* listener, const SamplerCommand& command)>;
  using Joined = std::function<void(Listener* listener)>;
  void Exchange(uint64_t now_ns, const CommandHandler& handle, const Joined& joined);

 private:
  bool Concerns(const Listener& listener, const std::string& uuid) const;
  bool MayHear(const Listener& listener, uint16_t type) const;
  void SendStatus(Listener* listener, SamplerStatus status);
  void HearOwn(uint64_t now_ns, const CommandHandler& handle);
  void Hear(uint64_t now_ns, Listener* listener, const CommandHandler& handle,
            const Joined& joined);
  static void AddPolled(uint64_t now_ns, const Listener& listener, std::vector<pollfd>* entries);
  void GiveBackYields(uint64_t now_ns);
  uint32_t CollectorsOn(const std::string& uuid) const;
  // The own collector first.
  template <typename Visit>
  void ForEach(const Visit& visit);
  template <typename Visit>
  void ForEach(const Visit& visit) const;

  Listener own_;
  uint64_t released_ns_ = 0;
  std::vector<std::unique_ptr<Listener>> subscribers_;
  // By GPU and user: of those who have used some of it lately.
  std::map<std::pair<std::string, uid_t>, YieldBudget> yield_budgets_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SAMPLER_SUBSCRIBERS_H_
