// Subscribes to CUPTI's callbacks while another thread launches without pause, as
// docs/decisions/0018-the-first-subscription-comes-early.md speaks of it.
//
//   nvcc -O2 -std=c++17 -arch=native -cudart static -o first_subscription \
//        bench/gpu/first_subscription.cu -lcuda -lcupti
//   first_subscription recording|prepared|late kernels|sets
//
// recording: kinds of records are on before the first subscription
// prepared:  a first subscription came and went before that, and before anything was launched
// late:      the same, but while the other thread launches already
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr size_t kBufferBytes = 128 << 10;
std::atomic<bool> stop{false};

__global__ void Empty() {}

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void Complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) { free(buffer); }

void Ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void Pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void LaunchUntilStopped(bool sets) {
  void* memory = nullptr;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&memory, 4096);
  while (!stop) {
    if (sets) {
      cudaMemsetAsync(memory, 0, 4096, stream);
    } else {
      Empty<<<1, 32, 0, stream>>>();
    }
  }
  cudaStreamSynchronize(stream);
}

void Subscribe(int milliseconds) {
  CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, Ignore, nullptr) != CUPTI_SUCCESS) _Exit(2);
  if (milliseconds > 0) {
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    Pause(milliseconds);
    cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  }
  cuptiUnsubscribe(subscriber);
}

void SwitchOn() {
  cuptiActivityRegisterCallbacks(Request, Complete);
  for (const CUpti_ActivityKind kind : kKinds) cuptiActivityEnable(kind);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string state = argv[1];
  if (state == "prepared") Subscribe(0);
  if (state != "late") SwitchOn();
  if (cudaFree(nullptr) != cudaSuccess) return 77;
  std::thread launches(LaunchUntilStopped, std::string(argv[2]) == "sets");
  Pause(100);
  if (state == "late") {
    Subscribe(0);
    CUcontext context;
    cuCtxGetCurrent(&context);
    cuptiActivityRegisterCallbacks(Request, Complete);
    for (const CUpti_ActivityKind kind : kKinds) cuptiActivityEnableContext(context, kind);
    Pause(50);
  }
  for (int i = 0; i < 5; ++i) {
    Subscribe(10);
    Pause(10);
  }
  stop = true;
  launches.join();
  _Exit(0);
}
