#include "tools/collector_service/attach_rules.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/unique_fd.h"
#include "tools/attach/target/proc_file.h"
#include "tools/exporter/find_places.h"
#include "tools/json/nesting.h"

namespace utlz {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNameBytes = 256;

absl::Status WrongRule(size_t number, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("rule ", number, " ", why));
}

std::optional<uid_t> UserNamed(const std::string& name) {
  uint32_t number = 0;
  const bool is_number = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  if (is_number && absl::SimpleAtoi(name, &number)) return number;
  const passwd* entry = getpwnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::make_optional(entry->pw_uid);
}

absl::StatusOr<AttachRule> RuleOf(const Json& json, size_t number) {
  if (!json.is_object()) return WrongRule(number, "is no object");
  AttachRule rule;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string() || value.get<std::string>().empty()) {
      return WrongRule(number, "has a value that is no text, or an empty one");
    }
    const std::string text = value.get<std::string>();
    if (key == "name") {
      rule.name = text;
    } else if (key == "user") {
      rule.user = UserNamed(text);
      if (!rule.user) return WrongRule(number, "names a user that there is not");
    } else if (key == "cgroup") {
      rule.cgroup = text;
    } else if (key == "pod") {
      rule.pod_uid = text;
    } else {
      return WrongRule(number, "has another key than name, user, cgroup and pod");
    }
  }
  if (rule.name.empty()) return WrongRule(number, "names no process");
  if (!rule.cgroup.empty() && rule.cgroup.size() < 2) {
    return WrongRule(number, "names the control group of everything");
  }
  if (!rule.user && rule.cgroup.empty() && rule.pod_uid.empty()) {
    return WrongRule(number,
                     "has a name alone, which anybody can give to a process: add its user, cgroup "
                     "or pod");
  }
  return rule;
}

// Empty where it cannot be read: the process is gone, or another user's.
std::string ReadText(const std::string& path, size_t most_bytes) {
  return attach::ReadSmallFile(path, most_bytes).value_or("");
}

std::string UnifiedPath(const std::string& cgroup) {
  const size_t begin = cgroup.rfind("0::", 0) == 0 ? 0 : cgroup.find("\n0::");
  if (begin == std::string::npos) return {};
  const size_t path = cgroup.find("::", begin) + 2;
  return cgroup.substr(path, cgroup.find('\n', path) - path);
}

// Users make groups of any name in those that systemd leaves to them, also of a pod's.
std::string PodUidOf(const std::string& cgroup) {
  std::string groups;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(cgroup, '\n'))) {
    if (!absl::StrContains(line, ":/user.slice/")) groups += line + "\n";
  }
  return PlaceIn("", groups).pod_uid;
}

bool IsIn(const std::string& path, std::string_view folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.remove_suffix(1);
  return path == folder ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

}  // namespace

absl::StatusOr<std::vector<AttachRule>> ParseAttachRules(const std::string& text) {
  if (NestsTooDeeply(text)) return absl::InvalidArgumentError("the rules nest too deeply");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return absl::InvalidArgumentError("the rules are no array of JSON");
  if (json.size() > kMostRules) return absl::InvalidArgumentError("there are too many rules");
  std::vector<AttachRule> rules;
  for (const Json& entry : json) {
    absl::StatusOr<AttachRule> rule = RuleOf(entry, rules.size() + 1);
    if (!rule.ok()) return rule.status();
    rules.push_back(*std::move(rule));
  }
  return rules;
}

absl::StatusOr<std::vector<AttachRule>> ReadAttachRules(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.valid() || fstat(file.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read the rules ", path));
  }
  const bool trusted = (status.st_uid == 0 || status.st_uid == geteuid()) &&
                       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!trusted || !S_ISREG(status.st_mode)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the rules ", path, " must be a file of root's or yours that nobody else may write to"));
  }
  if (static_cast<uint64_t>(status.st_size) > kMaxRulesBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the rules ", path, " are too long"));
  }
  // Of the file that was checked: another one may have this name by now.
  const absl::StatusOr<std::string> text = attach::ReadSmallFile(file, path, kMaxRulesBytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<AttachRule>> rules = ParseAttachRules(*text);
  if (rules.ok()) return rules;
  return absl::Status(rules.status().code(), absl::StrCat(path, ": ", rules.status().message()));
}

bool Matches(const AttachRule& rule, const RuleFacts& facts) {
  if (rule.name != facts.program && rule.name != facts.thread) return false;
  if (rule.user && *rule.user != facts.user) return false;
  if (!rule.pod_uid.empty() && rule.pod_uid != facts.pod_uid) return false;
  return rule.cgroup.empty() || IsIn(facts.cgroup, rule.cgroup);
}

std::optional<RuleFacts> ReadRuleFacts(const std::string& proc, pid_t pid) {
  const std::string folder = absl::StrCat(proc, "/", pid);
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) return std::nullopt;
  RuleFacts facts;
  facts.user = status.st_uid;
  const std::string program = attach::ReadLink(folder + "/exe").value_or("");
  facts.program = program.substr(program.rfind('/') + 1);
  facts.thread = ReadText(folder + "/comm", kMaxNameBytes);
  if (!facts.thread.empty() && facts.thread.back() == '\n') facts.thread.pop_back();
  const std::string cgroup = ReadText(folder + "/cgroup", kMaxProcBytes);
  facts.cgroup = UnifiedPath(cgroup);
  facts.pod_uid = PodUidOf(cgroup);
  return facts;
}

}  // namespace utlz
