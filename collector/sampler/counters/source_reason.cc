#include "collector/sampler/counters/source_reason.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace utlz {

const char kCounterPermissionRemedy[] =
    "run utlz as root or with CAP_SYS_ADMIN, or open the counters to everybody: put 'options "
    "nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia-profiling.conf and reload "
    "the driver or reboot";

SourceReason ExplainCounterFailure(const absl::Status& status) {
  const std::string text(status.message());
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return {};
    case absl::StatusCode::kPermissionDenied:
      return {absl::StrCat("this user may not read the GPU's counters: ", text),
              kCounterPermissionRemedy, true};
    case absl::StatusCode::kUnimplemented:
      return {absl::StrCat("this GPU's counters cannot be sampled: ", text),
              "sampling needs a Turing or newer GPU without MIG, vGPU or confidential computing",
              true};
    case absl::StatusCode::kUnavailable:
      if (absl::StrContains(text, "another utlz")) {
        return {text,
                "it is another user's, in another container or of another release, or it would "
                "share them: end it or wait for it; utlz keeps trying",
                false};
      }
      return {absl::StrCat("another profiler holds the GPU's counters: ", text),
              "end Nsight Compute or Nsight Systems, or pause DCGM with 'dcgmi profile --pause'; "
              "utlz keeps trying",
              false};
    case absl::StatusCode::kFailedPrecondition:
      return {absl::StrCat("the GPU's counters are in use: ", text),
              "end other profilers on this GPU; utlz keeps trying", false};
    default:
      return {absl::StrCat("the GPU's counters failed: ", text),
              "run 'utlz doctor'; utlz keeps trying", false};
  }
}

SourceReason ExplainMissingCupti(const absl::Status& status,
                                 const std::vector<std::string>& passed_over) {
  std::string reason(status.message());
  if (!passed_over.empty()) {
    absl::StrAppend(&reason, "; ", passed_over.front(),
                    " is passed over, since others than root and this user may change it");
  }
  return {reason,
          "install CUPTI 12.6 or newer (part of the CUDA toolkit, package cuda-cupti), or name a "
          "libcupti with --cupti",
          true};
}

}  // namespace utlz
