#include "collector/diagnosis/cupti_notices.h"

#include <map>
#include <vector>

#include "collector/text/process_naming.h"

namespace utlz {
namespace {

constexpr char kElsewhere[] = "; CUPTI was looked for as without --cupti";

std::string DescribeSecondCopy(const Process& process) {
  return "kernels were traced through " + process.cupti_path() +
         ", another libcupti than the program's own (" + process.other_cupti_path() +
         "), so torch.profiler and others that use the latter see no kernels until the process "
         "ends";
}

}  // namespace

std::string DescribeNamedCupti(NamedCupti fate, const std::string& path, const std::string& error) {
  const std::string file = "the file that --cupti names, " + path + ", ";
  switch (fate) {
    case NamedCupti::kNone:
    case NamedCupti::kUsed:
      return "";
    case NamedCupti::kNotLoadable:
      return file + "could not be loaded" + (error.empty() ? "" : " (" + error + ")") +
             ": name one that was made for this machine and that the process may read" + kElsewhere;
    case NamedCupti::kIncomplete:
      return file + "is no libcupti, or lacks what 12.6 has: name another" + kElsewhere;
    case NamedCupti::kTooOld:
      return file + "is older than CUPTI 12.6: name a newer one" + kElsewhere;
    case NamedCupti::kKept:
      return file +
             "was not loaded: the agent keeps the libcupti of an earlier attachment until the "
             "process "
             "ends";
  }
  return "";
}

void AddCuptiNotices(const RunState& state, Summary* summary) {
  std::map<std::string, std::vector<pid_t>> sentences;
  for (const auto& [source, process] : state.processes.processes()) {
    const Process& info = process->info;
    const auto pid = static_cast<pid_t>(info.host_pid() != 0 ? info.host_pid() : info.pid());
    const std::string named = DescribeNamedCupti(static_cast<NamedCupti>(info.named_cupti()),
                                                 info.named_cupti_path(), info.named_cupti_error());
    if (!named.empty()) sentences[named].push_back(pid);
    if (!info.other_cupti_path().empty()) sentences[DescribeSecondCopy(info)].push_back(pid);
  }
  for (const auto& [sentence, pids] : sentences) {
    summary->mutable_run()->add_notices("In " + NameProcesses(pids) + " " + sentence + ".");
  }
}

}  // namespace utlz
