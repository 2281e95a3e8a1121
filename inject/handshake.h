// Meets the collector: hands the ring over and learns what to do. Runs once, in InitializeInjection,
// with a deadline; the socket is closed before the target goes on.
#ifndef UTLZ_INJECT_HANDSHAKE_H_
#define UTLZ_INJECT_HANDSHAKE_H_

#include "proto/ring_abi.h"
#include "proto/run_token.h"

namespace utlz::inject {

// Over the Unix socket at `path`. False where nobody answered within a second, or with a refusal;
// where who listens there is neither root nor of this process's user, and then nothing is handed
// over; and where it does not know the collector's half of the token. Null: the process was given
// none, which the collector gets to see and refuses.
bool MeetCollector(const char* path, const RunToken* token, int ring_file, uint64_t ring_bytes,
                   AgentWelcome* welcome);

// Over a connected socket of a collector that is trusted for that.
bool MeetCollectorOn(int socket_file, int ring_file, uint64_t ring_bytes, AgentWelcome* welcome);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_HANDSHAKE_H_
