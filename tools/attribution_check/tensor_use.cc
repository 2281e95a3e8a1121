#include "tools/attribution_check/tensor_use.h"

#include <initializer_list>

#include "absl/strings/ascii.h"

namespace utlz {
namespace {

bool ContainsAny(const std::string& text, std::initializer_list<const char*> marks) {
  for (const char* mark : marks) {
    if (text.find(mark) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

double TensorRate(const std::string& mangled_name) {
  const std::string name = absl::AsciiStrToLower(mangled_name);
  const bool multiplies =
      ContainsAny(name, {"nvjet", "gemm",  "gmma",   "wmma",        "hmma",     "imma",    "qmma",
                         "_mma",  "sdpa",  "flash",  "fmha",        "xmma",     "cutlass", "fprop",
                         "dgrad", "wgrad", "matmul", "triton_tem_", "tensorop", "marlin"});
  const bool reduces = ContainsAny(
      name, {"splitkreduce", "split_k_reduce", "gemv", "gemmk1", "convert_dq", "dot_do_o"});
  const bool on_cores = ContainsAny(name, {"_simt_", "sgemm", "dgemm"}) &&
                        !ContainsAny(name, {"tensorop", "xmma", "nvjet"});
  if (reduces || on_cores) return 0;
  // Families that hold no matrix product unless their name says so.
  if (!multiplies && ContainsAny(name, {"n2at6native", "3cub", "6thrust", "cublaslt", "nccl",
                                        "elementwise", "layer_norm", "softmax", "triton_poi_",
                                        "triton_red_", "triton_per_", "memcpy", "memset"})) {
    return 0;
  }
  if (ContainsAny(name,
                  {"e4m3", "e5m2", "_qq", "nvjet_sm90_q", "nvjet_qq", "i8i8", "s8_", "imma"})) {
    return 2;
  }
  if (ContainsAny(name, {"tf32", "s1688gemm", "sm90_sss", "nvjet_sss", "nvjet_sm90_ss"})) {
    return 0.5;
  }
  return 1;
}

}  // namespace utlz
