// An injected CUPTI consumer whose thread switches kernels, copies and sets off and on all the while,
// to tell CUPTI's doing from utlz's (docs/decisions/0011-contexts-are-paused-one-by-one.md).
//
//   gcc -O2 -shared -fPIC -o libswitching_cupti.so switching_cupti.c -ldl -lpthread
//   CUDA_INJECTION64_PATH=... SWITCHING_CUPTI=libcupti.so.13 SWITCHING_WAY=process|context|settled \
//       [SWITCHING_KIND=17] PROGRAM
//
// Settled: on for the process, off in the context, and off for the process once a flush and SETTLE_MS
// (150) have passed, when nothing that was recorded is under way any more.
// SWITCHING_KIND: that kind of records in place of kernels, copies and sets (CUpti_ActivityKind).
// Says on standard error, at the program's end, how often it switched. The few declarations of CUPTI
// and CUDA below are stable since CUDA 12.
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

enum { kBufferBytes = 256 << 10 };
// CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, _MEMCPY, _MEMCPY2, _MEMSET
static int kinds[] = {10, 1, 22, 2};
static int kind_count = 4;

typedef int (*SwitchKind)(int kind);
typedef int (*SwitchKindOf)(void* context, int kind);
typedef void (*BufferRequested)(uint8_t** buffer, size_t* size, size_t* max_records);
typedef void (*BufferCompleted)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid_size);

static struct {
  SwitchKind enable, disable;
  SwitchKindOf enable_of, disable_of;
  int (*flush)(uint32_t flag);
  int (*retain)(void** context, int device);
  int by_context, settles;
  void* context;
  atomic_int stopping, stopped;
  unsigned long switches;
} consumer;

static void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = aligned_alloc(64, kBufferBytes);
  *size = kBufferBytes;
  *max_records = 0;
}

static void OnBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                              size_t valid_size) {
  (void)context, (void)stream, (void)size, (void)valid_size;
  free(buffer);
}

static void SleepMs(int milliseconds) {
  const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

static void SwitchAll(int on, int by_context) {
  for (int i = 0; i < kind_count; ++i) {
    const int kind = kinds[on ? i : kind_count - 1 - i];
    if (by_context) {
      (on ? consumer.enable_of : consumer.disable_of)(consumer.context, kind);
    } else {
      (on ? consumer.enable : consumer.disable)(kind);
    }
  }
}

static void Switch(int on) {
  if (consumer.settles && !on) {
    const char* settle = getenv("SETTLE_MS");
    SwitchAll(0, 1);
    consumer.flush(0);
    SleepMs(settle == NULL ? 150 : atoi(settle));
  }
  SwitchAll(on, consumer.by_context);
}

static void* Run(void* unused) {
  unsigned seed = (unsigned)getpid();
  SleepMs(7000);  // PyTorch has started by then
  if ((consumer.by_context || consumer.settles) && consumer.retain(&consumer.context, 0) != 0) return unused;
  while (!consumer.stopping) {
    Switch(1);
    SleepMs(10 + rand_r(&seed) % 60);
    Switch(0);
    consumer.flush(0);
    SleepMs(10 + rand_r(&seed) % 60);
    ++consumer.switches;
  }
  consumer.stopped = 1;
  return unused;
}

static void Stop(void) {
  consumer.stopping = 1;
  for (int i = 0; i < 2000 && !consumer.stopped; ++i) SleepMs(1);
  fprintf(stderr, "switched %lu times\n", consumer.switches);
}

int InitializeInjection(void) {
  void* cupti = dlopen(getenv("SWITCHING_CUPTI"), RTLD_NOW);
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW);
  const char* way = getenv("SWITCHING_WAY");
  if (cupti == NULL || cuda == NULL || way == NULL) return 1;
  consumer.by_context = strcmp(way, "context") == 0;
  consumer.settles = strcmp(way, "settled") == 0;
  const char* kind = getenv("SWITCHING_KIND");
  if (kind != NULL) kinds[0] = atoi(kind), kind_count = 1;
  consumer.enable = (SwitchKind)dlsym(cupti, "cuptiActivityEnable");
  consumer.disable = (SwitchKind)dlsym(cupti, "cuptiActivityDisable");
  consumer.enable_of = (SwitchKindOf)dlsym(cupti, "cuptiActivityEnableContext");
  consumer.disable_of = (SwitchKindOf)dlsym(cupti, "cuptiActivityDisableContext");
  consumer.flush = (int (*)(uint32_t))dlsym(cupti, "cuptiActivityFlushAll");
  consumer.retain = (int (*)(void**, int))dlsym(cuda, "cuDevicePrimaryCtxRetain");
  ((int (*)(BufferRequested, BufferCompleted))dlsym(cupti, "cuptiActivityRegisterCallbacks"))(
      OnBufferRequested, OnBufferCompleted);
  atexit(Stop);
  pthread_t thread;
  pthread_create(&thread, NULL, Run, NULL);
  return 1;
}
