#include "inject/python/compiled_code.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace utlz::agent {
namespace {

// Of the lines after a comment, those that a launch may take.
constexpr uint32_t kMostLines = 16;

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool StartsWith(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

// The list of operations in a comment about a launch; empty where it is none, or names none.
std::string_view OperationsOf(std::string_view line) {
  constexpr std::string_view kBegins[] = {"# Topologically Sorted Source Nodes: [",
                                          "# Unsorted Source Nodes: [", "# Source Nodes: ["};
  constexpr std::string_view kOperations = "], Original ATen: [";
  const bool is_comment = std::any_of(std::begin(kBegins), std::end(kBegins),
                                      [&](auto begin) { return StartsWith(line, begin); });
  const size_t at = is_comment ? line.rfind(kOperations) : std::string_view::npos;
  if (at == std::string_view::npos || line.back() != ']') return {};
  std::string_view list = line.substr(at + kOperations.size());
  list.remove_suffix(1);
  if (list.size() <= CompiledCodeReader::kMostOperationsBytes) return list;
  list = list.substr(0, CompiledCodeReader::kMostOperationsBytes);
  const size_t comma = list.rfind(", ");
  return comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
}

// Whether a line is where kernels are launched, and not what comes before.
bool Launches(std::string_view line) {
  return Holds(line, ".run(") || Holds(line, "extern_kernels.") || Holds(line, "torch.ops.") ||
         Holds(line, "= aten.");
}

// The function of ATen that a line calls, in a library or by itself; empty where it calls none.
std::string_view CalledFunction(std::string_view line) {
  for (const std::string_view before : {"extern_kernels.", "torch.ops.aten.", "= aten."}) {
    const size_t at = line.find(before);
    if (at == std::string_view::npos) continue;
    line.remove_prefix(at + before.size());
    return line.substr(0, std::min(line.find_first_of(".("), line.size()));
  }
  return {};
}

// Of the operations those that the line does. A call of ATen is one, though the list has those of
// its arguments as well.
std::string_view OperationsOfCall(std::string_view operations, std::string_view line) {
  constexpr std::string_view kLibrary = "aten.", kSeparator = ", ";
  const std::string_view function = CalledFunction(line);
  if (function.empty()) return operations;
  for (std::string_view rest = operations; !rest.empty();) {
    const size_t end = std::min(rest.find(kSeparator), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (StartsWith(word, kLibrary) && word.substr(kLibrary.size()) == function) return word;
    rest.remove_prefix(std::min(end + kSeparator.size(), rest.size()));
  }
  return operations;
}

// Whether a launch that has not come by this line does not come.
bool EndsLaunch(std::string_view line) {
  return line.empty() || StartsWith(line, "del ") || StartsWith(line, "return ");
}

}  // namespace

bool CompiledCodeReader::NextLine(std::string_view* line) {
  if (rest_.empty()) return false;
  const size_t end = std::min(rest_.find('\n'), rest_.size());
  *line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++line_;
  return true;
}

// A reduction may leave parts of its result in a workspace, which further lines sum up.
uint32_t CompiledCodeReader::CountWorkspaceLines() {
  uint32_t count = 0;
  std::string_view line;
  for (CompiledCodeReader ahead = *this; ahead.NextLine(&line) && Holds(line, " = workspace_");) {
    *this = ahead;
    ++count;
  }
  return count;
}

bool CompiledCodeReader::Next(CompiledLaunch* launch) {
  std::string_view line, operations;
  uint32_t comment_line = 0;
  while (NextLine(&line)) {
    const size_t indentation = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(indentation);
    if (StartsWith(text, "#")) {
      if (!Holds(text, "Source Nodes: [")) continue;
      operations = indentation == 0 ? std::string_view() : OperationsOf(text);
      comment_line = line_;
      continue;
    }
    if (operations.empty()) continue;
    if (EndsLaunch(text) || line_ - comment_line > kMostLines) {
      operations = {};
    } else if (Launches(text)) {
      *launch = {comment_line + 1, line_ - comment_line, OperationsOfCall(operations, text)};
      launch->lines += CountWorkspaceLines();
      return true;
    }
  }
  return false;
}

}  // namespace utlz::agent
