// The load itself: steps in which each kind of trouble can be seen once.
#ifndef UTLZ_TOOLS_DEMO_LOAD_LOAD_H_
#define UTLZ_TOOLS_DEMO_LOAD_LOAD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "collector/sampler/driver/cuda_driver.h"

namespace utlz {

class DemoLoad {
 public:
  explicit DemoLoad(const CudaDriver& driver) : driver_(driver) {}

  // Every function below is false after a failure, which error() describes.
  bool Prepare();
  // One step: copies bound by memory, arithmetic, tiny launches one by one, the same tiny launches
  // as one CUDA graph, and a copy from pageable memory for which the GPU waits.
  bool Step();

  const std::string& error() const { return error_; }
  const std::string& device_name() const { return device_name_; }

 private:
  bool Succeeded(CudaResult result, const char* what);
  bool Allocate();
  bool LoadKernels();
  bool CaptureGraph();
  bool Launch(CudaHandle function, unsigned blocks, unsigned threads, void** parameters);
  bool LaunchStream();
  bool LaunchMultiplyAdd();
  bool LaunchTiny(int times);

  const CudaDriver& driver_;
  std::string error_;
  std::string device_name_;
  size_t bytes_ = 0;
  CudaPointer source_ = 0;
  CudaPointer target_ = 0;
  CudaPointer small_ = 0;
  CudaHandle stream_ = nullptr;
  CudaHandle stream_kernel_ = nullptr;
  CudaHandle multiply_add_kernel_ = nullptr;
  CudaHandle tiny_kernel_ = nullptr;
  CudaHandle graph_ = nullptr;
  std::vector<char> pageable_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_DEMO_LOAD_LOAD_H_
