// Loads that launch through the driver without pause, on threads of their own, beside the windows
// of stack_switching.cc.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "bench/gpu/stack_switching.h"

namespace switching {
namespace {

// Never destroyed: a process may end with loads under way.
std::vector<std::thread>& threads = *new std::vector<std::thread>;
std::atomic<bool> stopping{false};

struct Driver {
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*set_current)(void*);
  int (*stream_create)(void**, unsigned);
  int (*synchronize)(void*);
  int (*set_memory)(uint64_t, uint8_t, size_t, void*);
  int (*allocate)(uint64_t*, size_t);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch_graph)(void*, void*);
  void *context, *kernel;
} driver;

const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";

int LaunchOne(void* stream) {
  return driver.launch(driver.kernel, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
}

int OpenDriver(const char* cubin) {
  void* l = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned), (*retain)(void**, int);
  int (*load)(void**, const char*), (*load_data)(void**, const void*);
  int (*function)(void**, void*, const char*);
  if (l == nullptr || !Find(l, "cuInit", &init) || !Find(l, "cuDevicePrimaryCtxRetain", &retain) ||
      !Find(l, "cuCtxSetCurrent", &driver.set_current) ||
      !Find(l, "cuStreamCreate", &driver.stream_create) ||
      (cubin[0] != 0 && !Find(l, "cuModuleLoad", &load)) ||
      !Find(l, "cuModuleLoadData", &load_data) || !Find(l, "cuModuleGetFunction", &function) ||
      !Find(l, "cuLaunchKernel", &driver.launch) || !Find(l, "cuMemAlloc_v2", &driver.allocate) ||
      !Find(l, "cuStreamSynchronize", &driver.synchronize) ||
      !Find(l, "cuMemsetD8Async", &driver.set_memory) ||
      !Find(l, "cuStreamBeginCapture_v2", &driver.begin_capture) ||
      !Find(l, "cuStreamEndCapture", &driver.end_capture) ||
      !Find(l, "cuGraphInstantiateWithFlags", &driver.instantiate) ||
      !Find(l, "cuGraphLaunch", &driver.launch_graph)) {
    return -1;
  }
  void* module = nullptr;
  void* stream = nullptr;
  int status = init(0);
  if (status == 0) status = retain(&driver.context, 0);
  if (status == 0) status = driver.set_current(driver.context);
  if (status == 0) status = cubin[0] != 0 ? load(&module, cubin) : load_data(&module, kPtx);
  if (status == 0) status = function(&driver.kernel, module, "empty");
  // Loaded by its first launch, which waits for the GPU.
  if (status == 0) status = driver.stream_create(&stream, 1);
  if (status == 0) status = LaunchOne(stream);
  return status == 0 ? driver.synchronize(stream) : status;
}

void LaunchKernels(void* stream) {
  while (!stopping) {
    if (LaunchOne(stream) != 0) Add(kFailures);
  }
}

void SetMemory(void* stream) {
  uint64_t memory = 0;
  driver.allocate(&memory, 4096);
  while (!stopping) {
    if (driver.set_memory(memory, 0, 4096, stream) != 0) Add(kFailures);
  }
}

void LaunchGraphs(void* stream) {
  void *graph = nullptr, *executable = nullptr;
  constexpr int kThreadLocal = 1;
  int status = driver.begin_capture(stream, kThreadLocal);
  for (int i = 0; i < 20; ++i) status |= LaunchOne(stream);
  status |= driver.end_capture(stream, &graph);
  status |= driver.instantiate(&executable, graph, 0);
  while (!stopping && status == 0) status = driver.launch_graph(executable, stream);
  if (status != 0) Add(kFailures);
}

// Threads that live for fifty launches.
void LaunchFromNewThreads(void* stream) {
  while (!stopping) {
    std::thread([stream] {
      driver.set_current(driver.context);
      for (int i = 0; i < 50; ++i) {
        if (LaunchOne(stream) != 0) Add(kFailures);
      }
    }).join();
  }
}

void StartLoad(void (*load)(void*)) {
  threads.emplace_back([load] {
    void* stream = nullptr;
    driver.set_current(driver.context);
    driver.stream_create(&stream, 1);
    load(stream);
    driver.synchronize(stream);
  });
}

}  // namespace
}  // namespace switching

using namespace switching;

extern "C" {

int switching_load(const char* what, const char* cubin) {
  const std::string load = what;
  if (const int status = OpenDriver(cubin); status != 0) return status;
  const bool all = load == "mixed";
  if (all || load == "kernels") StartLoad(LaunchKernels), StartLoad(LaunchKernels);
  if (all || load == "sets") StartLoad(SetMemory), StartLoad(SetMemory);
  if (all || load == "graphs") StartLoad(LaunchGraphs), StartLoad(LaunchGraphs);
  if (all || load == "threads") StartLoad(LaunchFromNewThreads), StartLoad(LaunchFromNewThreads);
  return 0;
}

void switching_end_load(void) {
  stopping = true;
  for (std::thread& load : threads) load.join();
}

}  // extern "C"
