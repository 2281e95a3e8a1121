#include "collector/run/step_kernel.h"

#include "collector/kernel_names/kernel_name.h"

namespace utlz {

bool StepKernel::Marks(uint32_t kernel, const KernelTable& kernels) {
  if (name_.empty() || kernel >= kernels.kernels().size()) return false;
  if (kernel >= answers_.size()) answers_.resize(kernels.kernels().size(), Answer::kUnread);
  Answer& answer = answers_[kernel];
  if (answer == Answer::kUnread) {
    const std::string name = DemangleKernelName(kernels[kernel].mangled_name);
    answer = name.find(name_) != std::string::npos ? Answer::kYes : Answer::kNo;
  }
  return answer == Answer::kYes;
}

}  // namespace utlz
