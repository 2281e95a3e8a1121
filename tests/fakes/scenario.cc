#include "tests/fakes/scenario.h"

#include <cstdlib>
#include <fstream>

namespace utlz::fake {
namespace {

std::string ReadScenario() {
  if (const char* variable = std::getenv(kScenarioVariable)) return variable;
  const char* home = std::getenv("HOME");
  std::string text;
  if (home != nullptr) std::getline(std::ifstream(std::string(home) + "/" + kScenarioFile), text);
  return text;
}

}  // namespace

std::optional<std::string> ScenarioText(std::string_view key) {
  static const auto* const scenario = new std::string(ReadScenario());
  std::string_view rest = *scenario;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key) {
      return std::string(pair.substr(equals + 1));
    }
  }
  return std::nullopt;
}

uint64_t ScenarioNumber(std::string_view key, uint64_t otherwise) {
  const std::optional<std::string> text = ScenarioText(key);
  return text ? std::strtoull(text->c_str(), nullptr, 10) : otherwise;
}

}  // namespace utlz::fake
