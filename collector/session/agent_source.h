// One connected agent: its ring, its process, and how both end.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_AGENT_SOURCE_H_
#define UTLZ_COLLECTOR_SESSION_AGENT_SOURCE_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "collector/ingest/ring_reader.h"
#include "collector/metrics/places.h"
#include "collector/session/collective_peers.h"
#include "collector/session/device_use.h"
#include "collector/session/read_allowance.h"
#include "collector/session/records_watch.h"
#include "collector/unique_fd.h"
#include "proto/profile.pb.h"
#include "proto/ring_abi.h"

namespace utlz {

// What every agent is asked to do.
struct AgentRequest {
  AgentState state = AgentState::kTracing;
  uint32_t trace_flags = 0;
  uint32_t overhead_budget_ppm = 0;
  bool ranges_allowed = false;  // the sampler has given the counters up
};

class AgentSource {
 public:
  using Sink = std::function<void(uint16_t type, std::string_view payload)>;

  // `pid` 0 and an invalid `pidfd` where the process lives in another pid namespace.
  AgentSource(uint32_t index, pid_t pid, UniqueFd pidfd, RingMapping ring,
              ReadAllowance allowance = ReadAllowance(0));

  uint32_t index() const { return index_; }
  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  // The agent's connection, which the two keep for as long as they have to do with each other.
  void KeepConnection(UniqueFd connection) { connection_ = std::move(connection); }
  int connection() const { return connection_.get(); }
  // Reads away what the agent says on it. False once the agent has closed it.
  bool ConnectionLasts();
  uint64_t mapped_bytes() const { return reader_.ring().mapped_bytes(); }
  uint64_t bytes_read() const { return reader_.bytes(); }

  // Hands on what is published, about `limit_bytes` at most. kFrame: there may be more.
  RingState Drain(uint64_t limit_bytes, const Sink& sink);

  // True once the agent has published its last frame and all was drained.
  bool ended_orderly() const { return ended_orderly_; }
  std::string_view broken_rule() const { return reader_.broken_rule(); }
  bool process_end_seen() const { return process_end_seen_; }

  // Writes the words that the agent polls; Announce() also tells it that they changed.
  void SetRequest(const AgentRequest& request);
  void Announce();
  // The agent has carried out all that was announced, or is switched off.
  bool Acknowledged() const;

  // Plans a window (RingControl).
  void SetWindow(uint64_t begin_ns, uint64_t end_ns);
  // When the agent's budget allows one, as it says; 0: at any time.
  uint64_t WindowReadyNs() const;

  // What the agent has decided of its records; an unknown number is no vote.
  RecordsVote vote() const;
  // Tells it what those have decided with whom its process computes.
  void SetPeersVote(PeersVote vote);

  // Where its process runs, as it was found when the agent came.
  void SetPlace(ProcessPlace place) { place_ = std::move(place); }
  const ProcessPlace& place() const { return place_; }

  ReadAllowance& allowance() { return allowance_; }
  const ReadAllowance& allowance() const { return allowance_; }
  DeviceUse& device_use() { return device_use_; }
  const DeviceUse& device_use() const { return device_use_; }
  CollectivePeers& peers() { return peers_; }
  const CollectivePeers& peers() const { return peers_; }
  RecordsWatch& records() { return records_; }
  const RecordsWatch& records() const { return records_; }

  // Why the agent is off, kNone while it is not.
  AgentReason OffReason(uint32_t* detail) const;

  // The end that the agent itself did not write. The shared words that it uses are bounded by
  // `now_ns`, since the producer may have written anything there.
  ProcessEnd EndAs(std::string_view how, uint64_t now_ns) const;

 private:
  uint32_t index_;
  pid_t pid_;
  UniqueFd pidfd_;
  UniqueFd connection_;
  RingReader reader_;
  ReadAllowance allowance_;
  DeviceUse device_use_;
  CollectivePeers peers_;
  RecordsWatch records_;
  ProcessPlace place_;
  uint64_t request_ = 0;
  bool process_end_seen_ = false;
  bool ended_orderly_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_AGENT_SOURCE_H_
