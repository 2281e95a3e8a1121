#include "tools/demo_load/load.h"

#include <algorithm>

#include "tools/demo_load/kernels_ptx.h"

namespace utlz {
namespace {

constexpr size_t kBufferBytes = size_t{512} << 20;  // far beyond any L2
constexpr size_t kPageableBytes = size_t{16} << 20;
constexpr unsigned kThreads = 256;
constexpr unsigned kStreamBlocks = 4096;
constexpr unsigned kMultiplyAddBlocks = 4096;
constexpr unsigned kMultiplyAddTurns = 4096;
constexpr int kStreamLaunches = 4;
constexpr int kTinyLaunches = 200;
constexpr int kGraphReplays = 4;
constexpr int kCaptureRelaxed = 2;    // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING

}  // namespace

bool DemoLoad::Succeeded(CudaResult result, const char* what) {
  if (result == 0) return true;
  const char* text = nullptr;
  if (driver_.get_error_string(result, &text) != 0 || text == nullptr) text = "unknown error";
  error_ = std::string(what) + ": " + text;
  return false;
}

bool DemoLoad::Prepare() {
  int device = 0;
  CudaHandle context = nullptr;
  char name[256] = {};
  if (!Succeeded(driver_.init(0), "starting CUDA") ||
      !Succeeded(driver_.device_get(&device, 0), "opening the GPU") ||
      !Succeeded(driver_.device_get_name(name, sizeof(name) - 1, device), "naming the GPU") ||
      !Succeeded(driver_.primary_context_retain(&context, device), "making a context") ||
      !Succeeded(driver_.context_set_current(context), "using the context") ||
      !Succeeded(driver_.stream_create(&stream_, kNonBlocking), "making a stream")) {
    return false;
  }
  device_name_ = name;
  return Allocate() && LoadKernels() && CaptureGraph();
}

bool DemoLoad::Allocate() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (!Succeeded(driver_.memory_get_info(&free_bytes, &total_bytes), "asking for memory")) {
    return false;
  }
  // A GPU that others use is left its memory.
  bytes_ = std::min(kBufferBytes, free_bytes / 8) & ~size_t{4095};
  pageable_.assign(std::min(kPageableBytes, bytes_), 1);
  const size_t small_bytes = size_t{kMultiplyAddBlocks} * kThreads * sizeof(float);
  return Succeeded(driver_.memory_allocate(&source_, bytes_), "allocating") &&
         Succeeded(driver_.memory_allocate(&target_, bytes_), "allocating") &&
         Succeeded(driver_.memory_allocate(&small_, small_bytes), "allocating");
}

bool DemoLoad::LoadKernels() {
  CudaHandle module = nullptr;
  return Succeeded(driver_.module_load_data(&module, kDemoKernels), "compiling the kernels") &&
         Succeeded(driver_.module_get_function(&stream_kernel_, module, "utlz_demo_stream"),
                   "finding utlz_demo_stream") &&
         Succeeded(
             driver_.module_get_function(&multiply_add_kernel_, module, "utlz_demo_multiply_add"),
             "finding utlz_demo_multiply_add") &&
         Succeeded(driver_.module_get_function(&tiny_kernel_, module, "utlz_demo_tiny"),
                   "finding utlz_demo_tiny");
}

bool DemoLoad::CaptureGraph() {
  CudaHandle graph = nullptr;
  return Succeeded(driver_.stream_begin_capture(stream_, kCaptureRelaxed), "capturing") &&
         LaunchTiny(kTinyLaunches) &&
         Succeeded(driver_.stream_end_capture(stream_, &graph), "capturing") &&
         Succeeded(driver_.graph_instantiate(&graph_, graph, 0), "instantiating the graph");
}

bool DemoLoad::Launch(CudaHandle function, unsigned blocks, unsigned threads, void** parameters) {
  return Succeeded(
      driver_.launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr),
      "launching");
}

bool DemoLoad::LaunchStream() {
  unsigned long long count = bytes_ / 16;
  void* parameters[] = {&source_, &target_, &count};
  return Launch(stream_kernel_, kStreamBlocks, kThreads, parameters);
}

bool DemoLoad::LaunchMultiplyAdd() {
  unsigned turns = kMultiplyAddTurns;
  void* parameters[] = {&small_, &turns};
  return Launch(multiply_add_kernel_, kMultiplyAddBlocks, kThreads, parameters);
}

bool DemoLoad::LaunchTiny(int times) {
  void* parameters[] = {&small_};
  for (int i = 0; i < times; ++i) {
    if (!Launch(tiny_kernel_, 1, 32, parameters)) return false;
  }
  return true;
}

bool DemoLoad::Step() {
  for (int i = 0; i < kStreamLaunches; ++i) {
    if (!LaunchStream()) return false;
  }
  if (!LaunchMultiplyAdd() || !LaunchTiny(kTinyLaunches)) return false;
  for (int i = 0; i < kGraphReplays; ++i) {
    if (!Succeeded(driver_.graph_launch(graph_, stream_), "launching the graph")) return false;
  }
  return Succeeded(driver_.stream_synchronize(stream_), "waiting for the GPU") &&
         Succeeded(driver_.copy_to_device(target_, pageable_.data(), pageable_.size()), "copying");
}

}  // namespace utlz
