#include "inject/record/payload_schemas.h"

#include <gtest/gtest.h>

#include <vector>

namespace utlz::agent {
namespace {

constexpr int kDomainMark = 0;
const nvtx::Domain kDomain = &kDomainMark;
constexpr uint64_t kInt = 5, kUint64 = 18, kDouble = 20, kSize = 22, kEnumeration = (1 << 24) + 9;
constexpr char kBytes[] = "Message size [bytes]", kRanks[] = "No. of ranks";

nvtx::SchemaEntry Entry(uint64_t type, const char* name, uint64_t offset = 0, uint64_t flags = 0) {
  nvtx::SchemaEntry entry = {};
  entry.flags = flags;
  entry.type = type;
  entry.name = name;
  entry.offset = offset;
  return entry;
}

class PayloadSchemasTest : public ::testing::Test {
 protected:
  static nvtx::SchemaAttributes Schema(uint64_t id, const std::vector<nvtx::SchemaEntry>& entries) {
    nvtx::SchemaAttributes schema = {};
    schema.field_mask = nvtx::kSchemaHasEntries | nvtx::kSchemaHasId;
    schema.type = nvtx::kSchemaStatic;
    schema.entries = entries.data();
    schema.entry_count = entries.size();
    schema.schema_id = id;
    return schema;
  }
  void Register(uint64_t id, const std::vector<nvtx::SchemaEntry>& entries) {
    schemas_.Register(kDomain, Schema(id, entries));
  }

  template <typename Payload>
  CallDetails Read(uint64_t id, const Payload& payload, size_t size = sizeof(Payload)) {
    const nvtx::PayloadData data = {id, size, &payload};
    CallDetails details;
    schemas_.Read(kDomain, &data, 1, &details);
    return details;
  }

  PayloadSchemas schemas_;
};

TEST_F(PayloadSchemasTest, FindsEntriesByNameAndPlace) {
  struct Payload {
    uint64_t communicator;
    int ranks, rank;
    uint64_t bytes;
  };
  Register(7, {Entry(kUint64, "NCCL communicator ID"), Entry(kInt, kRanks, 8),
               Entry(kInt, "Rank", 12), Entry(kSize, kBytes, 16)});
  const CallDetails details = Read(7, Payload{0xabcdef0123456789, 8, 3, 0});
  EXPECT_EQ(details.communicator, 0xabcdef0123456789);
  EXPECT_EQ(details.ranks, 8u);
  EXPECT_TRUE(details.has_bytes) << "a message of no bytes is one";
  EXPECT_EQ(details.bytes, 0u);
}

TEST_F(PayloadSchemasTest, PlacesWithoutOffsetsFollowAlignment) {
  struct Payload {
    int rank;
    uint64_t bytes;
    int root;
  };
  Register(7, {Entry(kInt, "Rank"), Entry(kSize, "Bytes"), Entry(kInt, kRanks)});
  const CallDetails details = Read(7, Payload{1, 77, 4});
  EXPECT_EQ(details.bytes, 77u);
  EXPECT_EQ(details.ranks, 4u);
}

TEST_F(PayloadSchemasTest, AfterAnEntryOfUnknownSizePlacesAreUnknown) {
  Register(7, {Entry(kEnumeration, "Reduction operation"), Entry(kSize, kBytes)});
  Register(8, {Entry(kEnumeration, "Reduction operation"), Entry(kSize, kBytes, 8)});
  const uint64_t payload[] = {1, 55};
  EXPECT_FALSE(Read(7, payload).has_bytes);
  EXPECT_EQ(Read(8, payload).bytes, 55u);
}

TEST_F(PayloadSchemasTest, PayloadsTooShortAndNegativeNumbersSayNothing) {
  Register(7, {Entry(kSize, kBytes), Entry(kInt, kRanks, 8)});
  struct Payload {
    uint64_t bytes;
    int ranks;
  } payload = {99, -1};
  EXPECT_FALSE(Read(7, payload, 7).has_bytes);
  EXPECT_EQ(Read(7, payload, 8).bytes, 99u);
  EXPECT_EQ(Read(7, payload).ranks, 0u);
  EXPECT_FALSE(Read(7, payload, SIZE_MAX).has_bytes) << "no size is known";
  EXPECT_FALSE(Read(6, payload).has_bytes) << "another schema's";
}

TEST_F(PayloadSchemasTest, HostileOffsetsAreNeverFollowed) {
  Register(7, {Entry(kSize, kBytes, UINT64_MAX - 3), Entry(kInt, kRanks, uint64_t{1} << 63)});
  const uint64_t payload[] = {1, 2};
  EXPECT_FALSE(Read(7, payload).has_bytes);
  EXPECT_EQ(Read(7, payload).ranks, 0u);
}

TEST_F(PayloadSchemasTest, WhatIsNoPlainIntegerIsNotRead) {
  Register(7, {Entry(kDouble, kBytes)});
  Register(8, {Entry(kSize, kBytes, 0, 1 << 1)});  // a pointer
  const uint64_t payload[] = {1};
  EXPECT_FALSE(Read(7, payload).has_bytes);
  EXPECT_FALSE(Read(8, payload).has_bytes);
}

TEST_F(PayloadSchemasTest, FurtherSchemasThanThereIsRoomForAreLeftOut) {
  for (uint64_t id = 0; id < 2 * PayloadSchemas::kMaxSchemas; ++id) {
    Register(id, {Entry(kSize, kBytes)});
  }
  const uint64_t payload[] = {5};
  EXPECT_TRUE(Read(PayloadSchemas::kMaxSchemas - 1, payload).has_bytes);
  EXPECT_FALSE(Read(PayloadSchemas::kMaxSchemas, payload).has_bytes);
}

TEST_F(PayloadSchemasTest, NamesOfEveryRelease) {
  Register(7, {Entry(kSize, "Bytes"), Entry(kInt, "No. of devices", 8), Entry(kSize, nullptr, 16)});
  const uint64_t payload[] = {5, 6, 7};
  EXPECT_EQ(Read(7, payload).bytes, 5u);
  EXPECT_EQ(Read(7, payload).ranks, 6u);
}

TEST_F(PayloadSchemasTest, PackedPayloadsAreReadOnlyWherePlacesAreTold) {
  struct {
    int rank;
    int low, high;  // of a size that is not aligned
  } payload = {1, 66, 0};
  const std::vector<nvtx::SchemaEntry> entries = {Entry(kInt, "Rank"), Entry(kSize, kBytes)};
  nvtx::SchemaAttributes schema = Schema(7, entries);
  schema.field_mask |= nvtx::kSchemaHasAlignment;
  schema.pack_align = 1;
  schemas_.Register(kDomain, schema);
  EXPECT_FALSE(Read(7, payload).has_bytes);
  const std::vector<nvtx::SchemaEntry> placed = {Entry(kInt, "Rank"), Entry(kSize, kBytes, 4)};
  schema.schema_id = 8;
  schema.entries = placed.data();
  schemas_.Register(kDomain, schema);
  EXPECT_EQ(Read(8, payload).bytes, 66u);
  // Natural alignment may be said, too.
  struct {
    int rank;
    uint64_t bytes;
  } aligned = {1, 77};
  schema = Schema(9, entries);
  schema.field_mask |= nvtx::kSchemaHasAlignment;
  schemas_.Register(kDomain, schema);
  EXPECT_EQ(Read(9, aligned).bytes, 77u);
}

TEST_F(PayloadSchemasTest, APayloadOfNoSizeOfItsOwnHasItsSchemas) {
  const std::vector<nvtx::SchemaEntry> entries = {Entry(kSize, kBytes), Entry(kInt, kRanks, 8)};
  nvtx::SchemaAttributes schema = Schema(7, entries);
  schema.static_size = 8;
  schemas_.Register(kDomain, schema);
  const uint64_t payload[] = {5, 6};
  EXPECT_EQ(Read(7, payload, SIZE_MAX).bytes, 5u);
  EXPECT_EQ(Read(7, payload, SIZE_MAX).ranks, 0u) << "beyond it";
}

TEST_F(PayloadSchemasTest, SchemasWithoutWhatIsNeededAreLeftOut) {
  const std::vector<nvtx::SchemaEntry> entries = {Entry(kSize, kBytes)};
  nvtx::SchemaAttributes schema = Schema(1, entries);
  schema.field_mask = nvtx::kSchemaHasEntries;
  schemas_.Register(kDomain, schema);
  schema = Schema(2, entries);
  schema.field_mask = nvtx::kSchemaHasId;
  schemas_.Register(kDomain, schema);
  schema = Schema(3, entries);
  schema.type = nvtx::kSchemaStatic + 1;
  schemas_.Register(kDomain, schema);
  schema = Schema(4, entries);
  schema.entries = nullptr;
  schemas_.Register(kDomain, schema);
  const uint64_t payload[] = {5};
  for (uint64_t id = 1; id <= 4; ++id) EXPECT_FALSE(Read(id, payload).has_bytes) << id;
}

TEST_F(PayloadSchemasTest, ASchemaIsOfItsDomainAndStaysAsItWasFirst) {
  Register(7, {Entry(kSize, kBytes)});
  Register(7, {Entry(kSize, kBytes, 8)});
  const uint64_t payload[] = {5, 6};
  EXPECT_EQ(Read(7, payload).bytes, 5u);
  const int other_mark = 0;
  const nvtx::PayloadData data = {7, sizeof payload, payload};
  CallDetails details;
  schemas_.Read(&other_mark, &data, 1, &details);
  EXPECT_FALSE(details.has_bytes);
}

TEST_F(PayloadSchemasTest, RanksAreOfThirtyTwoBits) {
  Register(7, {Entry(kUint64, kRanks)});
  EXPECT_EQ(Read(7, uint64_t{UINT32_MAX}).ranks, UINT32_MAX);
  EXPECT_EQ(Read(7, uint64_t{UINT32_MAX} + 2).ranks, 0u);
}

TEST_F(PayloadSchemasTest, OfManyPayloadsTheFirstAreRead) {
  Register(7, {Entry(kSize, kBytes)});
  Register(8, {Entry(kInt, kRanks)});
  const uint64_t bytes = 5, ranks = 6;
  std::vector<nvtx::PayloadData> payloads(PayloadSchemas::kMaxPayloads + 1);
  payloads[0] = {7, SIZE_MAX - 1, nullptr};
  payloads[1] = {7, sizeof bytes, &bytes};
  payloads.back() = {8, sizeof ranks, &ranks};
  CallDetails details;
  schemas_.Read(kDomain, payloads.data(), payloads.size(), &details);
  EXPECT_EQ(details.bytes, 5u);
  EXPECT_EQ(details.ranks, 0u);
  schemas_.Read(kDomain, nullptr, 3, &details);
  payloads[2] = payloads.back();
  schemas_.Read(kDomain, payloads.data(), payloads.size(), &details);
  EXPECT_EQ(details.ranks, 6u) << "beside what others told";
}

TEST_F(PayloadSchemasTest, OfManyEntriesTheFirstAreLookedAt) {
  std::vector<nvtx::SchemaEntry> entries(PayloadSchemas::kMaxEntries, Entry(kInt, "Rank"));
  entries.push_back(Entry(kSize, kBytes, 8));
  entries[1] = Entry(kInt, kRanks, 4);
  Register(7, entries);
  const uint32_t payload[] = {1, 2, 3, 4};
  EXPECT_EQ(Read(7, payload).ranks, 2u);
  EXPECT_FALSE(Read(7, payload).has_bytes);
}

}  // namespace
}  // namespace utlz::agent
