#include "tools/attach_session/server_processes.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/sampler_name.h"
#include "tools/attach/agent_link.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/target/process_facts.h"

namespace utlz {
namespace {

// /proc/PID/stat: pid (name) state parent group …; the name may hold anything.
std::optional<ProcessKinship> ReadKinship(pid_t pid) {
  const auto text = attach::ReadSmallFile(absl::StrCat("/proc/", pid, "/stat"), 4096);
  if (!text.ok()) return std::nullopt;
  const size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(text->substr(name_end + 1), ' ', absl::SkipEmpty());
  ProcessKinship kinship;
  if (parts.size() < 3 || !absl::SimpleAtoi(parts[1], &kinship.parent) ||
      !absl::SimpleAtoi(parts[2], &kinship.group)) {
    return std::nullopt;
  }
  return kinship;
}

std::map<pid_t, ProcessKinship> ReadAllKinships() {
  std::map<pid_t, ProcessKinship> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    if (const auto kinship = ReadKinship(pid)) processes.emplace(pid, *kinship);
  }
  return processes;
}

}  // namespace

std::vector<pid_t> Relatives(const std::map<pid_t, ProcessKinship>& processes,
                             const std::vector<pid_t>& pids, pid_t own_group) {
  std::set<pid_t> found(pids.begin(), pids.end());
  std::set<pid_t> groups;
  for (const pid_t pid : pids) {
    const auto process = processes.find(pid);
    if (process != processes.end() && process->second.group != own_group) {
      groups.insert(process->second.group);
    }
  }
  // Parents may have higher numbers than their children: until nothing is added any more.
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (const auto& [pid, kinship] : processes) {
      if (found.contains(kinship.parent) || groups.contains(kinship.group)) found.insert(pid);
    }
  }
  return {found.begin(), found.end()};
}

// A child of fork has its parent's libraries and makes no use of CUDA: where the parent has an
// agent, the child has its library and not its thread. utlz's own samplers use CUDA for no program.
bool UsesCuda(pid_t pid) {
  const auto facts = attach::ReadProcessFacts(pid);
  return facts.ok() && facts->has_cuda_driver && facts->name != kSamplerProcessName &&
         attach::ReadAgentPresence(pid) != attach::AgentPresence::kWithoutThread;
}

std::vector<pid_t> ServerProcesses(const std::vector<pid_t>& pids) {
  std::vector<pid_t> users = Relatives(ReadAllKinships(), pids, getpgrp());
  std::erase_if(users, [](pid_t pid) { return pid == getpid() || !UsesCuda(pid); });
  return users.empty() ? pids : users;
}

}  // namespace utlz
