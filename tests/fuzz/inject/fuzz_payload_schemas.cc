// Schemas of NVTX payloads with any entries, and payloads of any bytes, at the end of which memory
// ends.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "inject/record/payload_schemas.h"
#include "tests/support/fuzz_bytes.h"

namespace utlz::agent {
namespace {

constexpr const char* kNames[] = {"Message size [bytes]",
                                  "Bytes",
                                  "NCCL communicator ID",
                                  "No. of ranks",
                                  "No. of devices",
                                  nullptr,
                                  "Rank",
                                  ""};
constexpr int kMostSteps = 64;
constexpr size_t kMostPayloadBytes = 4096;

// Small numbers mostly, and any at times.
uint64_t TakeNumber(FuzzBytes* input) {
  const auto small = input->Take<uint8_t>();
  return small == 0xff ? input->Take<uint64_t>() : small;
}

nvtx::SchemaEntry TakeEntry(FuzzBytes* input) {
  nvtx::SchemaEntry entry = {};
  entry.flags = TakeNumber(input);
  entry.type = TakeNumber(input);
  entry.name = kNames[input->Take<uint8_t>() % std::size(kNames)];
  entry.offset = TakeNumber(input);
  return entry;
}

void Register(FuzzBytes* input, PayloadSchemas* schemas) {
  std::vector<nvtx::SchemaEntry> entries(input->Take<uint8_t>() % 40);
  for (nvtx::SchemaEntry& entry : entries) entry = TakeEntry(input);
  // Of exactly its size.
  entries.shrink_to_fit();
  nvtx::SchemaAttributes schema = {};
  schema.field_mask = nvtx::kSchemaHasEntries | nvtx::kSchemaHasId | TakeNumber(input);
  schema.type = nvtx::kSchemaStatic;
  schema.entries = entries.data();
  schema.entry_count = entries.size();
  schema.pack_align = TakeNumber(input);
  // So large is the payload of one that leaves its size to the schema.
  schema.static_size = kMostPayloadBytes;
  schema.schema_id = input->Take<uint8_t>() % 4;
  schemas->Register(nullptr, schema);
}

void Read(FuzzBytes* input, const PayloadSchemas& schemas) {
  std::vector<nvtx::PayloadData> payloads(input->Take<uint8_t>() % 6);
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  for (nvtx::PayloadData& payload : payloads) {
    payload.schema_id = input->Take<uint8_t>() % 4;
    const auto shape = input->Take<uint8_t>();
    const bool by_schema = shape == 0;
    const size_t size = by_schema ? kMostPayloadBytes : size_t{shape} - 1;
    const std::string_view bytes = input->TakeBytes(size);
    memory.push_back(std::make_unique<uint8_t[]>(size));
    std::copy(bytes.begin(), bytes.end(), memory.back().get());
    payload.size = by_schema ? SIZE_MAX : size;
    payload.payload = shape == 0xff ? nullptr : memory.back().get();
  }
  CallDetails details;
  schemas.Read(nullptr, payloads.data(), payloads.size(), &details);
}

}  // namespace
}  // namespace utlz::agent

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto schemas = std::make_unique<utlz::agent::PayloadSchemas>();
  utlz::FuzzBytes input(bytes, size);
  for (int i = 0; i < utlz::agent::kMostSteps && !input.empty(); ++i) {
    if (input.Take<uint8_t>() % 2 == 0) {
      utlz::agent::Register(&input, schemas.get());
    } else {
      utlz::agent::Read(&input, *schemas);
    }
  }
  return 0;
}
