#include "collector/decode/message_memory.h"

#include <cstdint>
#include <map>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "google/protobuf/wire_format_lite.h"

namespace utlz {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

constexpr size_t kPointerBytes = 8;
constexpr size_t kNumberBytes = 8;  // the largest of a packed column
constexpr size_t kTextBytes = 64;   // a string that is allocated, and an unknown field
constexpr int kMostLevels = 100;    // as protobuf's parser

class MemoryEstimate {
 public:
  explicit MemoryEstimate(size_t most_bytes) : left_bytes_(most_bytes) {}

  // False once more is needed than there is.
  bool Add(std::string_view payload, const Descriptor& message, int levels) {
    google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(payload.data()),
                                                 static_cast<int>(payload.size()));
    while (const uint32_t tag = input.ReadTag()) {
      if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!Spend(kNumberBytes) || !WireFormatLite::SkipField(&input, tag)) return left_bytes_ > 0;
        continue;
      }
      uint32_t length = 0;
      if (!input.ReadVarint32(&length)) return true;
      const auto begin = static_cast<size_t>(input.CurrentPosition());
      if (length > payload.size() - begin || !input.Skip(static_cast<int>(length))) return true;
      const FieldDescriptor* field =
          message.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (!AddField(payload.substr(begin, length), field, levels)) return false;
    }
    return true;
  }

 private:
  bool AddField(std::string_view value, const FieldDescriptor* field, int levels) {
    if (field == nullptr || field->type() == FieldDescriptor::TYPE_STRING ||
        field->type() == FieldDescriptor::TYPE_BYTES) {
      return Spend(kTextBytes + value.size());
    }
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) return Spend(kNumberBytes * value.size());
    const Descriptor& type = *field->message_type();
    if (!Spend(kPointerBytes + ObjectBytes(type))) return false;
    return levels == 0 || Add(value, type, levels - 1);
  }

  size_t ObjectBytes(const Descriptor& type) {
    const auto [known, is_new] = object_bytes_.try_emplace(&type, 0);
    if (is_new) {
      known->second = google::protobuf::MessageFactory::generated_factory()
                          ->GetPrototype(&type)
                          ->SpaceUsedLong();
    }
    return known->second;
  }

  bool Spend(size_t bytes) {
    left_bytes_ = bytes < left_bytes_ ? left_bytes_ - bytes : 0;
    return left_bytes_ > 0;
  }

  size_t left_bytes_;
  std::map<const Descriptor*, size_t> object_bytes_;
};

}  // namespace

bool FitsInMemory(std::string_view payload, const google::protobuf::Descriptor& message,
                  size_t most_bytes) {
  return MemoryEstimate(most_bytes).Add(payload, message, kMostLevels);
}

}  // namespace utlz
