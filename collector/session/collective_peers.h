// With whom a process computes: the ranks that its launcher started with it, and the communicators
// that its collectives name. Whoever computes with others waits for them at every collective.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_COLLECTIVE_PEERS_H_
#define UTLZ_COLLECTOR_SESSION_COLLECTIVE_PEERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace utlz {

class CollectivePeers {
 public:
  // The launcher's ranks; communicators have other numbers.
  static constexpr uint64_t kLaunchedRanks = 0;
  // Of those beyond, processes may share one unnoticed.
  static constexpr size_t kMostCommunicators = 64;

  // A frame of the agent. What is not of interest, or not valid, is passed over.
  void Consume(uint16_t type, std::string_view payload);

  // Processes that have one of these in common compute together; and how many do in all, 0: that is
  // not known.
  const std::map<uint64_t, uint32_t>& communicators() const { return communicators_; }

 private:
  std::map<uint64_t, uint32_t> communicators_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_COLLECTIVE_PEERS_H_
