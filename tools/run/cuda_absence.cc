#include "tools/run/cuda_absence.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "collector/text/wrapped_text.h"
#include "proto/ring_abi.h"
#include "tools/run/command_lookup.h"

namespace utlz {
namespace {

// Loading runs no initialization of the driver.
bool DriverCanBeLoaded() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  dlclose(driver);
  return true;
}

// Of what Say() puts before a message.
constexpr size_t kSayColumns = 6;

constexpr uint64_t kRingBytes = kRingHeaderBytes + kRingDefaultDataBytes;

// The command inherits this process's limit.
bool FileLimitIsBelowRing() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < kRingBytes;
}

bool MentionsRay(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(), [](const std::string& argument) {
    return argument == "ray" || argument.find("/ray") != std::string::npos;
  });
}

}  // namespace

CudaAbsenceFacts GatherCudaAbsenceFacts(const std::string& path,
                                        const std::vector<std::string>& command) {
  CudaAbsenceFacts facts;
  facts.driver_found = DriverCanBeLoaded();
  facts.gpu_found = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  facts.statically_linked = IsStaticallyLinked(path);
  facts.raised_privileges = RaisedPrivilegesWarning(path).has_value();
  facts.file_limit_too_low = FileLimitIsBelowRing();
  facts.command = command;
  return facts;
}

std::vector<std::string> ExplainCudaAbsence(const CudaAbsenceFacts& facts) {
  std::vector<std::string> sentences = {
      "NO PROCESS OF THIS COMMAND USED CUDA: there is nothing to report. Perhaps:"};
  const auto add = [&sentences](const std::string& reason) { sentences.push_back(reason); };
  if (!facts.driver_found) {
    add("There is no NVIDIA driver here (libcuda.so.1 cannot be loaded): install it, or in a "
        "container pass the GPU through.");
  } else if (!facts.gpu_found) {
    add("There is a driver but no GPU device (/dev/nvidiactl): in a container pass the GPU "
        "through.");
  }
  if (facts.file_limit_too_low) {
    add(
        absl::StrCat("The limit of the size of a file (ulimit -f) is too low for the agent, which "
                     "shares one of ",
                     (kRingBytes >> 20) + 1, " MiB with utlz: raise it (ulimit -f unlimited)."));
  }
  if (facts.raised_privileges) {
    add("The command starts with raised privileges, which drops the variable that loads the agent: "
        "profile the program that it starts instead.");
  }
  if (facts.statically_linked) {
    add("The command is statically linked and may bring its own CUDA: profile a dynamically linked "
        "build.");
  }
  if (MentionsRay(facts.command)) {
    add("Ray's workers are started by a daemon that may be older than this command: start the "
        "cluster itself with `utlz run ray start …`.");
  }
  add("The work was done by processes that were already running (a Ray or Dask cluster, a server): "
      "start those with `utlz run`, or use `utlz attach`.");
  add("The command left a process in the background, and ended before that used a GPU: run it in "
      "the foreground, or use `utlz attach`.");
  add("The program cleaned its environment or became another user (sudo and su do both: put utlz "
      "behind them), or another injection library was set inside it (CUDA_INJECTION64_PATH).");
  add("The program found no GPU and fell back to the CPU, or ended before it used one.");
  return sentences;
}

std::string CudaAbsenceMessage(const std::vector<std::string>& sentences, size_t columns) {
  std::string text;
  for (const std::string& sentence : sentences) {
    text += text.empty() ? Wrap(sentence, columns, kSayColumns, kSayColumns)
                         : Wrap("- " + sentence, columns, 4, 2);
  }
  // Say() begins the first line, and ends the last one.
  return text.substr(kSayColumns, text.size() - kSayColumns - 1);
}

}  // namespace utlz
