#include "collector/sampler/doctor/system_facts.h"

#include <stdlib.h>

#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/sampler/counters/source_reason.h"
#include "collector/sampler/driver/system_files.h"

namespace utlz {
namespace {

constexpr int kCapabilitySysPtrace = 19;
constexpr int kCapabilitySysAdmin = 21;

// `none`, or a warning that names the programs which run.
DoctorFact RunningFact(DoctorFact none, const std::vector<std::string>& running,
                       const std::string& remedy) {
  if (running.empty()) return none;
  return {.name = none.name,
          .status = FactStatus::kWarning,
          .detail = absl::StrJoin(running, ", "),
          .remedy = remedy};
}

}  // namespace

DoctorFact CounterPermissionFact(const std::string& root) {
  DoctorFact fact{.name = "counter permission"};
  const std::optional<std::string> parameters = ReadSystemText(root + "/proc/driver/nvidia/params");
  if (!parameters.has_value()) {
    fact.detail = "the driver's parameters cannot be read";
    return fact;
  }
  if (CountersAreOpenToAll(root)) {
    fact.status = FactStatus::kGood;
    fact.detail = "open to every user";
  } else if (HasCapability(root, kCapabilitySysAdmin)) {
    fact.status = FactStatus::kGood;
    fact.detail = "for administrators only, and this is one";
  } else {
    fact.status = FactStatus::kBad;
    fact.detail = "for administrators only";
    fact.remedy = kCounterPermissionRemedy;
  }
  return fact;
}

DoctorFact InjectionFact() {
  DoctorFact fact{.name = "injection", .status = FactStatus::kGood, .detail = "free"};
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* path = getenv(variable);
    if (path == nullptr || *path == '\0') continue;
    const bool for_all = std::string_view(variable).starts_with("CUDA");
    fact.status = for_all ? FactStatus::kBad : FactStatus::kWarning;
    fact.detail = absl::StrCat(variable, " is set to ", path, ": 'utlz run",
                               for_all ? "" : " --nvtx", "' is refused");
    fact.remedy = absl::StrCat("unset ", variable);
    if (for_all) break;
  }
  return fact;
}

DoctorFact OtherProfilersFact(const std::string& root) {
  return RunningFact(
      {.name = "other profilers", .status = FactStatus::kGood, .detail = "none runs"},
      RunningPrograms(
          root, {"nv-hostengine", "dcgm-exporter", "ncu", "nsys", "nsys-launcher", "nsight-sys"}),
      "where the counters are busy: end these while utlz runs, or pause DCGM's with 'dcgmi profile "
      "--pause'");
}

DoctorFact MpsFact(const std::string& root) {
  // The kernel cuts a program's name after 15 characters.
  return RunningFact({.name = "MPS", .status = FactStatus::kGood, .detail = "not running"},
                     RunningPrograms(root, {"nvidia-cuda-mps", "nvidia-cuda-mps-control"}),
                     "kernels of processes that share a GPU through MPS overlap: run the job "
                     "without MPS for figures by kernel ('echo quit | nvidia-cuda-mps-control')");
}

DoctorFact PtraceFact(const std::string& root) {
  DoctorFact fact{.name = "attaching"};
  if (HasCapability(root, kCapabilitySysPtrace)) {
    fact.status = FactStatus::kGood;
    fact.detail = "allowed: CAP_SYS_PTRACE is held";
    return fact;
  }
  const std::optional<std::string> text =
      ReadSystemText(root + "/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  if (text.has_value() && !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &scope)) {
    fact.detail = "ptrace_scope cannot be read";
    return fact;
  }
  if (scope == 0) {
    fact.status = FactStatus::kGood;
    fact.detail = "allowed for this user's own processes";
    return fact;
  }
  fact.status = FactStatus::kWarning;
  fact.detail = absl::StrCat("not allowed: kernel.yama.ptrace_scope is ", scope);
  fact.remedy = scope >= 3
                    ? "it stays so until a reboot; start programs with 'utlz run --preload'"
                    : "run 'utlz attach' as root, in a container with CAP_SYS_PTRACE (docker run "
                      "--cap-add=SYS_PTRACE), set 'sysctl kernel.yama.ptrace_scope=0', or start "
                      "programs with 'utlz run --preload'";
  return fact;
}

}  // namespace utlz
