// Why processes were not profiled, or not to their end, as sentences for the report.
#ifndef UTLZ_COLLECTOR_SESSION_AGENT_TROUBLE_H_
#define UTLZ_COLLECTOR_SESSION_AGENT_TROUBLE_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/ring_abi.h"

namespace utlz {

// Empty where none was left without an answer.
std::string UnansweredSentence(uint64_t processes);

// Why an agent is off, as the rest of a sentence.
std::string OffSentence(AgentReason reason, uint32_t detail);

class AgentTrouble {
 public:
  void AddOff(pid_t pid, AgentReason reason, uint32_t detail);
  void AddBrokenRing(pid_t pid, std::string_view rule);
  // Agents that gave up, or were gone, before they were answered.
  void AddUnanswered(uint64_t count);
  void AddRefused(std::string_view why);  // a hello that led to no source
  void AddOutliving(pid_t pid);           // ran on after the command had ended
  // Was recorded by nobody since then; the times may be anything.
  void AddMetAnew(pid_t pid, uint64_t since_ns, uint64_t now_ns);
  void AddThrottled(pid_t pid);  // sent more than is read

  // Agents that led to no source: unanswered or refused.
  uint64_t left_out() const;

  // One sentence for each kind of trouble, with the number of processes and some of them by name.
  std::vector<std::string> Sentences() const;

 private:
  std::map<std::pair<AgentReason, uint32_t>, std::vector<pid_t>> off_;
  std::map<std::string, std::vector<pid_t>, std::less<>> broken_;
  std::map<std::string, uint64_t, std::less<>> refused_;
  uint64_t unanswered_ = 0;
  std::vector<pid_t> outliving_;
  std::vector<pid_t> met_anew_;
  uint64_t longest_alone_ns_ = 0;
  std::vector<pid_t> throttled_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_AGENT_TROUBLE_H_
