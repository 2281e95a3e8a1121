// With whom a process computes: the ranks that its launcher started with it, and the communicators
// that its collectives name. At every collective a process waits for these others.
//
// The workers of an inference server often have neither: the server starts them without a launcher,
// and their collectives name no communicator. The collector sees only that they run kernels of
// collectives. It assumes that all such processes compute together.
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
  // Stand for the launcher's ranks, and for all who run collectives of a communicator that is not
  // known. Communicators have other numbers.
  static constexpr uint64_t kLaunchedRanks = 0;
  static constexpr uint64_t kNotKnown = UINT64_MAX;
  // It keeps no more than so many.
  static constexpr size_t kMostCommunicators = 64;

  // A frame of the agent. What is not of interest, or not valid, is passed over.
  void Consume(uint16_t type, std::string_view payload);

  // By number, how many ranks a communicator has; 0: that is not known. Processes that have a
  // number in common compute together.
  const std::map<uint64_t, uint32_t>& communicators() const { return communicators_; }

 private:
  void ConsumeNames(std::string_view payload);
  void ConsumeCalls(std::string_view payload);
  void Add(uint64_t communicator, uint32_t ranks);

  std::map<uint64_t, uint32_t> communicators_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_COLLECTIVE_PEERS_H_
