#include "tools/json/message_json.h"

#include <cctype>
#include <cmath>

#include "collector/text/shown_text.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

// "SOURCE_SAMPLED" → "sampled": the first word of a value is its enumeration's.
std::string EnumWord(const google::protobuf::EnumValueDescriptor& value) {
  std::string word = value.name().substr(value.name().find('_') + 1);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

// A number that is not finite has no form in JSON: null where it holds a place in a list.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// One value of `field`: of index `index` where it is repeated, else the only one.
Json Value(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(repeated ? reflection->GetRepeatedMessage(message, field, index)
                                    : reflection->GetMessage(message, field));
    case FieldDescriptor::CPPTYPE_STRING:
      return ToValidUtf8(repeated ? reflection->GetRepeatedString(message, field, index)
                                  : reflection->GetString(message, field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumWord(repeated ? *reflection->GetRepeatedEnum(message, field, index)
                               : *reflection->GetEnum(message, field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return repeated ? reflection->GetRepeatedBool(message, field, index)
                      : reflection->GetBool(message, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return repeated ? reflection->GetRepeatedInt32(message, field, index)
                      : reflection->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return repeated ? reflection->GetRepeatedInt64(message, field, index)
                      : reflection->GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return repeated ? reflection->GetRepeatedUInt32(message, field, index)
                      : reflection->GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return repeated ? reflection->GetRepeatedUInt64(message, field, index)
                      : reflection->GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Number(repeated ? reflection->GetRepeatedDouble(message, field, index)
                             : reflection->GetDouble(message, field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Number(static_cast<double>(repeated
                                            ? reflection->GetRepeatedFloat(message, field, index)
                                            : reflection->GetFloat(message, field)));
  }
  return nullptr;
}

// Lists of the contract that readers may count on are there even when they are empty.
bool IsAlwaysThere(const FieldDescriptor* field) {
  return field->is_repeated() && field->containing_type() == Summary::descriptor();
}

}  // namespace

Json MessageToJson(const Message& message) {
  Json object = Json::object();
  const auto* descriptor = message.GetDescriptor();
  const Reflection* reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (!field->is_repeated()) {
      if (!reflection->HasField(message, field)) continue;
      Json value = Value(message, field, 0);
      if (!value.is_null()) object[field->name()] = std::move(value);
      continue;
    }
    const int size = reflection->FieldSize(message, field);
    if (size == 0 && !IsAlwaysThere(field)) continue;
    Json list = Json::array();
    for (int index = 0; index < size; ++index) list.push_back(Value(message, field, index));
    object[field->name()] = std::move(list);
  }
  return object;
}

}  // namespace utlz
