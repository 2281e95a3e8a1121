// Shared memory between one agent (producer) and one collector (consumer), and the handshake that
// sets it up. Both sides and every release of either must agree on this file.
//
// The memory is an anonymous file (memfd) that the agent makes, maps and hands over once, over a
// Unix socket that is then closed. It outlives a killed target, needs no system call to hand data
// over, and depends on no descriptor that the program could close and reuse.
//
//   offset 0      RingHeader (kRingHeaderBytes)
//   offset 4096   data, `data_bytes` long, a power of two
//
// Positions count bytes since the start and never wrap; position % data_bytes is the place. A frame
// is never split: where it does not fit before the end of the data, the producer writes a padding
// frame (type 0) over the rest. Frames start at multiples of 8; where fewer than 16 bytes, too few
// for a header, are left before the end, they are padding without one.
//
// State machine of a byte: free (read_position + data_bytes > p >= write_position), written by the
// producer but unpublished, published (read_position <= p < write_position). The producer alone
// stores write_position (release), the consumer alone stores read_position (release).
//
// Trust: the producer is hostile. The consumer copies write_position once, checks it against
// read_position and data_bytes, copies a frame header before checking it, and copies the payload
// before parsing it. A producer that breaks a rule is dropped whole, never followed.
//
// Fixed-width types only; all fields little endian, naturally aligned.
#ifndef UTLZ_PROTO_RING_ABI_H_
#define UTLZ_PROTO_RING_ABI_H_

#include <atomic>
#include <cstdint>

namespace utlz {

inline constexpr uint64_t kRingMagic = 0x31474e525a4c5455;  // "UTLZRNG1"
inline constexpr uint32_t kAgentAbiVersion = 3;
inline constexpr uint64_t kRingHeaderBytes = 4096;
inline constexpr uint64_t kRingMinDataBytes = 64 << 10;
inline constexpr uint64_t kRingMaxDataBytes = 256 << 20;
inline constexpr uint64_t kRingDefaultDataBytes = 8 << 20;

// What the agent is asked to do (RingHeader::requested_state), and what it does (state).
enum class AgentState : uint32_t {
  kInactive = 0,  // loaded, nothing enabled, no thread active but the one that polls this word
  kTracing = 1,   // activity records flow
  kOff = 2,       // gave up; `off_reason` says why; never leaves this state
};

// Why an agent is off, or could not trace.
enum class AgentReason : uint32_t {
  kNone = 0,
  kNoCupti = 1,      // no libcupti found
  kCuptiTooOld = 2,  // older than 12.6
  kCuptiTaken = 3,   // another subscriber owns CUPTI
  kCuptiError = 4,   // `reason_detail` holds the CUptiResult
  kNoMemory = 5,
  kForked = 6,        // this is a child of fork without exec
  kBuffersTaken = 7,  // another client registered its own buffer callbacks; resumes later
  kNotPausable = 8,   // contexts of its own, or an old CUPTI: traced over the budget
  // Of an answer to a tool (attach_control.h) alone:
  kUserChanged = 9,       // since the start, or not dumpable: the listener is for nobody
  kLibraryNotTaken = 10,  // over the listener
  kOtherRelease = 11,     // the request is of one
};

// What became of the libcupti that the user named (--cupti): Process::named_cupti and
// ControlAnswer::named_cupti.
enum class NamedCupti : uint32_t {
  kNone = 0,         // none was named, or CUPTI is not loaded yet
  kUsed = 1,         // it is the one that traces
  kNotLoadable = 2,  // by the dynamic loader, which says why
  kIncomplete = 3,   // it lacks functions
  kTooOld = 4,       // older than 12.6
  kKept = 5,         // not looked at: another copy was loaded at an earlier attachment
};

// Bits of AgentWelcome::trace_flags and RingHeader::requested_flags.
inline constexpr uint32_t kTraceKernels = 1u << 0;
inline constexpr uint32_t kTraceCopies = 1u << 1;
inline constexpr uint32_t kTraceMarkers = 1u << 2;  // NVTX ranges
// Bit 3 was another's.
inline constexpr uint32_t kTraceLaunchCalls = 1u << 4;  // API records: thread and CPU time
inline constexpr uint32_t kTraceUserRanges = 1u << 5;   // counters by user range
inline constexpr uint32_t kTraceNewWork = 1u << 6;      // a window soon after new work is made
// After the first pause; neither: as the budget allows (inject/tracing/later_windows.h).
inline constexpr uint32_t kTraceAgainAlways = 1u << 7;
inline constexpr uint32_t kTraceAgainNever = 1u << 8;
inline constexpr uint32_t kTraceStacks = 1u << 9;  // of launches, in trace windows
// What launching threads are in, sampled in trace windows; with kTraceStacks.
inline constexpr uint32_t kTraceThreadStacks = 1u << 10;

// What an agent has decided after its first pause (RingProducer::records_vote).
enum class RecordsVote : uint32_t {
  kUndecided = 0,  // or an older agent
  kWindows = 1,    // kernels are recorded in windows, or will be if no peer has ended its records
  kEnded = 2,      // records have ended, perhaps for good
};

// What the others have decided with whom the agent's process computes (RingControl::peers_vote).
enum class PeersVote : uint32_t {
  kNone = 0,       // there are none, or all have voted for windows
  kUndecided = 1,  // one has not voted yet
  kEnded = 2,      // one has ended its records
};

struct RingProducer {
  std::atomic<uint64_t> write_position;
  std::atomic<uint64_t> frames_dropped;    // no room in the ring
  std::atomic<uint64_t> launches_dropped;  // launches inside dropped frames
  std::atomic<uint64_t> heartbeat_ns;      // CLOCK_MONOTONIC of the agent thread's last turn
  std::atomic<uint64_t> flushed_until_ns;  // every record that ended before this was handed over
  std::atomic<uint32_t> state;             // AgentState
  std::atomic<uint32_t> reason;            // AgentReason
  std::atomic<uint32_t> reason_detail;
  std::atomic<uint32_t> ended;  // 1 once the last frame of an orderly end is published
  std::atomic<uint64_t> acknowledged_request;  // RingControl::request that was last carried out
  // When the overhead budget will allow a planned window (CLOCK_REALTIME); 0: at any time.
  std::atomic<uint64_t> window_ready_ns;
  std::atomic<uint32_t> records_vote;  // RecordsVote
};

struct RingConsumer {
  std::atomic<uint64_t> read_position;
};

struct RingControl {
  std::atomic<uint64_t> request;              // incremented after the words below were set
  std::atomic<uint32_t> requested_state;      // AgentState
  std::atomic<uint32_t> requested_flags;      // kTrace*
  std::atomic<uint32_t> overhead_budget_ppm;  // 10000 = 1 %; 0 = unlimited
  std::atomic<uint32_t> counters_yielded;     // 1: the sampler has given the counters up for ranges
  // The next window in which every process on a GPU traces while it is sampled, CLOCK_REALTIME. Not
  // announced by `request`: written in the order end = 0, begin, end, and read end, begin, end.
  std::atomic<uint64_t> window_begin_ns;
  std::atomic<uint64_t> window_end_ns;  // 0: none is planned
  // PeersVote. Not announced by `request`.
  std::atomic<uint32_t> peers_vote;
};

// A longer window than this is none.
inline constexpr uint64_t kLongestPlannedWindowNs = 1'000'000'000;

struct RingHeader {
  uint64_t magic;
  uint32_t abi_version;
  uint32_t header_bytes;
  uint64_t data_bytes;
  uint64_t pid;  // as the target sees itself; the collector trusts SO_PEERCRED
  uint64_t start_realtime_ns;
  uint8_t reserved0[24];
  alignas(64) RingProducer producer;
  alignas(128) RingConsumer consumer;
  alignas(128) RingControl control;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);
static_assert(alignof(RingHeader) == 128);

// Handshake, over a SOCK_SEQPACKET Unix socket, one packet each way:
//   agent -> collector   AgentHello, with the ring's descriptor as SCM_RIGHTS
//   collector -> agent   AgentWelcome
// after which both close the socket. An agent that a service collects from (kCollectorVariable)
// keeps its end, and so does the service: when it closes, the agent knows that the collector is
// gone and looks for the next one.
inline constexpr uint32_t kHandshakeMagic = 0x5a4c5455;  // "UTLZ"

struct AgentHello {
  uint32_t magic;
  uint32_t abi_version;
  uint64_t pid;
  uint64_t ring_bytes;  // header and data
  uint8_t token[16];    // RunToken::agents; zero over a connection that was handed to the agent
  // Since when no collector has had its records (CLOCK_REALTIME), of an agent that had met one
  // before, or had found none; 0: this is its first look.
  uint64_t alone_since_ns;
  uint64_t reserved;
};

struct AgentWelcome {
  uint32_t magic;
  uint32_t abi_version;
  uint32_t accepted;  // 0: the agent switches itself off
  uint32_t state;     // AgentState to begin in
  uint32_t trace_flags;
  uint32_t overhead_budget_ppm;
  uint32_t flush_period_ms;
  uint32_t device_pool_mib;  // limit of CUPTI's device memory per context
  uint8_t token[16];         // RunToken::collectors, where accepted and the hello had its half
  uint64_t reserved[2];
};

static_assert(sizeof(AgentHello) == 56);
static_assert(sizeof(AgentWelcome) == 64);

// Environment of the target, set by `utlz run`.
inline constexpr char kSocketVariable[] = "UTLZ_SOCKET";  // path of the collector's socket
// Instead of that, set by `utlz run --collector` or in the target's environment: the socket of a
// service, "unix:PATH" or a path. There is no token: the listener must be root or the target's
// user.
inline constexpr char kCollectorVariable[] = "UTLZ_COLLECTOR";
inline constexpr char kJobVariable[] = "UTLZ_JOB";  // optional: what processes of one job share
inline constexpr char kCuptiVariable[] = "UTLZ_CUPTI_PATH";  // optional: the libcupti to load last
// optional: the one that the user named, to load before any other
inline constexpr char kNamedCuptiVariable[] = "UTLZ_NAMED_CUPTI_PATH";
// optional: with kNvtxInstructions the agent answers NVTX only to learn XLA's instructions
inline constexpr char kNvtxVariable[] = "UTLZ_NVTX";
inline constexpr char kNvtxInstructions[] = "instructions";

}  // namespace utlz

#endif  // UTLZ_PROTO_RING_ABI_H_
