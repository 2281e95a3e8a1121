// Modules, functions and kernel launches.
#include <cstring>
#include <string>

#include "tests/fakes/callback_ids.h"
#include "tests/fakes/cuda_driver.h"
#include "tests/fakes/driver_state.h"
#include "tests/fakes/scenario.h"
#include "tests/fakes/simulated_gpu.h"
#include "tests/fakes/visible_devices.h"

namespace utlz::fake {
namespace {

constexpr uint64_t kPtxKernelNs = 1'000'000;

// Parameters as CUPTI's callbacks see them.
struct LaunchKernelParams {
  CUfunction function;
  unsigned int grid_x, grid_y, grid_z;
  unsigned int block_x, block_y, block_z;
  unsigned int shared_bytes;
  CUstream stream;
  void** params;
  void** extra;
};

struct LaunchKernelExParams {
  const CUlaunchConfig* config;
  CUfunction function;
  void** params;
  void** extra;
};

const Function* FromHandle(CUfunction function) {
  return reinterpret_cast<const Function*>(function);
}

LaunchShape ShapeOf(const LaunchKernelParams& params) {
  return {.function = FromHandle(params.function),
          .grid = {params.grid_x, params.grid_y, params.grid_z},
          .block = {params.block_x, params.block_y, params.block_z},
          .dynamic_shared_bytes = params.shared_bytes};
}

void LoadOnce(const Function& function, const Context& context) {
  if (function.loaded.load(std::memory_order_relaxed) || function.loaded.exchange(true)) return;
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer != nullptr) observer->function_loaded(context.id);
}

CUresult Launch(const LaunchShape& shape, CUstream handle, uint32_t correlation) {
  if (const CUresult failure = TakeArrangedFailure(); failure != CUDA_SUCCESS) return failure;
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  LoadOnce(*shape.function, *stream->context);
  if (stream->capture != nullptr) {
    CaptureKernel(stream->capture, shape);
  } else {
    RunKernel(stream, shape, correlation, {});
  }
  return CUDA_SUCCESS;
}

void AddFunction(const KernelImage& kernel, Module* module) {
  auto function = std::make_unique<Function>();
  function->module = module->id;
  function->image = &kernel;
  module->functions[kernel.name] = std::move(function);
}

// A ModuleImage is no text: its magic begins with a letter, PTX with a comment or a directive.
bool IsPtx(const char* image) { return std::strchr("/.\n", image[0]) != nullptr && image[0] != 0; }

// Its kernels do nothing, and take as long each.
void CompilePtx(const char* text, Module* module) {
  constexpr char kEntry[] = ".entry ";
  for (const char* entry = std::strstr(text, kEntry); entry != nullptr;
       entry = std::strstr(entry, kEntry)) {
    entry += sizeof(kEntry) - 1;
    const std::string name(entry, std::strcspn(entry, "( \n\t"));
    auto& [kept_name, kernel] = module->compiled.emplace_back(name, KernelImage{});
    kernel.name = kept_name.c_str();
    kernel.duration_ns = ScenarioNumber("ptx_kernel_ns", kPtxKernelNs);
    AddFunction(kernel, module);
  }
}

void RunOne(Stream* stream, const LaunchShape& shape, uint32_t correlation, GraphPlace graph,
            bool device_launched) {
  const KernelImage& image = *shape.function->image;
  const Interval interval = image.ranks > 1
                                ? ScheduleTogether(stream, image.duration_ns, image.ranks)
                                : Schedule(stream, image.duration_ns);
  const uint32_t device = static_cast<uint32_t>(stream->context->device);
  SimulatedGpu::Instance().Add({interval.start_ns, interval.end_ns, image.tensor_flops,
                                image.dram_read_bytes, image.dram_write_bytes,
                                PhysicalDevice(device), 1});
  const Observer* observer = DriverState::Instance().observer.load();
  if (observer == nullptr) return;
  KernelRun run{};
  run.place = {device,      stream->context->id, stream->id,      correlation,  graph.node,
               graph.graph, interval.start_ns,   interval.end_ns, CurrentFate()};
  run.image = &image;
  for (int i = 0; i < 3; ++i) {
    run.grid[i] = shape.grid[i];
    run.block[i] = shape.block[i];
    run.cluster[i] = shape.cluster[i];
  }
  run.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  run.grid_id = DriverState::Instance().next_grid_id.fetch_add(1);
  run.cooperative = shape.cooperative;
  run.device_launched = device_launched;
  observer->kernel(run);
}

}  // namespace

void RunKernel(Stream* stream, const LaunchShape& shape, uint32_t correlation, GraphPlace graph) {
  RunOne(stream, shape, correlation, graph, false);
  const KernelImage& image = *shape.function->image;
  if (image.device_child == nullptr) return;
  Function child_function;
  child_function.module = shape.function->module;
  child_function.image = image.device_child;
  LaunchShape child = shape;
  child.function = &child_function;
  for (uint32_t i = 0; i < image.device_launches; ++i) {
    RunOne(stream, child, correlation, graph, true);
  }
}

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  ApiScope scope(kCallModuleLoadData, "cuModuleLoadData", nullptr);
  Module* made = new Module;
  made->id = DriverState::Instance().next_module_id.fetch_add(1);
  const auto* content = static_cast<const ModuleImage*>(image);
  if (IsPtx(static_cast<const char*>(image))) {
    CompilePtx(static_cast<const char*>(image), made);
  } else if (content->magic == kModuleMagic) {
    for (uint32_t i = 0; i < content->kernel_count; ++i) AddFunction(content->kernels[i], made);
  } else {
    delete made;
    return scope.Return(CUDA_ERROR_INVALID_VALUE);
  }
  *module = reinterpret_cast<CUmodule>(made);
  NotifyResource(kModuleLoaded, CurrentContext(), nullptr, &made->id);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule handle) {
  ApiScope scope(kCallModuleUnload, "cuModuleUnload", &handle);
  Module* module = reinterpret_cast<Module*>(handle);
  NotifyResource(kModuleUnloadStarting, CurrentContext(), nullptr, &module->id);
  delete module;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  ApiScope scope(kCallModuleGetFunction, "cuModuleGetFunction", nullptr);
  Module* module = reinterpret_cast<Module*>(handle);
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return scope.Return(CUDA_ERROR_NOT_FOUND);
  *function = reinterpret_cast<CUfunction>(found->second.get());
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** params, void** extra) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  const LaunchKernelParams seen = {function, grid_x,       grid_y, grid_z, block_x, block_y,
                                   block_z,  shared_bytes, stream, params, extra};
  ApiScope scope(kCallLaunchKernel, "cuLaunchKernel", &seen);
  return scope.Return(Launch(ShapeOf(seen), stream, scope.correlation()));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void** params) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  const LaunchKernelParams seen = {function, grid_x,       grid_y, grid_z, block_x, block_y,
                                   block_z,  shared_bytes, stream, params, nullptr};
  ApiScope scope(kCallLaunchCooperativeKernel, "cuLaunchCooperativeKernel", &seen);
  LaunchShape shape = ShapeOf(seen);
  shape.cooperative = true;
  return scope.Return(Launch(shape, stream, scope.correlation()));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void** extra) {
  if (!Ready()) return CUDA_ERROR_NOT_INITIALIZED;
  const LaunchKernelExParams seen = {config, function, params, extra};
  ApiScope scope(kCallLaunchKernelEx, "cuLaunchKernelEx", &seen);
  LaunchShape shape = {.function = FromHandle(function),
                       .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                       .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                       .dynamic_shared_bytes = config->sharedMemBytes};
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      shape.cooperative = attribute.value.cooperative != 0;
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      shape.cluster[0] = attribute.value.clusterDim.x;
      shape.cluster[1] = attribute.value.clusterDim.y;
      shape.cluster[2] = attribute.value.clusterDim.z;
    }
  }
  return scope.Return(Launch(shape, config->hStream, scope.correlation()));
}

}  // extern "C"
}  // namespace utlz::fake
