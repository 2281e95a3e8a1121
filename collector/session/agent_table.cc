#include "collector/session/agent_table.h"

#include <sys/epoll.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "collector/clocks.h"
#include "collector/metrics/label_text.h"
#include "collector/session/clock_reading.h"
#include "collector/session/records_votes.h"
#include "proto/profile.pb.h"

namespace utlz {
namespace {

constexpr size_t kMaxLive = 4096;
constexpr uint32_t kMaxAdmitted = 65536;
constexpr uint64_t kMaxMappedBytes = uint64_t{64} << 30;
// What one ring may deliver before the others have their turn.
constexpr uint64_t kTurnBytes = 4 << 20;
constexpr uint32_t kFlushPeriodMs = 500;
constexpr uint32_t kDevicePoolMib = 32;

// What the agent itself may have written there does not count.
void SetPlace(const ProcessPlace& place, Process* process) {
  process->set_pod(LabelText(place.pod));
  process->set_pod_uid(LabelText(place.pod_uid));
  process->set_pod_namespace(LabelText(place.pod_namespace));
  process->set_container(LabelText(place.container));
  process->set_job(LabelText(place.job));
}

}  // namespace

void AgentTable::Admit(AgentHandshake handshake) {
  std::string_view refusal = ReasonToRefuse(handshake);
  absl::StatusOr<RingMapping> ring = absl::UnavailableError("not mapped");
  if (refusal.empty()) {
    ring = RingMapping::Map(handshake.ring.get(), handshake.hello.ring_bytes);
    if (!ring.ok()) refusal = {ring.status().message().data(), ring.status().message().size()};
  }
  if (!refusal.empty()) {
    trouble_.AddRefused(refusal);
    SendWelcome(handshake, WelcomeFor(false));
    return;
  }
  Insert(std::move(handshake), *std::move(ring));
}

std::string_view AgentTable::ReasonToRefuse(const AgentHandshake& handshake) const {
  if (handshake.hello.abi_version != kAgentAbiVersion) {
    return "it is of another utlz release than the collector";
  }
  if (token_ && !handshake.adopted && !IsSameHalf(handshake.hello.token, token_->agents)) {
    return "it does not know this run's token (UTLZ_TOKEN), which its environment lacks or has "
           "from an older run";
  }
  if (admitted_ >= kMaxAdmitted) return "a run holds at most 65,536 processes";
  if (live_.size() >= kMaxLive) return "at most 4,096 processes can be profiled at once";
  if (handshake.hello.ring_bytes > kMaxMappedBytes - std::min(mapped_bytes_, kMaxMappedBytes)) {
    return "the rings of all processes together exceed 64 GiB";
  }
  return {};
}

AgentWelcome AgentTable::WelcomeFor(bool accepted) const {
  AgentWelcome welcome = {};
  welcome.magic = kHandshakeMagic;
  welcome.abi_version = kAgentAbiVersion;
  welcome.accepted = accepted ? 1 : 0;
  welcome.state = static_cast<uint32_t>(request_.state);
  welcome.trace_flags = request_.trace_flags;
  welcome.overhead_budget_ppm = request_.overhead_budget_ppm;
  welcome.flush_period_ms = kFlushPeriodMs;
  welcome.device_pool_mib = kDevicePoolMib;
  if (accepted && token_) {
    std::copy(std::begin(token_->collectors), std::end(token_->collectors), welcome.token);
  }
  return welcome;
}

void AgentTable::Insert(AgentHandshake handshake, RingMapping ring) {
  EndReplaced(handshake.pid);
  const uint32_t index = admitted_ + 1;  // 0 is the collector
  auto source =
      std::make_unique<AgentSource>(index, handshake.pid, std::move(handshake.pidfd),
                                    std::move(ring), ReadAllowance(most_bytes_per_second_));
  source->SetRequest(request_);
  // It waits for its answer: a short process would be gone when its first frame is read.
  if (find_place_ && handshake.pid > 0) {
    source->SetPlace(find_place_(static_cast<uint64_t>(handshake.pid)));
  }
  if (!SendWelcome(handshake, WelcomeFor(true))) return trouble_.AddUnanswered(1);
  admitted_ = index;
  if (source->pidfd() >= 0) Watch(source->pidfd(), index);
  mapped_bytes_ += source->mapped_bytes();
  if (handshake.hello.alone_since_ns != 0) {
    trouble_.AddMetAnew(handshake.pid, handshake.hello.alone_since_ns, RealtimeNs());
  }
  if (keeps_connections_) {
    if (source->pidfd() < 0) Watch(handshake.connection.get(), kConnectionTag + index);
    source->KeepConnection(std::move(handshake.connection));
  }
  live_.emplace(index, std::move(source));
}

std::vector<pid_t> AgentTable::Processes() const {
  std::vector<pid_t> processes;
  for (const auto& [index, source] : live_) {
    if (source->pid() > 0) processes.push_back(source->pid());
  }
  return processes;
}

void AgentTable::Watch(int descriptor, uint64_t tag) const {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
}

void AgentTable::EndReplaced(pid_t pid) {
  if (pid == 0) return;
  for (auto entry = live_.begin(); entry != live_.end();) {
    const auto next = std::next(entry);
    if (entry->second->pid() == pid) {
      DrainOne(entry->second.get(), entry->second->mapped_bytes());
      End(entry, "exec");
    }
    entry = next;
  }
}

void AgentTable::ProcessGone(uint32_t source) {
  const auto entry = live_.find(source);
  if (entry == live_.end()) return;
  // Nothing more can be published, unless other processes hold the memory too: hence a limit.
  DrainOne(entry->second.get(), 2 * entry->second->mapped_bytes());
  End(entry, "vanished");
}

void AgentTable::ConnectionChanged(uint32_t source) {
  const auto entry = live_.find(source);
  if (entry != live_.end() && !entry->second->ConnectionLasts()) ProcessGone(source);
}

bool AgentTable::Drain() {
  bool active = false;
  const uint64_t now_ns = ClockReading::Now().monotonic_ns;
  for (auto entry = live_.begin(); entry != live_.end();) {
    const auto next = std::next(entry);
    AgentSource* source = entry->second.get();
    const uint64_t before = source->bytes_read();
    const uint64_t left_bytes = source->allowance().LeftBytes(now_ns);
    const RingState state = DrainOne(source, std::min(kTurnBytes, left_bytes));
    const uint64_t read_bytes = source->bytes_read() - before;
    source->allowance().Spend(read_bytes);
    active = active || read_bytes != 0;
    if (state == RingState::kBroken) {
      End(entry, "broken");
    } else if (source->ended_orderly()) {
      End(entry, "exit");
    }
    entry = next;
  }
  return active;
}

RingState AgentTable::DrainOne(AgentSource* source, uint64_t limit_bytes) {
  return source->Drain(limit_bytes, [this, source](uint16_t type, std::string_view payload) {
    Forward(source, type, payload);
  });
}

void AgentTable::Forward(AgentSource* source, uint16_t type, std::string_view payload) {
  source->device_use().Consume(type, payload);
  source->peers().Consume(type, payload);
  source->records().Consume(type, payload);
  if (type == FRAME_DEVICE || type == FRAME_CONTEXT) SendPlannedWindow(source);
  if (type != FRAME_PROCESS) {
    sink_(source->index(), type, payload);
    return;
  }
  Process process;
  if (!process.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    sink_(source->index(), type, payload);  // refused and counted by RunIntake
    return;
  }
  if (source->pid() > 0) process.set_host_pid(static_cast<uint64_t>(source->pid()));
  SetPlace(source->place(), &process);
  sink_(source->index(), type, process.SerializeAsString());
}

void AgentTable::End(Live::iterator entry, std::string_view how) {
  const AgentSource& source = *entry->second;
  if (source.allowance().exhausted()) trouble_.AddThrottled(source.pid());
  uint32_t detail = 0;
  const AgentReason reason = source.OffReason(&detail);
  trouble_.AddOff(source.pid(), reason, detail);
  if (!source.broken_rule().empty()) {
    trouble_.AddBrokenRing(source.pid(), source.broken_rule());
    how = "broken";
  }
  if (!source.process_end_seen()) {
    sink_(source.index(), FRAME_PROCESS_END, source.EndAs(how, RealtimeNs()).SerializeAsString());
  }
  mapped_bytes_ -= source.mapped_bytes();
  live_.erase(entry);  // closing the process descriptor ends its watch
}

void AgentTable::Request(const AgentRequest& request) {
  request_ = request;
  for (const auto& [index, source] : live_) {
    source->SetRequest(request);
    source->Announce();
  }
}

std::vector<std::string> AgentTable::DevicesInUse() const {
  std::set<std::string> in_use;
  for (const auto& [index, source] : live_) {
    for (std::string& uuid : source->device_use().Uuids()) in_use.insert(std::move(uuid));
  }
  return {in_use.begin(), in_use.end()};
}

std::vector<DeviceGroup> AgentTable::GroupsInUse() const {
  DeviceGroups groups;
  for (const auto& [index, source] : live_) {
    const std::vector<std::string> uuids = source->device_use().Uuids();
    for (const std::string& uuid : uuids) groups.AddDevice(uuid);
    if (source->device_use().has_contexts()) {
      groups.AddProcess(uuids, source->peers().communicators());
    }
  }
  return groups.Groups();
}

uint64_t AgentTable::WindowReadyNs(const std::string& device_uuid) const {
  uint64_t ready_ns = 0;
  for (const auto& [index, source] : live_) {
    if (source->device_use().Uses(device_uuid) && !source->records().ended()) {
      ready_ns = std::max(ready_ns, source->WindowReadyNs());
    }
  }
  return ready_ns;
}

RecordsNow AgentTable::RecordsOn(const std::string& device_uuid) const {
  std::optional<RecordsNow> all;
  for (const auto& [index, source] : live_) {
    if (!source->device_use().Uses(device_uuid)) continue;
    const RecordsNow one = source->records().now();
    if (all.value_or(one) != one) return RecordsNow::kInWindows;
    all = one;
  }
  return all.value_or(RecordsNow::kInWindows);
}

void AgentTable::SendPlannedWindow(AgentSource* source) {
  for (const auto& [uuid, window] : windows_) {
    if (source->device_use().Uses(uuid)) source->SetWindow(window.first, window.second);
  }
}

void AgentTable::PlanWindow(const std::string& device_uuid, uint64_t begin_ns, uint64_t end_ns) {
  windows_[device_uuid] = {begin_ns, end_ns};
  for (const auto& [index, source] : live_) {
    if (source->device_use().Uses(device_uuid)) source->SetWindow(begin_ns, end_ns);
  }
}

void AgentTable::ShareVotes() {
  RecordsVotes votes;
  std::vector<std::pair<AgentSource*, RecordsVote>> voters;  // agents may vote meanwhile
  for (const auto& [index, source] : live_) {
    if (!source->device_use().has_contexts()) continue;
    voters.emplace_back(source.get(), source->vote());
    votes.Add(source->peers().communicators(), voters.back().second);
  }
  for (const auto& [source, vote] : voters) {
    source->SetPeersVote(votes.OfPeers(source->peers().communicators(), vote));
  }
}

bool AgentTable::AllAcknowledged() const {
  return std::all_of(live_.begin(), live_.end(),
                     [](const auto& entry) { return entry.second->Acknowledged(); });
}

void AgentTable::EndAll() {
  while (!live_.empty()) {
    const auto entry = live_.begin();
    DrainOne(entry->second.get(), entry->second->mapped_bytes());
    if (entry->second->pid() > 0) trouble_.AddOutliving(entry->second->pid());
    End(entry, "running");
  }
}

}  // namespace utlz
