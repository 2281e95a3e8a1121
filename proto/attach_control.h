// How a tool reaches an agent that waits for it (that of `utlz attach`, or of `utlz run
// --preload`), and what the two say. Both sides and every release of either must agree on this
// file.
//
// Ways in, all SOCK_SEQPACKET Unix sockets:
//   connection  the pair that the attach loader made (AttachConfig::control_socket)
//   socket pair The agent keeps both ends. The outer end has an abstract name. A tool finds this
//               name in /proc/PID/net/unix and among the process's descriptors. It copies the end
//               with pidfd_getfd, which the kernel allows to tools that may trace the process. A
//               message on it (ControlVerb::kConnect) brings a connection.
//   listener    Only a preloaded agent has one. The process's user and root may connect to its
//               abstract name.
//
// On a connection the tool sends one ControlRequest (kTrace). The agent answers with a
// ControlAnswer, after it has met the collector on the socket that came along (ring_abi.h). The
// connection stays open while the agent records; if the tool closes it, the agent becomes inactive.
// Inactive, the agent says so with a second answer, and closes.
#ifndef UTLZ_PROTO_ATTACH_CONTROL_H_
#define UTLZ_PROTO_ATTACH_CONTROL_H_

#include <cstdint>

namespace utlz {

inline constexpr uint32_t kControlMagic = 0x43545455;  // "UTTC"
inline constexpr uint32_t kControlVersion = 1;

// Abstract names: prefix, process identifier as the process sees it, "-", random hexadecimal
// digits.
inline constexpr char kPairNamePrefix[] = "utlz-control-";
inline constexpr char kListenerNamePrefix[] = "utlz-preloaded-";

// Names of the agent's thread, from which anybody may see how it is.
inline constexpr char kInactiveThreadName[] = "utlz-inactive";
inline constexpr char kActiveThreadName[] = "utlz-active";
inline constexpr char kRunThreadName[] = "utlz";  // of `utlz run`: active, and not to be reached

// Set by `utlz run --preload`.
inline constexpr char kPreloadVariable[] = "UTLZ_PRELOADED";

enum class ControlVerb : uint32_t {
  kConnect = 1,  // descriptor: a connection
  // descriptors: the collector's socket; the libcupti that the user named, where
  // ControlRequest::cupti_is_named; perhaps one to load where there is none
  kTrace = 2,
};
inline constexpr uint32_t kMaxControlDescriptors = 3;

struct ControlRequest {
  uint32_t magic;
  uint32_t version;
  uint32_t verb;
  // 1: the second descriptor is a libcupti to load before any other. An agent of an older release
  // takes it for one to load where there is none.
  uint32_t cupti_is_named;
  uint64_t reserved[6];
};

enum class ControlState : uint32_t {
  kTracing = 1,
  // For the process to initialize CUDA, or (reason kBuffersTaken) for another client to be done
  // with CUPTI; tracing follows.
  kWaiting = 2,
  kInactive = 3,
  kBusy = 4,     // another tool is being served
  kRefused = 5,  // `reason` says why it does not trace
};

struct ControlAnswer {
  uint32_t magic;
  uint32_t version;
  uint32_t state;   // ControlState
  uint32_t reason;  // AgentReason
  uint32_t reason_detail;
  uint32_t named_cupti;  // NamedCupti (ring_abi.h); 0 from older agents
  uint64_t reserved[5];
};

static_assert(sizeof(ControlRequest) == 64);
static_assert(sizeof(ControlAnswer) == 64);

}  // namespace utlz

#endif  // UTLZ_PROTO_ATTACH_CONTROL_H_
