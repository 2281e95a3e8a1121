// Stands in for the state of a CPython 3.14, for tests on machines without one: laid out by its own
// offsets, other than the real one's. What the interpreter does with it is in python_target.py.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

struct ThreadState {
  uint64_t unused[3];
  uint64_t interpreter;
  uint64_t eval_breaker;
  struct Support {
    int32_t pending_call;
    char script_path[512];
  } support;
};

struct InterpreterState {
  int64_t id;
  uint64_t next;
  uint64_t threads_main;
  int32_t debugging_enabled;
};

struct Runtime {
  std::array<uint64_t, 95> offsets;
  uint64_t finalizing;
  uint64_t interpreters_head;
};

constexpr std::array<uint64_t, 95> MakeOffsets() {
  std::array<uint64_t, 95> offsets = {};
  offsets[0] = 0x7970677562656478;  // "xdebugpy"
  offsets[1] = 0x030e02f0;          // 3.14.2
  offsets[3] = sizeof(Runtime);
  offsets[4] = offsetof(Runtime, finalizing);
  offsets[5] = offsetof(Runtime, interpreters_head);
  offsets[6] = sizeof(InterpreterState);
  offsets[7] = offsetof(InterpreterState, id);
  offsets[8] = offsetof(InterpreterState, next);
  offsets[10] = offsetof(InterpreterState, threads_main);
  offsets[22] = sizeof(ThreadState);
  offsets[25] = offsetof(ThreadState, interpreter);
  offsets[89] = offsetof(ThreadState, eval_breaker);
  offsets[90] = offsetof(ThreadState, support);
  offsets[91] = offsetof(InterpreterState, debugging_enabled);
  offsets[92] = offsetof(ThreadState::Support, pending_call);
  offsets[93] = offsetof(ThreadState::Support, script_path);
  offsets[94] = sizeof(ThreadState::Support::script_path);
  return offsets;
}

InterpreterState interpreter;
InterpreterState younger_interpreter;
ThreadState main_thread;

[[gnu::section(".PyRuntime"), gnu::used]] Runtime runtime = {MakeOffsets(), 0, 0};

constexpr uint64_t kPleaseStop = 1 << 5;
// What else a thread may be asked for, and the version that is kept above it.
constexpr uint64_t kOtherEvents = 0x3412'00'02;

}  // namespace

// For python_target.py.

extern "C" __attribute__((visibility("default"))) void StandInStart(int enabled) {
  main_thread.eval_breaker = kOtherEvents;
  // An earlier request's was longer.
  std::memset(main_thread.support.script_path, 'x', sizeof(main_thread.support.script_path) - 1);
  main_thread.interpreter = reinterpret_cast<uint64_t>(&interpreter);
  interpreter.threads_main = reinterpret_cast<uint64_t>(&main_thread);
  interpreter.debugging_enabled = enabled;
  younger_interpreter.id = 1;
  younger_interpreter.next = reinterpret_cast<uint64_t>(&interpreter);
  runtime.interpreters_head = reinterpret_cast<uint64_t>(&younger_interpreter);
}

// The main thread's state becomes one that the interpreter never had.
extern "C" __attribute__((visibility("default"))) void StandInForge(uint64_t thread_address) {
  interpreter.threads_main = thread_address;
}

// Whether the main thread was told to look for a request; it is not any more.
extern "C" __attribute__((visibility("default"))) int StandInWasTold() {
  return (__atomic_fetch_and(&main_thread.eval_breaker, ~kPleaseStop, __ATOMIC_SEQ_CST) &
          kPleaseStop) != 0;
}

// Whether nothing but that was changed.
extern "C" __attribute__((visibility("default"))) int StandInKeptEvents() {
  return (__atomic_load_n(&main_thread.eval_breaker, __ATOMIC_SEQ_CST) & ~kPleaseStop) ==
         kOtherEvents;
}

extern "C" __attribute__((visibility("default"))) int StandInIsAsked() {
  return __atomic_load_n(&main_thread.support.pending_call, __ATOMIC_SEQ_CST);
}

// The path of the script that is asked for.
extern "C" __attribute__((visibility("default"))) const char* StandInPath() {
  static char path[sizeof(main_thread.support.script_path)];
  std::memcpy(path, main_thread.support.script_path, sizeof(path));
  return path;
}

// Takes the request, and gives the script's path.
extern "C" __attribute__((visibility("default"))) const char* StandInTake() {
  if (__atomic_exchange_n(&main_thread.support.pending_call, 0, __ATOMIC_SEQ_CST) != 1) return "";
  return StandInPath();
}
