// CUPTI present in a process and nothing else: what a tracer leaves in a program between its
// windows.
//
//   gcc -O2 -shared -fPIC -o libpresence_cupti.so presence_cupti.c -ldl
//
// Injected with CUDA_INJECTION64_PATH. PRESENCE_CUPTI is the copy of CUPTI to load, and
// PRESENCE_MODE says what is done with it inside cuInit: every mode subscribes with a callback that
// is never enabled; "recorded" also records kernels and copies until the program calls
// PresenceStop; "watching" also records the calls that load code, as the watch for new work does;
// "both" does both. Three more are "both" but end the recording in the current context alone, as the
// agent pauses it: "paused" leaves the kinds on for the process; "paused-off" then switches them off
// for the process too; "moved" had switched them off for the process and on in the context alone,
// when the program called PresenceMove after its context was made. "context" never has them on for
// the process: PresenceMove switches them on in the context. A program may then call PresenceWindow
// and PresenceEnd to have windows as the agent has them. PRESENCE_KINDS, such as "10,2", names
// fewer kinds; with PRESENCE_UNSUBSCRIBE the subscription is given up at once, as the agent does. A program without it may load it at any time and call PresenceStart, and then
// PresenceWindow. The few declarations of CUPTI below are stable since CUDA 12.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kOverhead = 17, kBufferBytes = 1 << 20 };

// Kernels and copies of all sorts, as the agent records them.
enum { kMostKinds = 4 };
static int recorded_kinds[kMostKinds] = {10, 1, 22, 2};
static int recorded_count = kMostKinds;

// The same calls as kDriverNewWorkCalls and kRuntimeNewWorkCalls of inject/driver/cupti_abi.h.
static const uint32_t kDriverCalls[] = {18, 19, 20, 21, 513, 578, 643, 656, 657, 678, 679};
static const uint32_t kRuntimeCalls[] = {310, 418, 436, 437, 443};

typedef int (*KindFunction)(int kind);
typedef int (*ContextKindFunction)(void* context, int kind);

static struct {
  void* library;
  int status;  // 0, the first error of CUPTI, or -1 without one
  int recording;
  int ends_by_context;
  int ends_for_process;  // after that
  int waits_for_context;
  uint32_t version;
  uint64_t recorded_bytes;
} presence = {.status = -1};

static void Ignore(void* user, uint32_t domain, uint32_t callback, const void* data) {
  (void)user, (void)domain, (void)callback, (void)data;
}

static void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = aligned_alloc(64, kBufferBytes);
  *size = *buffer == NULL ? 0 : kBufferBytes;
  *most_records = 0;
}

static void OnBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                              size_t valid_bytes) {
  (void)context, (void)stream, (void)size;
  __atomic_fetch_add(&presence.recorded_bytes, valid_bytes, __ATOMIC_RELAXED);
  free(buffer);
}

static void* Find(const char* name) {
  void* function = dlsym(presence.library, name);
  if (function == NULL) fprintf(stderr, "presence_cupti: this CUPTI lacks %s\n", name);
  return function;
}

static int Subscribe(void) {
  int (*subscribe)(void**, void (*)(void*, uint32_t, uint32_t, const void*), void*) =
      Find("cuptiSubscribe");
  static void* subscriber;
  const int status = subscribe == NULL ? -1 : subscribe(&subscriber, Ignore, NULL);
  if (status != 0 || getenv("PRESENCE_UNSUBSCRIBE") == NULL) return status;
  int (*unsubscribe)(void*) = Find("cuptiUnsubscribe");
  return unsubscribe == NULL ? -1 : unsubscribe(subscriber);
}

static int Register(void) {
  int (*reg)(void (*)(uint8_t**, size_t*, size_t*),
             void (*)(void*, uint32_t, uint8_t*, size_t, size_t)) =
      Find("cuptiActivityRegisterCallbacks");
  return reg == NULL ? -1 : reg(OnBufferRequested, OnBufferCompleted);
}

static int EnableKind(int kind) {
  KindFunction enable = Find("cuptiActivityEnable");
  return enable == NULL ? -1 : enable(kind);
}

static int WatchCalls(void) {
  int (*driver)(uint32_t, uint8_t) = Find("cuptiActivityEnableDriverApi");
  int (*runtime)(uint32_t, uint8_t) = Find("cuptiActivityEnableRuntimeApi");
  if (driver == NULL || runtime == NULL) return -1;
  // A copy that is older than a call refuses it; the agent ignores that too.
  for (size_t i = 0; i < sizeof kDriverCalls / sizeof *kDriverCalls; ++i)
    driver(kDriverCalls[i], 1);
  for (size_t i = 0; i < sizeof kRuntimeCalls / sizeof *kRuntimeCalls; ++i) {
    runtime(kRuntimeCalls[i], 1);
  }
  return EnableKind(kOverhead);
}

static int DisableKinds(void) {
  KindFunction disable = Find("cuptiActivityDisable");
  int status = disable == NULL ? -1 : 0;
  for (int i = recorded_count; status == 0 && i-- > 0;) status = disable(recorded_kinds[i]);
  return status;
}

static int EnableKinds(void) {
  int status = 0;
  for (int i = 0; status == 0 && i < recorded_count; ++i) status = EnableKind(recorded_kinds[i]);
  return status;
}

static int Flush(uint32_t flag) {
  int (*flush)(uint32_t) = Find("cuptiActivityFlushAll");
  return flush == NULL ? -1 : flush(flag);
}

static void ReadKinds(const char* list) {
  if (list == NULL) return;
  for (recorded_count = 0; recorded_count < kMostKinds && *list != 0;) {
    char* end;
    recorded_kinds[recorded_count++] = (int)strtol(list, &end, 10);
    list = *end == ',' ? end + 1 : "";
  }
}

static int Begin(const char* mode) {
  ReadKinds(getenv("PRESENCE_KINDS"));
  presence.ends_for_process = strcmp(mode, "paused-off") == 0;
  presence.waits_for_context = strcmp(mode, "context") == 0;
  presence.ends_by_context = presence.ends_for_process || presence.waits_for_context ||
                             strcmp(mode, "paused") == 0 || strcmp(mode, "moved") == 0;
  const int both = presence.ends_by_context || strcmp(mode, "both") == 0;
  int status = Subscribe();
  if (status != 0 || strcmp(mode, "subscribed") == 0) return status;
  status = Register();
  if (status == 0 && (both || strcmp(mode, "watching") == 0)) status = WatchCalls();
  if (status == 0 && !presence.waits_for_context && (both || strcmp(mode, "recorded") == 0)) {
    status = EnableKinds();
    presence.recording = status == 0;
  }
  return status;
}

static int LoadAndBegin(const char* path, const char* mode) {
  presence.library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (presence.library == NULL || mode == NULL) {
    fprintf(stderr, "presence_cupti: %s\n", path == NULL ? "PRESENCE_CUPTI is not set" : dlerror());
    return -1;
  }
  int (*get_version)(uint32_t*) = Find("cuptiGetVersion");
  if (get_version != NULL) get_version(&presence.version);
  return presence.status = Begin(mode);
}

// What InitializeInjection does, at any time and in any process. Returns 0, CUPTI's error, or -1.
int PresenceStart(const char* path, const char* mode) {
  return presence.library != NULL ? -1 : LoadAndBegin(path, mode);
}

static void* CurrentContext(void) {
  int (*get_current)(void**) = dlsym(RTLD_DEFAULT, "cuCtxGetCurrent");
  if (get_current == NULL) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver != NULL) get_current = dlsym(driver, "cuCtxGetCurrent");
  }
  void* context = NULL;
  return get_current != NULL && get_current(&context) == 0 ? context : NULL;
}

static int SwitchContext(int on) {
  ContextKindFunction change =
      Find(on ? "cuptiActivityEnableContext" : "cuptiActivityDisableContext");
  void* context = CurrentContext();
  if (change == NULL || context == NULL) return -1;
  int status = 0;
  for (int i = 0; status == 0 && i < recorded_count; ++i) {
    status = change(context, recorded_kinds[on ? i : recorded_count - 1 - i]);
  }
  return status;
}

// Leaves the recording to the current context alone. Returns 0, CUPTI's error, or -1.
int PresenceMove(void) {
  int status = presence.recording ? DisableKinds() : 0;
  if (status == 0) status = SwitchContext(1);
  presence.recording = status == 0;
  return status;
}

// Ends the recording. Returns 0, CUPTI's error, or -1.
int PresenceStop(void) {
  if (!presence.recording) return 0;
  presence.recording = 0;
  int status = presence.ends_by_context ? SwitchContext(0) : DisableKinds();
  if (status == 0 && presence.ends_for_process) status = DisableKinds();
  Flush(0);
  return status;
}

// Begins or ends a window of records after PresenceStart(…, "registered"): in the current context,
// as the agent does, or in the whole process. Returns 0, CUPTI's error, or -1.
int PresenceWindow(int on, int by_context) {
  if (presence.library == NULL) return -1;
  if (by_context) return SwitchContext(on);
  return on ? EnableKinds() : DisableKinds();
}

// Ends the recording for the process, where it has ended in the context. Returns 0, CUPTI's error, or
// -1.
int PresenceEnd(void) { return presence.library == NULL ? -1 : DisableKinds(); }

// Registers the same buffers' functions again. Returns 0, CUPTI's error, or -1.
int PresenceRegister(void) { return presence.library == NULL ? -1 : Register(); }

int PresenceFlush(uint32_t flag) { return presence.library == NULL ? -1 : Flush(flag); }

// For the program to prove what was done: -1 before cuInit, or without CUPTI.
int PresenceStatus(void) { return presence.status; }
uint32_t PresenceVersion(void) { return presence.version; }
uint64_t PresenceRecordedBytes(void) {
  return __atomic_load_n(&presence.recorded_bytes, __ATOMIC_RELAXED);
}

int InitializeInjection(void) {
  LoadAndBegin(getenv("PRESENCE_CUPTI"), getenv("PRESENCE_MODE"));
  return 1;
}
