// The floor that any CUPTI tracer stands on: kernel tracing switched on, records dropped unread.
//
//   gcc -O2 -shared -fPIC -o libempty_cupti.so empty_cupti.c -ldl
//
// Used from inside a process (EmptyCuptiEnable, EmptyCuptiDisable, by ctypes), or injected with
// CUDA_INJECTION64_PATH, when it traces from the start and SIGUSR2 switches it off and on. CUPTI is
// the copy that the process has loaded, else EMPTY_CUPTI_LIBRARY, else libcupti.so.13. The few
// declarations of CUPTI below are stable since CUDA 12.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kConcurrentKernel = 10, kBufferBytes = 1 << 20, kBuffers = 64 };

typedef int (*ActivityKindFunction)(int kind);
typedef void (*BufferRequested)(uint8_t** buffer, size_t* size, size_t* max_records);
typedef void (*BufferCompleted)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid_size);
typedef int (*RegisterCallbacks)(BufferRequested, BufferCompleted);
typedef int (*FlushAll)(uint32_t flag);

static struct {
  ActivityKindFunction enable;
  ActivityKindFunction disable;
  FlushAll flush;
  pthread_mutex_t lock;
  uint8_t* free_buffers[kBuffers];
  int free_count;
  uint64_t completed_bytes;
  int tracing;
} consumer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  pthread_mutex_lock(&consumer.lock);
  *buffer = consumer.free_count > 0 ? consumer.free_buffers[--consumer.free_count] : NULL;
  pthread_mutex_unlock(&consumer.lock);
  if (*buffer == NULL) *buffer = aligned_alloc(64, kBufferBytes);
  *size = kBufferBytes;
  *max_records = 0;
}

static void OnBufferCompleted(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                              size_t valid_size) {
  (void)context, (void)stream, (void)size;
  pthread_mutex_lock(&consumer.lock);
  consumer.completed_bytes += valid_size;
  const int kept = consumer.free_count < kBuffers;
  if (kept) consumer.free_buffers[consumer.free_count++] = buffer;
  pthread_mutex_unlock(&consumer.lock);
  if (!kept) free(buffer);
}

static void* FindCupti(void) {
  static const char* const kNames[] = {"libcupti.so.13", "libcupti.so.12"};
  for (int i = 0; i < 2; ++i) {
    void* loaded = dlopen(kNames[i], RTLD_NOLOAD | RTLD_NOW);
    if (loaded != NULL) return loaded;
  }
  const char* named = getenv("EMPTY_CUPTI_LIBRARY");
  return dlopen(named != NULL ? named : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
}

static int Prepare(void) {
  if (consumer.enable != NULL) return 0;
  void* cupti = FindCupti();
  if (cupti == NULL) {
    fprintf(stderr, "empty_cupti: %s\n", dlerror());
    return -1;
  }
  RegisterCallbacks register_callbacks =
      (RegisterCallbacks)dlsym(cupti, "cuptiActivityRegisterCallbacks");
  consumer.disable = (ActivityKindFunction)dlsym(cupti, "cuptiActivityDisable");
  consumer.flush = (FlushAll)dlsym(cupti, "cuptiActivityFlushAll");
  ActivityKindFunction enable = (ActivityKindFunction)dlsym(cupti, "cuptiActivityEnable");
  if (register_callbacks == NULL || consumer.disable == NULL || consumer.flush == NULL ||
      enable == NULL || register_callbacks(OnBufferRequested, OnBufferCompleted) != 0) {
    fprintf(stderr, "empty_cupti: this CUPTI lacks the activity API\n");
    return -1;
  }
  consumer.enable = enable;
  return 0;
}

// Returns 0, or CUPTI's error, or -1 without CUPTI.
int EmptyCuptiEnable(void) {
  if (Prepare() != 0) return -1;
  consumer.tracing = 1;
  return consumer.enable(kConcurrentKernel);
}

int EmptyCuptiDisable(void) {
  if (consumer.enable == NULL) return -1;
  consumer.tracing = 0;
  const int status = consumer.disable(kConcurrentKernel);
  consumer.flush(0);
  return status;
}

// Bytes of records that CUPTI handed over: proof that it traced.
uint64_t EmptyCuptiCompletedBytes(void) {
  pthread_mutex_lock(&consumer.lock);
  const uint64_t bytes = consumer.completed_bytes;
  pthread_mutex_unlock(&consumer.lock);
  return bytes;
}

static void* SwitchOnSignal(void* signals) {
  int received;
  while (sigwait(signals, &received) == 0) {
    if (consumer.tracing) {
      EmptyCuptiDisable();
    } else {
      EmptyCuptiEnable();
    }
  }
  return NULL;
}

int InitializeInjection(void) {
  static sigset_t signals;
  pthread_t thread;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  // Threads made later inherit the mask, so that only the one below sees the signal.
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  if (pthread_create(&thread, NULL, SwitchOnSignal, &signals) == 0) pthread_detach(thread);
  EmptyCuptiEnable();
  return 1;
}
