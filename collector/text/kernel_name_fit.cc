#include "collector/text/kernel_name_fit.h"

#include <algorithm>
#include <array>

#include "collector/text/shown_text.h"

namespace utlz {
namespace {

// Templates of frameworks around an operation that is their argument.
constexpr std::array kWrappers = std::to_array<std::string_view>(
    {"multi_tensor", "vectorized", "unrolled", "elementwise", "reduce_kernel", "Kernel"});
// Arguments that are no operation.
constexpr std::array kPlainTypes = std::to_array<std::string_view>(
    {"float", "double", "bool", "int", "long", "short", "char", "unsigned", "void", "const",
     "BFloat16", "Half", "__half", "__nv_bfloat16", "OpaqueType"});
// Ends of operations' names, the longer first.
constexpr std::array kEndsOfOperations = std::to_array<std::string_view>(
    {"CUDAKernelImpl", "_kernel_cuda", "_cuda_kernel", "_kernel_impl", "Functor"});
// In many names of one library.
constexpr std::array kCommonWords =
    std::to_array<std::string_view>({"_channels_last", "_kernel0_0", "_cga1x1x1", "_kernel"});

// With less than this a name says too little beside its grid.
constexpr size_t kFewestOfName = 14;

struct Parts {
  std::string body;
  std::string grid;  // " [8,128,1]"
  std::string kind;  // " kind 3", ", GPU 1", " #2"
};

Parts Split(std::string_view name) {
  const size_t bracket = name.rfind('>');
  const size_t from = bracket == std::string_view::npos ? 0 : bracket;
  size_t end = name.size();
  for (const std::string_view mark : {" [", " kind ", ", GPU ", " #"}) {
    end = std::min(end, name.find(mark, from));
  }
  Parts parts;
  parts.body = name.substr(0, end);
  parts.kind = name.substr(end);
  if (!parts.kind.starts_with(" [")) return parts;
  const size_t close = parts.kind.find(']');
  const size_t grid_end = close == std::string::npos ? parts.kind.size() : close + 1;
  parts.grid = parts.kind.substr(0, grid_end);
  parts.kind.erase(0, grid_end);
  return parts;
}

bool IsWordLetter(char letter) {
  return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z');
}

template <typename List>
bool Has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsNoOperation(std::string_view word) {
  return (word.front() >= '0' && word.front() <= '9') || Has(kPlainTypes, word) ||
         word.ends_with("Metadata");
}

// "f" of "divides<f…", which was cut off.
bool MayBecomeType(std::string_view word) {
  return std::any_of(kPlainTypes.begin(), kPlainTypes.end(),
                     [word](std::string_view type) { return type.starts_with(word); });
}

// The innermost last argument that is no type: of "BinaryFunctor<float, MulFunctor<float>>" "Mul".
std::string OperationIn(std::string_view arguments) {
  std::string_view operation;
  for (size_t at = 0; at < arguments.size();) {
    size_t end = at;
    while (end < arguments.size() && IsWordLetter(arguments[end])) ++end;
    const std::string_view word = arguments.substr(at, end - at);
    const bool is_cut = arguments.substr(end).starts_with("…");
    if (!word.empty() && !IsNoOperation(word) && !(is_cut && MayBecomeType(word))) operation = word;
    at = end + 1;
  }
  for (const std::string_view end : kEndsOfOperations) {
    if (operation.size() <= end.size() || !operation.ends_with(end)) continue;
    operation.remove_suffix(end.size());
    break;
  }
  return std::string(operation);
}

std::string WithoutCommonWords(std::string body) {
  for (const std::string_view word : kCommonWords) {
    const size_t at = body.rfind(word);
    const bool whole = at != std::string::npos && at > 0 &&
                       (at + word.size() == body.size() || body[at + word.size()] == '_');
    if (whole) body.erase(at, word.size());
  }
  // "nvjet_sm90_tst_256x128_…": what the library calls all of them.
  const size_t tile = body.find("_tst_");
  if (body.starts_with("nvjet_") && tile != std::string::npos) {
    body = "nvjet…" + body.substr(tile + 5);
  }
  return body;
}

// Two thirds from the beginning, where names say what they do.
std::string Cut(const std::string& body, size_t columns) {
  if (ColumnsOf(body) <= columns) return body;
  if (columns < 3) return CutEnd(body, columns);
  const size_t tail = (columns - 1) / 3;
  std::string end = CutBeginning(body, tail + 1);
  return CutEnd(body, columns - tail) + end.substr(end.find("…") + std::string_view("…").size());
}

// The body in at most `columns`.
std::string FitBody(const std::string& body, size_t columns) {
  if (ColumnsOf(body) <= columns) return body;
  const size_t open = body.find('<');
  const std::string base = body.substr(0, open);
  const std::string operation =
      open != std::string::npos && Has(kWrappers, base) ? OperationIn(body.substr(open)) : "";
  if (operation.empty()) return Cut(WithoutCommonWords(base), columns);
  const std::string whole = base + "<" + operation + ">";
  if (ColumnsOf(whole) <= columns) return whole;
  return columns < 6 ? Cut(operation, columns) : "…<" + Cut(operation, columns - 3) + ">";
}

}  // namespace

std::string FitKernelName(std::string_view name, size_t columns) {
  if (ColumnsOf(name) <= columns) return std::string(name);
  const Parts parts = Split(name);
  for (const std::string& end : {parts.grid + parts.kind, parts.kind}) {
    if (ColumnsOf(end) + kFewestOfName > columns) continue;
    return FitBody(parts.body, columns - ColumnsOf(end)) + end;
  }
  return FitBody(parts.body, columns);
}

}  // namespace utlz
