// Every text that a profile holds, as hostile as it can be, in every form that people look at.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tools/report/csv.h"
#include "tools/report/json.h"
#include "tools/report/markdown.h"
#include "tools/report/text.h"

namespace utlz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Escape sequences, C1 controls, line ends, marks that turn the direction of writing, markup, a
// formula, broken UTF-8.
constexpr std::string_view kHostile =
    "=\x1b[2J\x1b]0;t\x07\xc2\x9b"
    "31m\r\n\t\x7f\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c</script><b>x</b>"
    "|`*[a](javascript:b)\xff";

// One item in each list, a text in each text, a number in each number.
void Poison(Message* message, int depth) {
  const auto* reflection = message->GetReflection();
  const auto* descriptor = message->GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const std::string text(kHostile);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (field->is_repeated()) {
          reflection->AddString(message, field, text);
        } else {
          reflection->SetString(message, field, text);
        }
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth == 0) break;
        Poison(field->is_repeated() ? reflection->AddMessage(message, field)
                                    : reflection->MutableMessage(message, field),
               depth - 1);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        if (!field->is_repeated()) reflection->SetDouble(message, field, 0.5);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        if (!field->is_repeated()) reflection->SetUInt64(message, field, 7);
        break;
      default:
        break;
    }
  }
}

Summary Poisoned() {
  Summary summary;
  Poison(&summary, 4);
  *summary.add_devices() = summary.devices(0);
  *summary.add_processes() = summary.processes(0);
  summary.mutable_run()->set_recording(true);
  return summary;
}

void ExpectNothingActs(const std::string& text) {
  ASSERT_FALSE(text.empty());
  for (const std::string_view bad :
       {"\x1b", "\x07", "\x7f", "\t", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f",
        "\xd8\x9c", "\xff"}) {
    const size_t at = text.find(bad);
    ASSERT_EQ(at, std::string::npos) << text.substr(at < 60 ? 0 : at - 60, 160);
  }
}

TEST(HostileNamesTest, Text) {
  for (const GroupBy group : {GroupBy::kKernel, GroupBy::kNvtx, GroupBy::kStream, GroupBy::kDevice,
                              GroupBy::kProcess}) {
    const std::string text = RenderText(Poisoned(), {.group_by = group});
    ExpectNothingActs(text);
    EXPECT_EQ(text.find('\r'), std::string::npos);
  }
}

TEST(HostileNamesTest, Markdown) {
  const std::string text = RenderMarkdown(Poisoned());
  ExpectNothingActs(text);
  for (const char* markup : {"</script>", "<b>", "](javascript", "\r"}) {
    EXPECT_EQ(text.find(markup), std::string::npos) << markup;
  }
}

TEST(HostileNamesTest, Csv) {
  const std::string text = RenderCsv(Poisoned());
  ExpectNothingActs(text);
  EXPECT_NE(text.find("\r\n'="), std::string::npos) << "a formula is text";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "a line is a kernel";
}

TEST(HostileNamesTest, Json) {
  const std::string text = RenderJson(Poisoned());
  for (const char control : {'\x1b', '\x07', '\r', '\t', '\xff'}) {
    EXPECT_EQ(text.find(control), std::string::npos);
  }
}

}  // namespace
}  // namespace utlz
