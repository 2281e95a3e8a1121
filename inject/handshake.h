// Meets the collector: hands the ring over and learns what to do. Runs once, in InitializeInjection,
// with a deadline; the socket is closed before the target goes on.
#ifndef UTLZ_INJECT_HANDSHAKE_H_
#define UTLZ_INJECT_HANDSHAKE_H_

#include "proto/ring_abi.h"

namespace utlz::inject {

// Over the Unix socket at `path`. False where nobody answered within a second, or with a refusal.
bool MeetCollector(const char* path, int ring_file, uint64_t ring_bytes, AgentWelcome* welcome);

// The same over a connected socket.
bool MeetCollectorOn(int socket_file, int ring_file, uint64_t ring_bytes, AgentWelcome* welcome);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_HANDSHAKE_H_
