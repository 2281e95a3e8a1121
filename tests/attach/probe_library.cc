// Stands in for the agent: a library whose constructor starts a thread, which says hello and then
// answers each message with the same message until the tool hangs up.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "proto/attach_abi.h"
#include "tests/attach/probe_protocol.h"
#include "tests/attach/target_control.h"

namespace {

using utlz::attach::Control;

[[gnu::section(".utlz_attach"), gnu::used,
  gnu::aligned(64)]] const volatile utlz::AttachConfig kAttachConfig = utlz::kEmptyAttachConfig;

// Whether dlsym finds it tells whether the library was loaded for itself alone.
extern "C" __attribute__((visibility("default"))) const int kUtlzProbe = 1;

bool SocketIsNamed() {
  struct stat status = {};
  return fstat(kAttachConfig.control_socket, &status) == 0 &&
         status.st_dev == kAttachConfig.control_socket_device &&
         status.st_ino == kAttachConfig.control_socket_inode;
}

bool ParametersAre(const char* text) {
  for (size_t i = 0;; ++i) {
    if (kAttachConfig.parameters[i] != text[i]) return false;
    if (text[i] == '\0') return true;
  }
}

utlz::attach::ProbeHello Hello() {
  utlz::attach::ProbeHello hello = {};
  hello.process_id = static_cast<uint32_t>(getpid());
  hello.thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  hello.socket_is_named = SocketIsNamed();
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &hello.blocked_signals, 8);
  for (size_t i = 0; i + 1 < sizeof(hello.parameters); ++i) {
    hello.parameters[i] = kAttachConfig.parameters[i];
  }
  return hello;
}

void* Serve(void*) {
  const int socket = kAttachConfig.control_socket;
  const auto hello = Hello();
  send(socket, &hello, sizeof(hello), MSG_NOSIGNAL);
  char message[64];
  for (;;) {
    const ssize_t count = recv(socket, message, sizeof(message), 0);
    if (count <= 0) break;
    send(socket, message, static_cast<size_t>(count), MSG_NOSIGNAL);
  }
  return nullptr;
}

void StartThread() {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_create(&thread, &attributes, Serve, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

[[gnu::constructor]] void Start() {
  if (kAttachConfig.loaded_by_attach == 0) return;
  errno = EDOM;  // the lent thread must not see it
  if (ParametersAre("crash")) __builtin_trap();
  if (ParametersAre("hold")) {
    Control().entered_constructor = 1;
    while (Control().hold_constructor != 0) sched_yield();
  }
  StartThread();
}

}  // namespace
