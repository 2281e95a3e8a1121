#include "collector/kernel_names/kernel_name.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "collector/kernel_names/bounded_demangle.h"

namespace utlz {
namespace {

constexpr int kMaxDepth = 24;

// Arguments that say how a kernel is built rather than what it does.
constexpr std::string_view kUntelling[] = {
    "array",
    "Array",
    "TrivialOffsetCalculator",
    "OffsetCalculator",
    "LoadWithCast",
    "LoadWithoutCast",
    "StoreWithCast",
    "StoreWithoutCast",
    "identity_decomposer_t",
    "integral_constant",
    "TensorListMetadata",
    "FusedOptimizerTensorListMetadata",
    "Policy1000",
};

// Long names of wrappers that every framework has.
struct Abbreviation {
  std::string_view name;
  std::string_view abbreviation;
};
constexpr Abbreviation kAbbreviations[] = {{"vectorized_elementwise_kernel", "vectorized"},
                                           {"unrolled_elementwise_kernel", "unrolled"},
                                           {"elementwise_kernel", "elementwise"},
                                           {"multi_tensor_apply_kernel", "multi_tensor"}};
constexpr std::string_view kUntellingPrefixes[] = {"cudnn_generated_fort_native_"};

// Wrappers whose argument is what matters.
constexpr std::string_view kTransparent[] = {"gpu_kernel_impl_nocast", "gpu_kernel_impl",
                                             "func_wrapper_t", "ReduceOp"};

template <size_t N>
bool IsOneOf(std::string_view text, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Walks a C++ name and calls `visit(position, character)` for characters outside brackets. Stops
// where visit returns false.
template <typename Visitor>
void ForEachOutsideBrackets(std::string_view text, Visitor visit) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    // "operator<", "operator()" and the like are no brackets.
    constexpr std::string_view kOperator = "operator";
    if (depth == 0 && text.substr(i, kOperator.size()) == kOperator &&
        (i == 0 || !IsWordCharacter(text[i - 1]))) {
      size_t end = i + kOperator.size();
      if (text.substr(end, 2) == "()") end += 2;
      while (end < text.size() && (text[end] == '<' || text[end] == '>' || text[end] == '-')) ++end;
      i = std::max(i, end - 1);
      continue;
    }
    const char c = text[i];
    if (c == '>' || c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
    if (depth == 0 && !visit(i, c)) return;
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
  }
}

std::vector<std::string_view> SplitOutsideBrackets(std::string_view text,
                                                   std::string_view separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  ForEachOutsideBrackets(text, [&](size_t i, char) {
    if (i >= begin && text.substr(i, separator.size()) == separator) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + separator.size();
    }
    return true;
  });
  parts.push_back(text.substr(std::min(begin, text.size())));
  return parts;
}

// Up to the first `bracket` that is not inside others.
std::string_view BeforeBracket(std::string_view text, char bracket) {
  size_t end = text.size();
  ForEachOutsideBrackets(text, [&](size_t i, char c) {
    if (c != bracket || i == 0) return true;
    end = i;
    return false;
  });
  return text.substr(0, end);
}

// What stands between a name's outermost pair of `open` and `close`.
std::string_view InsideBrackets(std::string_view text, char open, char close) {
  const std::string_view before = BeforeBracket(text, open);
  if (before.size() >= text.size()) return {};
  const std::string_view rest = text.substr(before.size() + 1);
  const size_t end = rest.rfind(close);
  return rest.substr(0, end);
}

std::string SimplifyArgument(std::string_view text, int depth);

std::string SimplifyList(std::string_view list, int depth) {
  std::string joined;
  std::string previous;
  for (const std::string_view part : SplitOutsideBrackets(list, ",")) {
    std::string simple = SimplifyArgument(Trim(part), depth);
    if (simple.empty() || simple == previous) continue;
    if (!joined.empty()) joined += ", ";
    joined += simple;
    previous = std::move(simple);
  }
  return joined;
}

std::string Abbreviated(std::string_view name) {
  for (const Abbreviation& known : kAbbreviations) {
    if (name == known.name) return std::string(known.abbreviation);
  }
  return std::string(name);
}

std::string SimplifyComponent(std::string_view component, int depth) {
  component = BeforeBracket(component, '(');
  const std::string_view name = Trim(BeforeBracket(component, '<'));
  if (IsOneOf(name, kUntelling)) return {};
  const std::string arguments = SimplifyList(InsideBrackets(component, '<', '>'), depth + 1);
  if (arguments.empty()) return std::string(name);
  if (IsOneOf(name, kTransparent)) return arguments;
  return Abbreviated(name) + "<" + arguments + ">";
}

bool IsValue(std::string_view text) {
  if (text.empty() || text == "true" || text == "false") return true;
  return text.front() == '(' || text.front() == '-' ||
         std::isdigit(static_cast<unsigned char>(text.front())) != 0;
}

std::string_view WithoutQualifiers(std::string_view text) {
  for (;;) {
    const size_t before = text.size();
    text = Trim(text);
    while (!text.empty() && (text.back() == '*' || text.back() == '&')) text.remove_suffix(1);
    for (const std::string_view word : {" const", " volatile"}) {
      if (text.size() > word.size() && text.substr(text.size() - word.size()) == word) {
        text.remove_suffix(word.size());
      }
    }
    if (text.size() == before) return text;
  }
}

// The function that holds a lambda, and the lambda's parameter types.
std::string SimplifyLambda(const std::vector<std::string_view>& components, int depth) {
  constexpr std::string_view kLambda = "{lambda(";
  std::string_view function;
  std::string_view parameters;
  for (const std::string_view component : components) {
    if (component.substr(0, kLambda.size()) == kLambda) {
      parameters = component.substr(kLambda.size());
      parameters = parameters.substr(0, parameters.rfind(')'));
    } else if (parameters.data() == nullptr && component.substr(0, 8) != "operator") {
      function = component;
    }
  }
  std::string simple = SimplifyComponent(function, depth);
  const std::string types = SimplifyList(parameters, depth + 1);
  // A function that wraps another's lambda already shows that one's types.
  if (!types.empty() && !simple.empty() && simple.back() != ')') simple += "(" + types + ")";
  return simple;
}

std::string SimplifyArgument(std::string_view text, int depth) {
  text = WithoutQualifiers(text);
  if (depth > kMaxDepth || IsValue(text)) return {};
  const std::vector<std::string_view> components = SplitOutsideBrackets(text, "::");
  const bool lambda = std::any_of(components.begin(), components.end(), [](std::string_view part) {
    return part.substr(0, 7) == "{lambda";
  });
  if (lambda) return SimplifyLambda(components, depth);
  return SimplifyComponent(components.back(), depth);
}

void EraseAll(std::string_view fragment, std::string* text) {
  for (size_t at = text->find(fragment); at != std::string::npos; at = text->find(fragment, at)) {
    text->erase(at, fragment.size());
  }
}

void CutTo(size_t bytes, std::string* text) {
  constexpr std::string_view kEllipsis = "…";
  if (text->size() <= bytes) return;
  size_t end = bytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
  text->resize(end);
  *text += kEllipsis;
}

// The identifiers spelt out in a mangled name too long for the demangler: its function, and the
// first class names of its template arguments.
std::string NameFromIdentifiers(std::string_view mangled) {
  constexpr size_t kArguments = 2;
  std::vector<std::string> arguments;
  std::string function;
  bool in_arguments = false;
  for (size_t i = 2; i < mangled.size() && arguments.size() < kArguments;) {
    // A literal: "L", a type of one letter, the value, "E".
    if (in_arguments && mangled[i] == 'L' && i + 1 < mangled.size() &&
        std::islower(static_cast<unsigned char>(mangled[i + 1])) != 0) {
      i = std::min(mangled.find('E', i), mangled.size() - 1) + 1;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(mangled[i])) == 0) {
      in_arguments = in_arguments || (mangled[i] == 'I' && !function.empty());
      ++i;
      continue;
    }
    size_t length = 0;
    while (i < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[i])) != 0 &&
           length < mangled.size()) {
      length = length * 10 + static_cast<size_t>(mangled[i++] - '0');
    }
    const std::string identifier(mangled.substr(i, length));
    i += std::min(length, mangled.size() - i);
    if (!in_arguments) function += (function.empty() ? "" : "::") + identifier;
    const bool is_class =
        !identifier.empty() && std::isupper(static_cast<unsigned char>(identifier[0])) != 0;
    if (in_arguments && is_class) arguments.push_back(identifier);
  }
  if (function.empty()) return std::string(mangled);
  if (arguments.empty()) return function;
  return function + "<" + arguments[0] + (arguments.size() > 1 ? ", " + arguments[1] : "") + ">";
}

}  // namespace

std::string DemangleKernelName(std::string_view mangled_name) {
  std::string mangled(mangled_name.substr(0, kMaxMangledNameBytes));
  if (mangled.substr(0, 2) != "_Z") return mangled;
  // A name holds no zero byte; one in it would end the demangler's reading early.
  if (mangled.find('\0') != std::string::npos) return mangled;
  if (auto name = BoundedDemangle(mangled, kMaxDemangledNameBytes)) return *std::move(name);
  return NameFromIdentifiers(mangled);
}

std::string ShortenKernelName(std::string_view demangled_name) {
  std::string text(demangled_name.substr(0, kMaxDemangledNameBytes));
  EraseAll("(anonymous namespace)::", &text);
  std::string_view name = BeforeBracket(text, '(');
  for (const std::string_view prefix : kUntellingPrefixes) {
    if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  }
  // A return type stands before the last space outside brackets.
  size_t begin = 0;
  ForEachOutsideBrackets(name, [&](size_t i, char c) {
    if (c == ' ') begin = i + 1;
    return true;
  });
  name.remove_prefix(begin);
  std::string simple = SimplifyComponent(SplitOutsideBrackets(name, "::").back(), 0);
  if (simple.empty()) simple = text;
  CutTo(kMaxShortNameBytes, &simple);
  return simple;
}

void MakeUnique(std::vector<std::string>* names) {
  std::map<std::string, int> total;
  for (const std::string& name : *names) ++total[name];
  std::map<std::string, int> seen;
  for (std::string& name : *names) {
    if (total[name] > 1) name += " #" + std::to_string(++seen[name]);
  }
}

}  // namespace utlz
