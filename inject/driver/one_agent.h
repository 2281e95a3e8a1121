// CUPTI's callbacks carry no user pointer, so there is one agent, reached from here.
#ifndef UTLZ_INJECT_DRIVER_ONE_AGENT_H_
#define UTLZ_INJECT_DRIVER_ONE_AGENT_H_

#include <cstddef>
#include <cstdint>

#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

// Of a CUDA graph (inject/tracing/capture_watch.h, inject/xla/xla_ranges.h).
enum class CaptureEvent {
  kBegins,        // a capture is about to
  kInstantiates,  // a graph is about to be made that can run
  kInstantiated,  // it was, or could not be
  kBuilds,        // XLA begins to run a program, and may build graphs meanwhile
  kBuilt,         // XLA has run the program
};

// Calls the agent back when the process ends or forks. Allocates.
void WatchProcessEnds();
// Registers for the end once more, so that records are handed over before what was loaded since is
// torn down; the agent is called back by the newest of these alone.
void WatchProcessEndAnew();
// Calls the agent back when the main thread ends, once, if that is who calls this. Allocates then.
void WatchMainThread();
bool MainThreadIsWatched();
// Has ranges end at exit, whichever thread exits, before the libraries that they have loaded so far
// are torn down. Records are not handed over: other handlers may still launch. Allocates; agent's
// thread.
void WatchExitForRanges();

void BufferRequestedCallback(uint8_t** buffer, size_t* size, size_t* max_records);
void BufferCompletedCallback(cupti::Context context, uint32_t stream, uint8_t* buffer, size_t size,
                             size_t valid_bytes);
// Another client is about to subscribe to CUPTI's callbacks; our thread is outside CUPTI.
void EndSubscription();
// Another client is about to register buffer callbacks; our thread is outside CUPTI.
void TakeBuffersBack();
// The program captures a graph; on its own thread.
void CaptureCallback(CaptureEvent event);
// Of launches, and of nodes of graphs.
void LaunchCallback(void* user, uint32_t domain, uint32_t callback_id, const void* data);
void DriverCallCallback(void* user, uint32_t domain, uint32_t callback_id, const void* data);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_ONE_AGENT_H_
