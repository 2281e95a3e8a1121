// Why a command may have used no CUDA that utlz could see.
#ifndef UTLZ_TOOLS_RUN_CUDA_ABSENCE_H_
#define UTLZ_TOOLS_RUN_CUDA_ABSENCE_H_

#include <string>
#include <vector>

namespace utlz {

// What is known about this machine and this command.
struct CudaAbsenceFacts {
  bool driver_found = true;        // libcuda.so.1 can be loaded
  bool gpu_found = true;           // /dev/nvidiactl or WSL's /dev/dxg
  bool statically_linked = false;  // the command itself
  bool raised_privileges = false;
  bool file_limit_too_low = false;  // ulimit -f allows no file of the size of an agent's ring
  std::vector<std::string> command;
};

CudaAbsenceFacts GatherCudaAbsenceFacts(const std::string& path,
                                        const std::vector<std::string>& command);

// For a person: the fact first, then reasons, likeliest first, each with its remedy.
std::vector<std::string> ExplainCudaAbsence(const CudaAbsenceFacts& facts);

// The same as a message for Say(), in lines of at most `columns`.
std::string CudaAbsenceMessage(const std::vector<std::string>& sentences, size_t columns);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_CUDA_ABSENCE_H_
