// CUPTI's callbacks carry no user pointer, so there is one agent, reached from here.
#ifndef UTLZ_INJECT_ONE_AGENT_H_
#define UTLZ_INJECT_ONE_AGENT_H_

#include <cstddef>
#include <cstdint>

#include "inject/cupti_abi.h"

namespace utlz::inject {

// Calls the agent back when the process ends or forks. Allocates.
void WatchProcessEnds();
// The end once more, before what was loaded since is torn down: the first of these counts.
void WatchProcessEndAnew();
// Calls the agent back when the main thread ends, once, if that is who calls this. Allocates then.
void WatchMainThread();
bool MainThreadIsWatched();
// Calls the agent back at exit before the libraries that were loaded since are torn down, whichever
// thread exits. Allocates; agent's thread.
void WatchExitAnew();

void BufferRequestedCallback(uint8_t** buffer, size_t* size, size_t* max_records);
void BufferCompletedCallback(cupti::Context context, uint32_t stream, uint8_t* buffer, size_t size,
                             size_t valid_bytes);
// Another client is about to subscribe to CUPTI's callbacks; our thread is outside CUPTI.
void GiveUpSubscription();
// It is about to register buffer callbacks of its own; alike.
void TakeBuffersBack();
void DriverCallCallback(void* user, uint32_t domain, uint32_t callback_id, const void* data);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_ONE_AGENT_H_
