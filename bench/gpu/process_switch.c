// A program that launches kernels, copies and memory sets without pause from two threads while a third
// switches CUPTI's records in one way, to learn which ways kill it.
//
//   gcc -O2 -o process_switch process_switch.c -ldl -lpthread
//   process_switch LIBCUPTI WAY SECONDS
//
// Records of kernels, copies and sets are on for the whole process before CUDA begins, as under
// `utlz run`. Ways:
//
//   context     they are switched off and on in the context, every ten milliseconds
//   off         the same, and each time they are off in the context they go off for the process too;
//               they never go on for the process again
//   settled     as "off", but a flush and SETTLE_MS (100) lie between the two, so that nothing that was
//               recorded is under way
//   process     they are switched off and on for the process, every ten milliseconds
//   markers     as "context", and with them records of NVTX for the process
//   calls       as "context", and with them records of the calls that launch
//   moved       off for the process and at once on in the context, once, and then as "context"
//
// Each goes on until SECONDS are over. Prints how many launches and rounds there were. The few
// declarations below are stable since CUDA 12.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBufferBytes = 256 << 10, kThreads = 2, kBytes = 4096, kBurst = 200 };

static const int kKinds[] = {10, 1, 22, 2};
enum { kKindCount = sizeof kKinds / sizeof *kKinds, kMarkerKind = 12 };
// kDriverLaunchCalls of inject/driver/cupti_abi.h.
static const uint32_t kLaunchCalls[] = {307, 442, 477, 478, 480, 514, 515, 652, 653};

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n";

static void *cuda, *cupti, *context, *function;
static atomic_int stopping;
static atomic_ulong launches;

static void* Find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "process_switch: no %s\n", name);
    exit(2);
  }
  return found;
}

static void Check(int result, const char* what) {
  if (result == 0) return;
  fprintf(stderr, "process_switch: %s: error %d\n", what, result);
  exit(3);
}

static void SleepUs(long microseconds) {
  const struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&pause, NULL);
}

static void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = aligned_alloc(64, kBufferBytes);
  *size = kBufferBytes;
  *most_records = 0;
}

static void OnBufferCompleted(void* owner, uint32_t stream, uint8_t* buffer, size_t size,
                              size_t valid_size) {
  (void)owner, (void)stream, (void)size, (void)valid_size;
  free(buffer);
}

static void Ignore(void* user, uint32_t domain, uint32_t callback, const void* data) {
  (void)user, (void)domain, (void)callback, (void)data;
}

static void SwitchProcess(int on) {
  int (*change)(int) = Find(cupti, on ? "cuptiActivityEnable" : "cuptiActivityDisable");
  for (int i = 0; i < kKindCount; ++i) {
    Check(change(kKinds[on ? i : kKindCount - 1 - i]), "switching the process");
  }
}

static void SwitchContext(int on) {
  int (*change)(void*, int) =
      Find(cupti, on ? "cuptiActivityEnableContext" : "cuptiActivityDisableContext");
  for (int i = 0; i < kKindCount; ++i) {
    Check(change(context, kKinds[on ? i : kKindCount - 1 - i]), "switching the context");
  }
}

static void PrepareCupti(const char* path) {
  cupti = dlopen(path, RTLD_NOW);
  if (cupti == NULL) {
    fprintf(stderr, "process_switch: %s\n", dlerror());
    exit(2);
  }
  int (*subscribe)(void**, void (*)(void*, uint32_t, uint32_t, const void*), void*) =
      Find(cupti, "cuptiSubscribe");
  int (*unsubscribe)(void*) = Find(cupti, "cuptiUnsubscribe");
  int (*reg)(void (*)(uint8_t**, size_t*, size_t*),
             void (*)(void*, uint32_t, uint8_t*, size_t, size_t)) =
      Find(cupti, "cuptiActivityRegisterCallbacks");
  void* subscriber;
  Check(subscribe(&subscriber, Ignore, NULL), "cuptiSubscribe");
  Check(unsubscribe(subscriber), "cuptiUnsubscribe");
  Check(reg(OnBufferRequested, OnBufferCompleted), "cuptiActivityRegisterCallbacks");
}

static void PrepareCuda(void) {
  int (*retain)(void**, int) = Find(cuda, "cuDevicePrimaryCtxRetain");
  int (*set_current)(void*) = Find(cuda, "cuCtxSetCurrent");
  int (*load)(void**, const void*) = Find(cuda, "cuModuleLoadData");
  int (*get)(void**, void*, const char*) = Find(cuda, "cuModuleGetFunction");
  void* module;
  Check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
  Check(set_current(context), "cuCtxSetCurrent");
  Check(load(&module, kPtx), "cuModuleLoadData");
  Check(get(&function, module, "nothing"), "cuModuleGetFunction");
}

static void* Launch(void* unused) {
  int (*set_current)(void*) = Find(cuda, "cuCtxSetCurrent");
  int (*create)(void**, unsigned) = Find(cuda, "cuStreamCreate");
  int (*allocate)(uint64_t*, size_t) = Find(cuda, "cuMemAlloc_v2");
  int (*set)(uint64_t, unsigned char, size_t, void*) = Find(cuda, "cuMemsetD8Async");
  int (*copy)(uint64_t, uint64_t, size_t, void*) = Find(cuda, "cuMemcpyDtoDAsync_v2");
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**) = Find(cuda, "cuLaunchKernel");
  int (*synchronize)(void*) = Find(cuda, "cuStreamSynchronize");
  void* stream;
  uint64_t memory;
  Check(set_current(context), "cuCtxSetCurrent");
  Check(create(&stream, 1), "cuStreamCreate");
  Check(allocate(&memory, 2 * kBytes), "cuMemAlloc");
  while (!stopping) {
    for (int i = 0; i < kBurst; ++i) {
      Check(set(memory, 1, kBytes, stream), "cuMemsetD8Async");
      Check(launch(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
      Check(set(memory + kBytes, 2, kBytes, stream), "cuMemsetD8Async");
      Check(copy(memory, memory + kBytes, kBytes, stream), "cuMemcpyDtoDAsync");
    }
    Check(synchronize(stream), "cuStreamSynchronize");
    launches += 4 * kBurst;
  }
  return unused;
}

static void SwitchMarkers(int on) {
  int (*change)(int) = Find(cupti, on ? "cuptiActivityEnable" : "cuptiActivityDisable");
  Check(change(kMarkerKind), "switching markers");
}

static void SwitchCalls(int on) {
  int (*change)(uint32_t, uint8_t) = Find(cupti, "cuptiActivityEnableDriverApi");
  for (size_t i = 0; i < sizeof kLaunchCalls / sizeof *kLaunchCalls; ++i) {
    change(kLaunchCalls[i], (uint8_t)on);
  }
}

static void Round(const char* way) {
  int (*flush)(uint32_t) = Find(cupti, "cuptiActivityFlushAll");
  const int by_process = strcmp(way, "process") == 0;
  const int settled = strcmp(way, "settled") == 0;
  by_process ? SwitchProcess(1) : SwitchContext(1);
  if (strcmp(way, "markers") == 0) SwitchMarkers(1);
  if (strcmp(way, "calls") == 0) SwitchCalls(1);
  SleepUs(5000);
  if (strcmp(way, "calls") == 0) SwitchCalls(0);
  if (strcmp(way, "markers") == 0) SwitchMarkers(0);
  by_process ? SwitchProcess(0) : SwitchContext(0);
  flush(0);
  if (settled) {
    const char* pause = getenv("SETTLE_MS");
    SleepUs(1000 * (pause == NULL ? 100 : atol(pause)));
  }
  if (settled || strcmp(way, "off") == 0) SwitchProcess(0);
  SleepUs(5000);
}

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* way = argv[2];
  cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (cuda == NULL) return 77;
  PrepareCupti(argv[1]);
  SwitchProcess(1);
  int (*init)(unsigned) = Find(cuda, "cuInit");
  if (init(0) != 0) return 77;
  PrepareCuda();
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Launch, NULL);
  SleepUs(20000);
  if (strcmp(way, "moved") == 0) {
    SwitchProcess(0);
    SwitchContext(1);
  }
  unsigned rounds = 0;
  for (const double end = Now() + atof(argv[3]); Now() < end; ++rounds) Round(way);
  stopping = 1;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("%lu launches, %u rounds\n", launches, rounds);
  fflush(stdout);
  _exit(0);
}
