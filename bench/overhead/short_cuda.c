// The shortest CUDA program there is: sets CUDA up, does one thing on the GPU, ends. For
// startup.py.
//
//   gcc -O2 -o short_cuda short_cuda.c -ldl
//
// Prints when that one thing was done, in nanoseconds of CLOCK_MONOTONIC. The driver is found at
// run time, so that neither nvcc nor a toolkit is needed; the few declarations below are CUDA's.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBytes = 1 << 20 };

static void* Find(const char* name) {
  static void* driver;
  if (driver == NULL) driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* function = driver != NULL ? dlsym(driver, name) : NULL;
  if (function == NULL) {
    fprintf(stderr, "short_cuda: %s\n", dlerror());
    exit(1);
  }
  return function;
}

static void Check(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "short_cuda: %s returned %d\n", what, status);
  exit(1);
}

int main(void) {
  void* context = NULL;
  uint64_t memory = 0;
  Check(((int (*)(unsigned))Find("cuInit"))(0), "cuInit");
  Check(((int (*)(void**, int))Find("cuDevicePrimaryCtxRetain"))(&context, 0),
        "cuDevicePrimaryCtxRetain");
  Check(((int (*)(void*))Find("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
  Check(((int (*)(uint64_t*, size_t))Find("cuMemAlloc_v2"))(&memory, kBytes), "cuMemAlloc");
  Check(((int (*)(uint64_t, unsigned char, size_t))Find("cuMemsetD8_v2"))(memory, 1, kBytes),
        "cuMemsetD8");
  Check(((int (*)(void))Find("cuCtxSynchronize"))(), "cuCtxSynchronize");
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
  return 0;
}
