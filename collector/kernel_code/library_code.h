// The code of kernels in a library, a program or a fatbin, as nvcc leaves it in ELF files.
#ifndef UTLZ_COLLECTOR_KERNEL_CODE_LIBRARY_CODE_H_
#define UTLZ_COLLECTOR_KERNEL_CODE_LIBRARY_CODE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/kernel_code/cubin.h"
#include "collector/kernel_code/kernel_code.h"

namespace utlz {

// Whether a file is a 64-bit ELF file with device code in it. Cheap: reads its section headers and
// their names alone.
bool HoldsKernelCode(int library_fd);

// Is called once for each kernel that was found and whose code can be described.
using KernelCodeCallback = std::function<void(const std::string& mangled_name, KernelCode code)>;

// Looks for kernels in one library, as often as it is asked to. The first time it reads all of the
// library's code for a compute capability, and notes where each kernel is, by 16 bytes a kernel.
// Later it reads only the cubins that it needs. Thread safety: none.
class LibraryKernels {
 public:
  // The ELF file behind `library_fd`, wherever it is positioned; the descriptor must stay open.
  // `compute_capability`: 90 for 9.0.
  LibraryKernels(int library_fd, int compute_capability)
      : library_fd_(library_fd), compute_capability_(compute_capability) {}

  // Kernels that are not in the file, or whose code leaves open what it does, are not reported, and
  // are no error.
  //
  // An error where the file is no 64-bit ELF file or cannot be read, or where it asks for more work
  // than any library of NVIDIA or PyTorch. What was reported before is right even so. Takes at most
  // some 320 MiB of memory, and the first time time by the code that the file holds for the compute
  // capability: half a second for PyTorch's library. Not for a thread that others wait for.
  absl::Status Find(const KernelNames& mangled_names, const KernelCodeCallback& found);

 private:
  struct Noted {
    uint64_t name_hash;
    uint64_t place;  // of the cubin's entry
  };
  absl::Status ReadAll(const KernelNames& mangled_names, const KernelCodeCallback& found);
  absl::Status ReadNoted(const KernelNames& mangled_names, const KernelCodeCallback& found) const;
  void Note(std::string_view cubin, uint64_t place);

  int library_fd_;
  int compute_capability_;
  bool is_read_ = false;
  std::vector<Noted> noted_ = {};  // ascending by hash, and for one hash by place
};

// Looks for kernels once, and stops when it has all of them, in bytes in memory: an ELF file with
// fatbins, a fatbin, or a cubin, as programs give them to the CUDA driver.
absl::Status FindKernelCodeInBytes(std::string_view bytes, int compute_capability,
                                   const KernelNames& mangled_names,
                                   const KernelCodeCallback& found);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_CODE_LIBRARY_CODE_H_
