// The thread that a process begins with. When it ends the process, by exit() or by returning from
// main, it runs what is registered here first of all: before anything of atexit, and thus before
// any library's objects are destroyed, also those that are being made at that moment.
//
// What is registered does not run if another thread calls exit(), or any thread calls quick_exit()
// or _exit(). It also runs if the main thread ends by pthread_exit while others go on.
#ifndef UTLZ_INJECT_BASE_MAIN_THREAD_H_
#define UTLZ_INJECT_BASE_MAIN_THREAD_H_

namespace utlz::agent {

// A system call.
bool OnMainThread();

// Has `call` called when the calling thread ends. Once for each call of this, which allocates and
// takes the dynamic loader's lock. False where the C library cannot.
bool CallWhenThisThreadEnds(void (*call)());

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_MAIN_THREAD_H_
