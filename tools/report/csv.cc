#include "tools/report/csv.h"

#include <string_view>
#include <vector>

#include "tools/report/escape.h"
#include "tools/report/message_json.h"

namespace utlz {
namespace {

using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

// Every field of a kernel that fits into a cell; numbers in the schema's order, names first.
std::vector<std::string> ColumnTitles() {
  std::vector<std::string> titles = {"short_name"};
  const auto* descriptor = KernelSummary::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || field->name() == titles[0]) continue;
    titles.push_back(field->name());
  }
  return titles;
}

std::string Quoted(std::string cell) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r";
  if (!cell.empty() && kFormulaStarts.find(cell[0]) != std::string_view::npos) cell.insert(cell.begin(), '\'');
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// A CSV may be looked at in a terminal.
std::string TextOf(const Json& value) { return EscapeForTerminal(value.get<std::string>()); }

// A list becomes its items with spaces between.
std::string CellOf(const Json& value) {
  if (value.is_string()) return Quoted(TextOf(value));
  if (!value.is_array()) return value.dump();
  std::string joined;
  for (const Json& item : value) {
    if (!joined.empty()) joined += ' ';
    joined += item.is_string() ? TextOf(item) : item.dump();
  }
  return Quoted(joined);
}

}  // namespace

std::string RenderCsv(const Summary& summary) {
  const std::vector<std::string> titles = ColumnTitles();
  std::string text;
  for (const std::string& title : titles) text += (text.empty() ? "" : ",") + title;
  text += "\r\n";
  for (const KernelSummary& kernel : summary.kernels()) {
    const Json object = MessageToJson(kernel);
    for (size_t i = 0; i < titles.size(); ++i) {
      if (i > 0) text += ',';
      const auto value = object.find(titles[i]);
      if (value != object.end()) text += CellOf(*value);
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace utlz
