// The agents of one run: takes them in, drains their rings, notices their ends.
//
// Bounded whatever connects: 4,096 at once, 65,536 in a run, 64 GiB of mapped rings.
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_AGENT_TABLE_H_
#define UTLZ_COLLECTOR_SESSION_AGENT_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/ingest/agent_listener.h"
#include "collector/session/agent_source.h"
#include "collector/session/agent_trouble.h"
#include "collector/session/device_groups.h"
#include "collector/session/session_options.h"
#include "proto/profile.pb.h"
#include "proto/run_token.h"

namespace utlz {

class AgentTable {
 public:
  using FrameSink = std::function<void(uint32_t source, uint16_t type, std::string_view payload)>;

  // Event data of connections: this and the source's index, which is smaller.
  static constexpr uint64_t kConnectionTag = uint64_t{1} << 33;

  // Process descriptors are watched by `epoll`, with the source's index as event data; kept
  // connections are where there is none. `sink` gets the frames of every agent, their Process
  // frames completed with what only this side knows. Of the options: agents that come over the
  // socket must know the token, where there is one.
  AgentTable(int epoll, const SessionOptions& options, FrameSink sink)
      : epoll_(epoll),
        token_(options.token),
        keeps_connections_(options.of_service),
        most_bytes_per_second_(options.most_bytes_per_second),
        find_place_(options.places.process),
        sink_(std::move(sink)) {}

  // Welcomes or refuses.
  void Admit(AgentHandshake handshake);

  // The process of this source is gone. Its ring is drained to the last published frame.
  void ProcessGone(uint32_t source);

  // Something happened on the connection of this source, whose process cannot be watched.
  void ConnectionChanged(uint32_t source);

  // Reads every ring once. True where some ring had something.
  bool Drain();

  // What agents are asked from now on, those included that are yet to come.
  void Request(const AgentRequest& request);

  // GPUs that live agents use, and when all agents on one can pay for a window. Those that record
  // nothing any more are not asked.
  std::vector<std::string> DevicesInUse() const;
  // The same GPUs in groups whose processes compute together.
  std::vector<DeviceGroup> GroupsInUse() const;
  uint64_t WindowReadyNs(const std::string& device_uuid) const;
  // Whether kernels on this GPU are recorded now: as all live agents on it say where they agree.
  RecordsNow RecordsOn(const std::string& device_uuid) const;
  // Plans a window for the agents on this GPU, those included that are yet to say that they use it.
  void PlanWindow(const std::string& device_uuid, uint64_t begin_ns, uint64_t end_ns);

  // Tells each agent what those have decided of their records with whom its process computes.
  void ShareVotes();

  // Every agent has carried out the last request.
  bool AllAcknowledged() const;

  // Ends the sources that are left, as those of processes that run on.
  void EndAll();

  uint64_t live() const { return live_.size(); }
  // Of live agents, as this process knows them; those of another pid namespace are left out.
  std::vector<pid_t> Processes() const;
  uint64_t admitted() const { return admitted_; }
  uint64_t left_out() const { return trouble_.left_out(); }
  AgentTrouble& trouble() { return trouble_; }

 private:
  using Live = std::map<uint32_t, std::unique_ptr<AgentSource>>;

  // Why the agent cannot be taken in, empty if it can.
  std::string_view ReasonToRefuse(const AgentHandshake& handshake) const;
  AgentWelcome WelcomeFor(bool accepted) const;
  void Insert(AgentHandshake handshake, RingMapping ring);
  // An exec leaves an older agent under the same process identifier.
  void EndReplaced(pid_t pid);
  RingState DrainOne(AgentSource* source, uint64_t limit_bytes);
  void Forward(AgentSource* source, uint16_t type, std::string_view payload);
  void Watch(int descriptor, uint64_t tag) const;
  void SendPlannedWindow(AgentSource* source);
  // `how` as in ProcessEnd; nothing is written where the agent wrote its own end.
  void End(Live::iterator entry, std::string_view how);

  int epoll_;
  std::optional<RunToken> token_;
  bool keeps_connections_;
  uint64_t most_bytes_per_second_;
  std::function<ProcessPlace(uint64_t pid)> find_place_;
  FrameSink sink_;
  Live live_;
  AgentRequest request_;
  std::map<std::string, std::pair<uint64_t, uint64_t>> windows_;  // begin and end, by GPU
  AgentTrouble trouble_;
  uint32_t admitted_ = 0;
  uint64_t mapped_bytes_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_AGENT_TABLE_H_
