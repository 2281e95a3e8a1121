#include "collector/session/agent_trouble.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/text/process_naming.h"

namespace utlz {

std::string OffSentence(AgentReason reason, uint32_t detail) {
  switch (reason) {
    case AgentReason::kNoCupti:
      return "no CUPTI library was found; install the CUDA toolkit or the nvidia-cuda-cupti wheel, "
             "or name a libcupti with --cupti";
    case AgentReason::kCuptiTooOld:
      return "its CUPTI is older than 12.6; update the framework or toolkit that it comes from";
    case AgentReason::kCuptiTaken:
      return "another profiler holds CUPTI there; run without it (nsys, ncu, another injection "
             "library or a profiler inside the program)";
    case AgentReason::kCuptiError:
      return absl::StrCat("CUPTI refused with error ", detail);
    case AgentReason::kNoMemory:
      return "there was no memory for the agent, or the process may write no file of 9 MiB "
             "(ulimit -f)";
    case AgentReason::kUserChanged:
      return "it has changed its user since its agent came, or must not be traced by its user "
             "(PR_SET_DUMPABLE); attach as root";
    case AgentReason::kLibraryNotTaken:
      return "its agent takes a library only from who may trace the process; attach without "
             "--cupti, or name the libcupti when it is started (utlz run --preload --cupti)";
    case AgentReason::kOtherRelease:
      return "its agent is of another utlz release; attach with the one that loaded it";
    default:
      return absl::StrCat("its agent switched itself off (reason ", static_cast<uint32_t>(reason),
                          ")");
  }
}

std::string UnansweredSentence(uint64_t processes) {
  if (processes == 0) return "";
  return absl::StrCat(processes, processes == 1 ? " process is" : " processes are",
                      " not recorded from the start: the collector was too busy to answer within "
                      "1 s. Leave it a core, or start the program again.");
}

void AgentTrouble::AddUnanswered(uint64_t count) { unanswered_ += count; }

void AgentTrouble::AddOff(pid_t pid, AgentReason reason, uint32_t detail) {
  // A child of fork without exec cannot use CUDA: nothing is lost there.
  if (reason == AgentReason::kNone || reason == AgentReason::kForked) return;
  off_[{reason, detail}].push_back(pid);
}

void AgentTrouble::AddBrokenRing(pid_t pid, std::string_view rule) {
  broken_[std::string(rule)].push_back(pid);
}

void AgentTrouble::AddRefused(std::string_view why) { ++refused_[std::string(why)]; }

uint64_t AgentTrouble::left_out() const {
  uint64_t count = unanswered_;
  for (const auto& [why, refused] : refused_) count += refused;
  return count;
}

void AgentTrouble::AddOutliving(pid_t pid) { outliving_.push_back(pid); }

void AgentTrouble::AddMetAnew(pid_t pid, uint64_t since_ns, uint64_t now_ns) {
  met_anew_.push_back(pid);
  longest_alone_ns_ = std::max(longest_alone_ns_, now_ns - std::min(since_ns, now_ns));
}

void AgentTrouble::AddThrottled(pid_t pid) { throttled_.push_back(pid); }

std::vector<std::string> AgentTrouble::Sentences() const {
  std::vector<std::string> sentences;
  for (const auto& [key, pids] : off_) {
    sentences.push_back(absl::StrCat("Not traced: ", NameProcesses(pids), ": ",
                                     OffSentence(key.first, key.second), "."));
  }
  for (const auto& [rule, pids] : broken_) {
    sentences.push_back(absl::StrCat("The data of ", NameProcesses(pids), " stopped making sense (",
                                     rule, "); what came before it is kept."));
  }
  for (const auto& [why, count] : refused_) {
    sentences.push_back(
        absl::StrCat(count, count == 1 ? " agent was" : " agents were", " refused: ", why, "."));
  }
  if (unanswered_ != 0) sentences.push_back(UnansweredSentence(unanswered_));
  if (!outliving_.empty()) {
    sentences.push_back(absl::StrCat("Still running when the profile was closed: ",
                                     NameProcesses(outliving_), "; what followed is not in it."));
  }
  if (!met_anew_.empty()) {
    sentences.push_back(absl::StrFormat(
        "Met while running: %s had no collector before, for up to %.1f s; what was done meanwhile "
        "is in no profile.",
        NameProcesses(met_anew_), static_cast<double>(longest_alone_ns_) * 1e-9));
  }
  if (!throttled_.empty()) {
    sentences.push_back(
        absl::StrCat("Read no faster than the collector allows: ", NameProcesses(throttled_),
                     "; what did not fit into the ring meanwhile was dropped."));
  }
  return sentences;
}

}  // namespace utlz
