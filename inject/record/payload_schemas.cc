#include "inject/record/payload_schemas.h"

#include <cstring>
#include <iterator>

namespace utlz::agent {
namespace {

// Entry names of NCCL 2.18 and later.
constexpr const char* kBytesNames[] = {"Message size [bytes]", "Bytes"};
constexpr const char* kCommunicatorNames[] = {"NCCL communicator ID"};
constexpr const char* kRanksNames[] = {"No. of ranks", "No. of devices"};

struct Type {
  uint32_t size;  // also the alignment; 0 = none that we read
  bool is_signed;
};

// By NVTX_PAYLOAD_ENTRY_TYPE_*: CHAR to ULONGLONG, INT8 to UINT64, floating point, SIZE, ADDRESS.
constexpr Type kTypes[] = {
    {0, false}, {1, true}, {1, false}, {2, true}, {2, false}, {4, true}, {4, false}, {8, true},
    {8, false}, {8, true}, {8, false}, {1, true}, {1, false}, {2, true}, {2, false}, {4, true},
    {4, false}, {8, true}, {8, false}, {0, true}, {0, true},  {0, true}, {8, false}, {8, false},
};

Type TypeOf(const nvtx::SchemaEntry& entry) {
  if ((entry.flags & nvtx::kEntryIsNoValue) != 0 || entry.type >= std::size(kTypes)) return {};
  return kTypes[entry.type];
}

template <size_t kCount>
bool IsNamed(const nvtx::SchemaEntry& entry, const char* const (&names)[kCount]) {
  for (const char* name : names) {
    if (entry.name != nullptr && std::strcmp(entry.name, name) == 0) return true;
  }
  return false;
}

uint64_t AlignUp(uint64_t offset, uint32_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// False where it lies beyond the payload, or is negative.
template <typename Field>
bool ReadField(const Field& field, const uint8_t* payload, uint64_t size, uint64_t* value) {
  if (field.size == 0 || field.offset > size || size - field.offset < field.size) return false;
  uint64_t read = 0;
  std::memcpy(&read, payload + field.offset, field.size);
  if (field.is_signed && (read >> (8 * field.size - 1) & 1) != 0) return false;
  *value = read;
  return true;
}

}  // namespace

void PayloadSchemas::Describe(const nvtx::SchemaAttributes& attributes, Schema* schema) {
  // Offsets may be left to natural alignment; after an entry of unknown size they cannot be told.
  bool known =
      (attributes.field_mask & nvtx::kSchemaHasAlignment) == 0 || attributes.pack_align == 0;
  uint64_t next = 0;
  for (size_t i = 0; i < attributes.entry_count && i < kMaxEntries; ++i) {
    const nvtx::SchemaEntry& entry = attributes.entries[i];
    const Type type = TypeOf(entry);
    const bool placed = entry.offset != 0 || i == 0;
    if (placed) next = entry.offset;
    if (!placed && known && type.size != 0) next = AlignUp(next, type.size);
    if ((placed || known) && type.size != 0) {
      const Field field = {next, type.size, type.is_signed};
      if (IsNamed(entry, kBytesNames)) schema->bytes = field;
      if (IsNamed(entry, kCommunicatorNames)) schema->communicator = field;
      if (IsNamed(entry, kRanksNames)) schema->ranks = field;
    }
    known = known && type.size != 0;
    next += type.size;
  }
}

void PayloadSchemas::Register(nvtx::Domain domain, const nvtx::SchemaAttributes& attributes) {
  constexpr uint64_t kNeeded = nvtx::kSchemaHasEntries | nvtx::kSchemaHasId;
  if ((attributes.field_mask & kNeeded) != kNeeded || attributes.type != nvtx::kSchemaStatic ||
      attributes.entries == nullptr) {
    return;
  }
  Schema schema = {};
  schema.domain = domain;
  schema.id = attributes.schema_id;
  schema.static_size = attributes.static_size;
  Describe(attributes, &schema);
  if (schema.bytes.size == 0 && schema.communicator.size == 0 && schema.ranks.size == 0) return;
  pthread_mutex_lock(&mutex_);
  const uint32_t count = count_.load(std::memory_order_relaxed);
  if (count < kMaxSchemas && Find(domain, schema.id) == nullptr) {
    schemas_[count] = schema;
    count_.store(count + 1, std::memory_order_release);
  }
  pthread_mutex_unlock(&mutex_);
}

const PayloadSchemas::Schema* PayloadSchemas::Find(nvtx::Domain domain, uint64_t id) const {
  const uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (schemas_[i].id == id && schemas_[i].domain == domain) return &schemas_[i];
  }
  return nullptr;
}

void PayloadSchemas::Read(nvtx::Domain domain, const nvtx::PayloadData* payloads, size_t count,
                          CallDetails* details) const {
  if (payloads == nullptr) return;
  for (size_t i = 0; i < count && i < kMaxPayloads; ++i) {
    const nvtx::PayloadData& data = payloads[i];
    const Schema* schema = data.payload == nullptr ? nullptr : Find(domain, data.schema_id);
    if (schema == nullptr) continue;
    const uint64_t size = data.size == SIZE_MAX ? schema->static_size : data.size;
    const auto* payload = static_cast<const uint8_t*>(data.payload);
    if (ReadField(schema->bytes, payload, size, &details->bytes)) details->has_bytes = true;
    ReadField(schema->communicator, payload, size, &details->communicator);
    uint64_t ranks = 0;
    if (ReadField(schema->ranks, payload, size, &ranks) && ranks <= UINT32_MAX) {
      details->ranks = static_cast<uint32_t>(ranks);
    }
  }
}

}  // namespace utlz::agent
