// Meets the collector: hands the ring over and learns what to do, with a deadline. In
// InitializeInjection it runs once, and the target waits for it; an agent of a service meets the
// next collector on its own thread.
#ifndef UTLZ_INJECT_HANDSHAKE_H_
#define UTLZ_INJECT_HANDSHAKE_H_

#include "proto/ring_abi.h"
#include "proto/run_token.h"

namespace utlz::agent {

struct RingOffer {
  int file = -1;
  uint64_t bytes = 0;
  uint64_t alone_since_ns = 0;  // AgentHello::alone_since_ns
};

// A socket that is connected to the listener at `path`, whose sends wait for a second at most; -1
// where there is none that is root's or of this process's user.
int ConnectToCollector(const char* path);

// Over the Unix socket at `path`. False if
//   - the listener is neither root nor of this process's user: then nothing is handed over;
//   - nobody answers within a second, or the collector refuses;
//   - the collector does not know its half of the token.
// `token` is null where the process was given none; the collector then refuses.
bool MeetCollector(const char* path, const RunToken* token, const RingOffer& ring,
                   AgentWelcome* welcome);

// How long a handshake may take: inside cuInit the program waits, on our own thread nobody does.
constexpr int kProgramPatienceSeconds = 1;
constexpr int kAgentPatienceSeconds = 10;

// Over a connected socket of a collector that is trusted for that.
bool MeetCollectorOn(int socket_file, const RingOffer& ring, int patience_seconds,
                     AgentWelcome* welcome);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_HANDSHAKE_H_
