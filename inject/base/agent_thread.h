// A thread of the agent's in the target.
#ifndef UTLZ_INJECT_BASE_AGENT_THREAD_H_
#define UTLZ_INJECT_BASE_AGENT_THREAD_H_

namespace utlz::agent {

// Starts a detached thread that takes none of the target's signals. `name`, if given, is the
// thread's from the moment that this returns. False where there is no thread to be had.
bool StartThread(void* (*main)(void*), void* argument, const char* name);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_AGENT_THREAD_H_
