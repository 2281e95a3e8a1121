#include "inject/base/main_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

// The C library's registration of the destructors of thread_local objects (its header has none).
extern "C" [[gnu::weak]] int __cxa_thread_atexit_impl(void (*call)(void*), void* argument,
                                                      void* library);
extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;

namespace utlz::agent {
namespace {

void Call(void* call) { reinterpret_cast<void (*)()>(call)(); }

}  // namespace

bool OnMainThread() { return syscall(SYS_gettid) == getpid(); }

bool CallWhenThisThreadEnds(void (*call)()) {
  return __cxa_thread_atexit_impl != nullptr &&
         __cxa_thread_atexit_impl(Call, reinterpret_cast<void*>(call), &__dso_handle) == 0;
}

}  // namespace utlz::agent
