#include "collector/kernel_names/demangling_work.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace utlz {
namespace {

constexpr double kMostSteps = 100'000;
// Each level of this is read twice.
constexpr size_t kMostConversionLevels = 10;

size_t Count(std::string_view name, std::string_view part) {
  size_t count = 0;
  for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    ++count;
  }
  return count;
}

bool HasOneOf(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool IsIndexCharacter(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }

// References of one kind: "S_", "S1A_", …
size_t CountReferences(std::string_view name, char kind) {
  size_t count = 0;
  for (size_t at = name.find(kind); at != std::string_view::npos; at = name.find(kind, at)) {
    while (at < name.size() && IsIndexCharacter(name[at])) ++at;
    if (at < name.size() && name[at] == '_') ++count;
  }
  return count;
}

// The most nodes that a tree can have which so many references make of one part, where a path from
// its root passes at most `most_levels` of them: the references are spread evenly over the levels.
double LargestTree(size_t references, double most_levels) {
  const auto all = static_cast<double>(references);
  const double levels = std::min(most_levels, all / std::exp(1.0));
  return levels < 1 ? std::max(1.0, all) : std::pow(all / levels, levels);
}

// To find the pack that an expansion is of, all of its pattern is walked.
bool PackSearchIsBounded(std::string_view name) {
  if (!HasOneOf(name, {"Dp", "sp", "sZ", "sP"})) return true;
  const size_t references = CountReferences(name, 'S');
  return LargestTree(references, static_cast<double>(references)) *
             static_cast<double>(name.size()) <=
         kMostSteps;
}

// A template's parameter stands for an argument that may hold the parameters of the template
// around it, and so on; an empty pack at the end prints nothing.
bool EmptyPacksAreBounded(std::string_view name) {
  if (!HasOneOf(name, {"JE", "IE"})) return true;
  const size_t templates_around = Count(name, "Z") + Count(name, "cv");
  return LargestTree(CountReferences(name, 'S') + CountReferences(name, 'T'),
                     static_cast<double>(templates_around)) <= kMostSteps;
}

// The template arguments after a parameter in a conversion operator are read once to see whether
// others follow them, and once more where none do.
bool ConversionIsBounded(std::string_view name) {
  return !HasOneOf(name, {"cv"}) || Count(name, "_I") <= kMostConversionLevels;
}

}  // namespace

bool DemanglingIsBounded(std::string_view mangled_name) {
  return PackSearchIsBounded(mangled_name) && EmptyPacksAreBounded(mangled_name) &&
         ConversionIsBounded(mangled_name);
}

}  // namespace utlz
