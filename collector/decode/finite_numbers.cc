#include "collector/decode/finite_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/reflection.h"
#include "proto/profile.pb.h"
#include "proto/summary.pb.h"

namespace utlz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// NaN stands there for a moment of which nothing is known.
bool MayHaveNan(const FieldDescriptor& list) {
  return list.containing_type() == TimelineSeries::descriptor();
}

// An alert that is off has an infinite limit.
bool IsUnknown(const FieldDescriptor& field, double number) {
  const bool may_be_infinite = field.containing_type() == AlertLimits::descriptor();
  return may_be_infinite ? std::isnan(number) : !std::isfinite(number);
}

template <typename Number>
bool IsAllFinite(const Message& message, const FieldDescriptor* list) {
  const auto numbers = message.GetReflection()->GetRepeatedFieldRef<Number>(message, list);
  return std::all_of(numbers.begin(), numbers.end(),
                     [](Number number) { return std::isfinite(number); });
}

template <typename Number>
void CleanList(const FieldDescriptor* list, Message* message) {
  if (IsAllFinite<Number>(*message, list)) return;
  const Reflection* reflection = message->GetReflection();
  if (!MayHaveNan(*list)) {
    reflection->ClearField(message, list);
    return;
  }
  auto numbers = reflection->GetMutableRepeatedFieldRef<Number>(message, list);
  for (int i = 0; i < numbers.size(); ++i) {
    if (std::isinf(numbers.Get(i))) numbers.Set(i, std::numeric_limits<Number>::quiet_NaN());
  }
}

// `get`: Reflection's function for such a number.
template <typename Number>
void CleanNumbers(Number (Reflection::*get)(const Message&, const FieldDescriptor*) const,
                  const FieldDescriptor* field, Message* message) {
  const Reflection* reflection = message->GetReflection();
  if (field->is_repeated()) {
    CleanList<Number>(field, message);
  } else if (IsUnknown(*field, (reflection->*get)(*message, field))) {
    reflection->ClearField(message, field);
  }
}

void CleanMessages(const FieldDescriptor* field, Message* message) {
  const Reflection* reflection = message->GetReflection();
  if (!field->is_repeated()) {
    ClearNonFinite(reflection->MutableMessage(message, field));
    return;
  }
  for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
    ClearNonFinite(reflection->MutableRepeatedMessage(message, field, i));
  }
}

}  // namespace

void ClearNonFinite(Message* message) {
  std::vector<const FieldDescriptor*> present;
  message->GetReflection()->ListFields(*message, &present);
  for (const FieldDescriptor* field : present) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_DOUBLE:
        CleanNumbers(&Reflection::GetDouble, field, message);
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        CleanNumbers(&Reflection::GetFloat, field, message);
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        CleanMessages(field, message);
        break;
      default:
        break;
    }
  }
}

}  // namespace utlz
