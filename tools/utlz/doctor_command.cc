#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collector/sampling/doctor_facts.h"
#include "tools/utlz/command.h"

namespace utlz {
namespace {

struct DoctorArguments {
  DoctorOptions options;
  bool json = false;
};

void PrintText(const std::vector<DoctorFact>& facts) {
  for (const DoctorFact& fact : facts) {
    std::printf("%-8s %s: %s\n", FactStatusName(fact.status), fact.name.c_str(),
                fact.detail.c_str());
    if (!fact.remedy.empty()) std::printf("         → %s\n", fact.remedy.c_str());
  }
  std::printf("\n%s\n", FullJobCanRun(facts)
                            ? "The full job can run here: times, FLOPs and bytes of every kernel."
                            : "The full job cannot run here; what is marked bad says why.");
}

void PrintJson(const std::vector<DoctorFact>& facts) {
  nlohmann::ordered_json document;
  document["schema"] = "utlz.doctor/1";
  document["full_job"] = FullJobCanRun(facts);
  document["facts"] = nlohmann::ordered_json::array();
  for (const DoctorFact& fact : facts) {
    nlohmann::ordered_json entry = {{"name", fact.name},
                                    {"status", FactStatusName(fact.status)},
                                    {"detail", fact.detail}};
    if (!fact.remedy.empty()) entry["remedy"] = fact.remedy;
    document["facts"].push_back(entry);
  }
  const std::string text =
      document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

int Doctor(const DoctorArguments& arguments) {
  const std::vector<DoctorFact> facts = GatherDoctorFacts(arguments.options);
  if (arguments.json) {
    PrintJson(facts);
  } else {
    PrintText(facts);
  }
  return FullJobCanRun(facts) ? kSuccess : kFailure;
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
