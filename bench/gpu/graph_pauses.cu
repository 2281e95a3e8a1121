// What becomes of the records of graph nodes when kernel tracing is switched off and on under
// replays of the graph? A bare CUPTI program, to tell CUPTI's doing from utlz's.
//
//   nvcc -O2 -std=c++17 -arch=native -o graph_pauses bench/gpu/graph_pauses.cu -lcupti -lcuda
//   graph_pauses late|late-twice|early|early-twice|graph-trace|context-late|context-early|context-over
//
// late, early: the graph is instantiated before or after tracing begins. twice: each switch-off is
// followed by another enable and disable. graph-trace: graph-level records are on in the pauses.
// context: the kind is switched for the context; over: and is on for the process throughout.
// Prints the time of a replay traced and in pauses, and for each traced window how many records
// there were, how many without times, and how many of absurd length.
#include <cuda_runtime.h>
#include <cupti.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kNodes = 138;
constexpr int kReplaysInFlight = 4;
constexpr int kPauses = 4;
constexpr size_t kBufferBytes = 1 << 20;
// Every node takes about 4 µs.
constexpr uint64_t kAbsurdNs = 20'000;

using std::chrono::milliseconds;

struct Seen {
  std::mutex mutex;
  uint64_t records = 0, untimed = 0, absurd = 0, graphs = 0;
};
// Never destroyed: CUPTI's thread may still deliver when main() has returned.
Seen& seen = *new Seen;

void Check(int result, const char* what) {
  if (result != 0) std::printf("  %s failed: %d\n", what, result);
}

void RequestBuffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void CompleteBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  const std::lock_guard<std::mutex> lock(seen.mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) ++seen.graphs;
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    ++seen.records;
    if (kernel->start == 0 || kernel->end == 0) {
      ++seen.untimed;
    } else if (kernel->end - kernel->start > kAbsurdNs) {
      ++seen.absurd;
    }
  }
  std::free(buffer);
}

__global__ void Work(float* data, int rounds) {
  float value = data[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 1.0001f + 0.5f;
  data[threadIdx.x] = value;
}

class Replays {
 public:
  void Instantiate() {
    float* data = nullptr;
    cudaGraph_t graph = nullptr;
    Check(cudaMalloc(&data, 4096), "cudaMalloc");
    Check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    Check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    for (int i = 0; i < kNodes; ++i) Work<<<132, 256, 0, stream_>>>(data, 900);
    Check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    Check(cudaGraphInstantiate(&exec_, graph, 0), "cudaGraphInstantiate");
  }
  void Begin() {
    thread_ = std::thread([this] {
      for (uint64_t i = 1; !stop_; ++i, ++replays_) {
        cudaGraphLaunch(exec_, stream_);
        if (i % kReplaysInFlight == 0) cudaStreamSynchronize(stream_);
      }
      cudaStreamSynchronize(stream_);
    });
  }
  void End() {
    stop_ = true;
    thread_.join();
  }
  double MicrosecondsEach(milliseconds time) const {
    const uint64_t before = replays_;
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(time);
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - begin;
    return passed.count() / static_cast<double>(replays_ - before);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> replays_{0};
  std::thread thread_;
};

CUcontext switched_context = nullptr;  // null: the whole process

void Switch(CUpti_ActivityKind kind, bool on) {
  if (switched_context != nullptr) {
    return Check(on ? cuptiActivityEnableContext(switched_context, kind)
                    : cuptiActivityDisableContext(switched_context, kind),
                 "switching a kind of the context");
  }
  Check(on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind), "switching a kind");
}

// What has been recorded since the last call.
void Tell(const char* what, double replay_us) {
  cuptiActivityFlushAll(0);
  std::this_thread::sleep_for(milliseconds(30));
  cuptiActivityFlushAll(1);
  const std::lock_guard<std::mutex> lock(seen.mutex);
  std::printf("  %s: %.1f us a replay; %llu records, %llu without times, %llu absurd; %llu graphs\n",
              what, replay_us, static_cast<unsigned long long>(seen.records),
              static_cast<unsigned long long>(seen.untimed),
              static_cast<unsigned long long>(seen.absurd),
              static_cast<unsigned long long>(seen.graphs));
  std::fflush(stdout);
  seen.records = seen.untimed = seen.absurd = seen.graphs = 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "late";
  const bool early = way.find("early") != std::string::npos;
  const bool twice = way.find("twice") != std::string::npos;
  const bool graph_trace = way == "graph-trace";
  constexpr auto kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

  Check(cudaFree(nullptr), "cudaFree");
  Check(cuptiActivityRegisterCallbacks(RequestBuffer, CompleteBuffer), "registering callbacks");
  if (way == "context-over") Switch(kKernels, true);
  if (way.rfind("context", 0) == 0) Check(cuCtxGetCurrent(&switched_context), "cuCtxGetCurrent");
  if (early) Switch(kKernels, true);
  Replays replays;
  replays.Instantiate();
  replays.Begin();
  std::this_thread::sleep_for(milliseconds(200));
  std::printf("%s\n  at first: %.1f us a replay\n", way.c_str(),
              replays.MicrosecondsEach(milliseconds(300)));
  if (!early) Switch(kKernels, true);
  Tell("traced", replays.MicrosecondsEach(milliseconds(250)));
  for (int pause = 0; pause < kPauses; ++pause) {
    Switch(kKernels, false);
    if (twice) {
      Switch(kKernels, true);
      Switch(kKernels, false);
    }
    if (graph_trace) Switch(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, true);
    Tell("paused", replays.MicrosecondsEach(milliseconds(250)));
    if (graph_trace) Switch(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, false);
    Switch(kKernels, true);
    Tell("traced", replays.MicrosecondsEach(milliseconds(80)));
  }
  replays.End();
}
