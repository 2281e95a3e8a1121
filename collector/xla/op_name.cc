#include "collector/xla/op_name.h"

#include <algorithm>
#include <optional>
#include <set>

namespace utlz {
namespace {

// Of transformations around each other; what lies deeper is left out.
constexpr int kMostNesting = 16;

// What JAX calls the bodies of loops, branches and calls: nobody's module.
const std::set<std::string_view> kControlFlow = {
    "body",
    "body_fun",
    "call",
    "checkpoint",
    "closed_call",
    "cond",
    "cond_fun",
    "core_call",
    "core_closed_call",
    "custom_jvp_call",
    "custom_jvp_call_jaxpr",
    "custom_lin",
    "custom_linear_solve",
    "custom_partitioning",
    "custom_root",
    "custom_vjp_call",
    "custom_vjp_call_jaxpr",
    "named_call",
    "pallas_call",
    "pjit",
    "pmap",
    "remat",
    "remat2",
    "run_state",
    "scan",
    "shard_map",
    "shmap_body",
    "while",
    "xla_call",
    "xla_pmap",
};

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

bool IsAsciiLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

// Python's identifiers may have letters beyond ASCII.
bool StartsName(char letter) {
  return IsAsciiLetter(letter) || IsDigit(letter) || (static_cast<unsigned char>(letter) & 0x80);
}

// Others are no modules: an einsum is called "bqhd,bkhd->bhqk".
bool IsName(std::string_view text) {
  return !text.empty() && StartsName(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char letter) {
           return StartsName(letter) || letter == '-' || letter == '.';
         });
}

bool IsOperation(std::string_view text) {
  return !text.empty() && IsAsciiLetter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char letter) {
           return IsAsciiLetter(letter) || IsDigit(letter) || letter == '-' || letter == '.';
         });
}

// "branch_1", "branch_1_fun"
bool IsBranch(std::string_view text) {
  constexpr std::string_view kBegin = "branch_", kEnd = "_fun";
  if (!text.starts_with(kBegin)) return false;
  text.remove_prefix(kBegin.size());
  if (text.ends_with(kEnd)) text.remove_suffix(kEnd.size());
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

// Equinox names its layers so, whichever of them it is.
bool IsOfEquinox(std::string_view text) { return text.starts_with("eqx."); }

// A transformation around a name: "jvp(Model)".
struct Transformed {
  std::string_view by;
  std::string_view inner;
};

std::optional<Transformed> TransformedOf(std::string_view element) {
  const size_t open = element.find('(');
  if (open == std::string_view::npos || !element.ends_with(')')) return std::nullopt;
  const std::string_view by = element.substr(0, open);
  // A list of parameters, as in "transpose[permutation=(1, 0)]", is none.
  if (!IsOperation(by)) return std::nullopt;
  return Transformed{by, element.substr(open + 1, element.size() - open - 2)};
}

// What is in brackets is a function and no module.
bool NamesFunctions(std::string_view transformation) {
  return transformation == "jit" || transformation == "pjit" || transformation == "pmap" ||
         transformation == "xla_pmap";
}

// The part up to the next '/' that is not in brackets, which is taken off `text`.
std::string_view TakeElement(std::string_view* text) {
  int depth = 0;
  size_t end = 0;
  for (; end < text->size(); ++end) {
    const char letter = (*text)[end];
    if (letter == '(' || letter == '[') ++depth;
    if (depth > 0 && (letter == ')' || letter == ']')) --depth;
    if (letter == '/' && depth == 0) break;
  }
  const std::string_view element = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return element;
}

void AddScope(std::string_view name, XlaOpName* result) {
  if (!IsName(name) || IsOfEquinox(name) || result->scopes.size() >= kMostXlaScopes) return;
  bool is_call = true;
  const size_t dot = name.rfind('.');
  // "encoder.embed" is a method; "layers.0" is a name.
  if (dot != std::string_view::npos && dot + 1 < name.size() && !IsDigit(name[dot + 1])) {
    is_call = name.substr(dot + 1) == "__call__";
    name = name.substr(0, dot);
  }
  result->scopes.push_back({std::string(name), is_call});
}

void ReadElements(std::string_view text, int nesting, XlaOpName* result);

void ReadElement(std::string_view element, int nesting, XlaOpName* result) {
  if (const auto transformed = TransformedOf(element)) {
    // The innermost one decides.
    if (transformed->by == "transpose") result->pass = XlaPass::kBackward;
    if (!NamesFunctions(transformed->by)) ReadElements(transformed->inner, nesting + 1, result);
    return;
  }
  if (element == "rematted_computation") {
    result->pass = XlaPass::kRecomputation;
  } else if (!kControlFlow.contains(element) && !IsBranch(element)) {
    AddScope(element, result);
  }
}

void ReadElements(std::string_view text, int nesting, XlaOpName* result) {
  if (nesting > kMostNesting) return;
  while (!text.empty()) ReadElement(TakeElement(&text), nesting, result);
}

// "log_softmax" of "jvp(jit(log_softmax))": a function that became one operation.
std::string_view FunctionIn(std::string_view element) {
  for (int i = 0; i < kMostNesting; ++i) {
    const auto transformed = TransformedOf(element);
    if (!transformed.has_value()) return {};
    element = transformed->inner;
    if (NamesFunctions(transformed->by)) return element;
  }
  return {};
}

// Of the last element of a name.
std::string_view OperationIn(std::string_view element) {
  if (TransformedOf(element).has_value()) element = FunctionIn(element);
  element = element.substr(0, element.find('['));  // without parameters
  return IsOperation(element) ? element : std::string_view();
}

}  // namespace

XlaOpName ParseXlaOpName(std::string_view op_name) {
  XlaOpName result;
  std::string_view rest = op_name.substr(0, op_name.find(';'));
  std::string_view element = TakeElement(&rest);
  if (rest.empty()) return result;
  while (!rest.empty()) {
    ReadElement(element, 0, &result);
    element = TakeElement(&rest);
  }
  result.operation = OperationIn(element);
  // The name of a function or a module, and no operation of JAX.
  if (TransformedOf(element).has_value()) ReadElement(element, 0, &result);
  return result;
}

XlaOpName CommonOf(const XlaOpName& a, const XlaOpName& b) {
  XlaOpName common;
  const auto end = std::mismatch(a.scopes.begin(), a.scopes.end(), b.scopes.begin(), b.scopes.end(),
                                 [](const XlaScope& x, const XlaScope& y) {
                                   return x.name == y.name && x.is_call == y.is_call;
                                 })
                       .first;
  common.scopes.assign(a.scopes.begin(), end);
  if (a.pass == b.pass) common.pass = a.pass;
  return common;
}

std::string XlaOperationOf(std::string_view op_name) {
  std::string_view rest = op_name.substr(0, op_name.find(';')), element;
  while (!rest.empty()) element = TakeElement(&rest);
  return std::string(OperationIn(element));
}

XlaOpName ParseXlaOpNamePrefix(std::string_view prefix) {
  XlaOpName result;
  ReadElements(prefix.substr(0, prefix.find(';')), 0, &result);
  return result;
}

}  // namespace utlz
