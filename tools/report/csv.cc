#include "tools/report/csv.h"

#include <iterator>
#include <string_view>
#include <vector>

#include "collector/text/shown_text.h"
#include "tools/json/message_json.h"
#include "tools/report/capture_text.h"
#include "tools/report/device_roofs.h"

namespace utlz {
namespace {

using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

// Every field of a row that fits into a cell; numbers in the schema's order, the name first.
std::vector<std::string> ColumnTitles(const google::protobuf::Descriptor* descriptor,
                                      const std::string& first) {
  std::vector<std::string> titles = {first};
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || field->name() == titles[0])
      continue;
    titles.push_back(field->name());
  }
  return titles;
}

std::string Quoted(std::string cell) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r";
  if (!cell.empty() && kFormulaStarts.find(cell[0]) != std::string_view::npos)
    cell.insert(cell.begin(), '\'');
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

// Of the capture and of the kernel's GPU: what a row's numbers are worth. In columns, since lines
// before the titles are no CSV, and a row that is taken out of the table keeps them.
constexpr const char* kOfCapture[] = {"counter_source",
                                      "coverage_share",
                                      "launches_dropped",
                                      "launches_untimed",
                                      "records_dropped",
                                      "samples",
                                      "samples_lost",
                                      "sample_interval_ns",
                                      "kernels_merged",
                                      "kernels_withheld",
                                      "kernel_time_without_counters_share"};
constexpr const char* kOfDevice[] = {"sm_clock_before_hz", "sm_clock_hz", "sm_clock_after_hz"};

std::string CellsOf(const Json& object, const std::vector<std::string>& titles) {
  std::string cells;
  for (const std::string& title : titles) {
    const auto value = object.find(title);
    cells += ",";
    if (value != object.end()) cells += CellOf(*value);
  }
  return cells;
}

template <typename Fields>
std::string PrefixedTitles(const char* prefix, const Fields& fields) {
  std::string titles;
  for (const char* field : fields) titles += std::string(",") + prefix + field;
  return titles;
}

std::string CaptureCells(const Summary& summary) {
  std::string warnings;
  for (const std::string& warning : CaptureWarnings(summary)) {
    warnings += (warnings.empty() ? "" : " ") + EscapeForTerminal(warning);
  }
  const Json capture = MessageToJson(summary.capture());
  return CellsOf(capture, {std::begin(kOfCapture), std::end(kOfCapture)}) +
         CellsOf(capture.value("slowdown", Json::object()), {"share"}) + "," + Quoted(warnings);
}

std::vector<std::string> DeviceCells(const Summary& summary) {
  std::vector<std::string> cells;
  for (const DeviceSummary& device : summary.devices()) {
    cells.push_back(CellsOf(MessageToJson(device), {std::begin(kOfDevice), std::end(kOfDevice)}));
  }
  if (cells.empty()) cells.emplace_back(std::size(kOfDevice), ',');
  return cells;
}

}  // namespace

std::string RenderCsv(const Summary& summary) {
  const std::vector<std::string> titles = ColumnTitles(KernelSummary::descriptor(), "short_name");
  std::string text;
  for (const std::string& title : titles) text += (text.empty() ? "" : ",") + title;
  text += PrefixedTitles("capture_", kOfCapture) + ",capture_slowdown_share,capture_warnings" +
          PrefixedTitles("device_", kOfDevice) + "\r\n";
  const std::string capture = CaptureCells(summary);
  const std::vector<std::string> devices = DeviceCells(summary);
  const DeviceIndex index(summary);
  for (const KernelSummary& kernel : summary.kernels()) {
    const auto device = static_cast<size_t>(index.Of(kernel));
    text += CellsOf(MessageToJson(kernel), titles).substr(1) + capture + devices[device] + "\r\n";
  }
  return text;
}

std::string RenderOwnersCsv(const google::protobuf::RepeatedPtrField<OwnerSummary>& owners) {
  const std::vector<std::string> titles = ColumnTitles(OwnerSummary::descriptor(), "name");
  std::string text;
  for (const std::string& title : titles) text += (text.empty() ? "" : ",") + title;
  text += "\r\n";
  for (const OwnerSummary& owner : owners) {
    text += CellsOf(MessageToJson(owner), titles).substr(1) + "\r\n";
  }
  return text;
}

}  // namespace utlz
