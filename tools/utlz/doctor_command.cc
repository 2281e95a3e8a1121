#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/sampler/doctor/doctor_facts.h"
#include "collector/text/shown_text.h"
#include "tools/utlz/command.h"
#include "tools/utlz/load_summaries.h"
#include "tools/utlz/path_fact.h"

namespace utlz {
namespace {

struct DoctorArguments {
  DoctorOptions options;
  bool json = false;
};

std::string RenderText(const std::vector<DoctorFact>& facts) {
  std::string text;
  for (const DoctorFact& fact : facts) {
    absl::StrAppendFormat(&text, "%-8s %s: %s\n", FactStatusName(fact.status), fact.name,
                          EscapeForTerminal(fact.detail));
    if (!fact.remedy.empty()) absl::StrAppendFormat(&text, "         → %s\n", fact.remedy);
  }
  absl::StrAppend(&text, "\n",
                  FullJobCanRun(facts)
                      ? "The full job can run here: times, FLOPs and bytes of every kernel."
                      : "The full job cannot run here; what is marked bad says why.",
                  "\n");
  return text;
}

std::string RenderJson(const std::vector<DoctorFact>& facts) {
  nlohmann::ordered_json document;
  document["schema"] = "utlz.doctor/1";
  document["full_job"] = FullJobCanRun(facts);
  document["facts"] = nlohmann::ordered_json::array();
  for (const DoctorFact& fact : facts) {
    nlohmann::ordered_json entry = {
        {"name", fact.name}, {"status", FactStatusName(fact.status)}, {"detail", fact.detail}};
    if (!fact.remedy.empty()) entry["remedy"] = fact.remedy;
    document["facts"].push_back(entry);
  }
  return EscapeInJson(
             document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

DoctorFact FactOfName() {
  const char* path = getenv("PATH");
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  return PathFact(path == nullptr ? "" : path, own.string());
}

int Doctor(const DoctorArguments& arguments) {
  std::vector<DoctorFact> facts = GatherDoctorFacts(arguments.options);
  facts.push_back(FactOfName());
  const bool told = PrintOut(arguments.json ? RenderJson(facts) : RenderText(facts));
  return told && FullJobCanRun(facts) ? kSuccess : kFailure;
}

}  // namespace

void AddDoctorCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* doctor =
      program->add_subcommand("doctor", "Say what this machine lets utlz do, and how to get more");
  doctor->add_option("--cupti", arguments->options.cupti_path, "A libcupti to use first");
  doctor->add_flag("--json", arguments->json, "For programs");
  doctor->callback([arguments, action] { *action = [arguments] { return Doctor(*arguments); }; });
}

}  // namespace utlz
