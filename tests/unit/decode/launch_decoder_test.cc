#include "collector/decode/launch_decoder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/launch_encoder.h"
#include "tests/unit/decode/accepts_batch.h"

namespace utlz {
namespace {

constexpr uint64_t kBaseNs = 1'700'000'000'000'000'000;

bool operator==(const Launch& a, const Launch& b) {
  return a.start_ns == b.start_ns && a.end_ns == b.end_ns && a.variant == b.variant &&
         a.correlation == b.correlation && a.stack == b.stack;
}

DecodedLaunches RandomLaunches(std::mt19937_64* random) {
  DecodedLaunches decoded;
  const uint64_t count = (*random)() % 300;
  const uint32_t variants = 1 + static_cast<uint32_t>((*random)() % 20);
  const bool repeating = (*random)() % 2 == 0;
  const bool correlated = (*random)() % 2 == 0;
  const bool with_stacks = (*random)() % 2 == 0;
  uint64_t time = kBaseNs;
  for (uint64_t i = 0; i < count; ++i) {
    const auto variant = static_cast<uint32_t>(repeating ? i % variants : (*random)() % variants);
    // Launches of other streams may start before the one listed earlier.
    const uint64_t start = time + (*random)() % 5000 - 2000;
    const uint64_t end = start + (*random)() % 100000;
    decoded.launches.push_back(
        {.start_ns = start,
         .end_ns = end,
         .variant = variant,
         .correlation = correlated ? static_cast<uint32_t>(1 + (*random)() % 1000000) : 0,
         .stack = with_stacks ? static_cast<uint32_t>((*random)() % 50) : 0});
    time = end;
  }
  for (uint64_t left = count; left > 0;) {
    const uint64_t launches = 1 + (*random)() % left;
    decoded.segments.push_back({.launches = static_cast<uint32_t>(launches),
                                .stream = static_cast<uint32_t>((*random)() % 5),
                                .context = 1,
                                .graph_correlation = static_cast<uint32_t>((*random)() % 3)});
    left -= launches;
  }
  if ((*random)() % 2 == 0) {
    decoded.untimed.push_back({3, 17});
    decoded.untimed_operations = 5;
  }
  return decoded;
}

LaunchBatch ThreeLaunches() {
  DecodedLaunches decoded;
  for (uint64_t i = 0; i < 3; ++i) {
    decoded.launches.push_back({.start_ns = kBaseNs + 100 * i,
                                .end_ns = kBaseNs + 100 * i + 50,
                                .variant = static_cast<uint32_t>(i),
                                .correlation = 0});
  }
  decoded.segments.push_back({.launches = 3, .stream = 7, .context = 1, .graph_correlation = 0});
  return EncodeLaunches(decoded);
}

TEST(LaunchDecoderTest, GivesBackWhatWasEncoded) {
  std::mt19937_64 random(1);
  LaunchDecoder decoder;
  for (int round = 0; round < 500; ++round) {
    const DecodedLaunches expected = RandomLaunches(&random);
    const DecodedLaunches* actual = decoder.Decode(EncodeLaunches(expected).SerializeAsString());
    ASSERT_NE(actual, nullptr) << "round " << round;
    ASSERT_EQ(actual->launches.size(), expected.launches.size());
    for (size_t i = 0; i < expected.launches.size(); ++i) {
      ASSERT_TRUE(actual->launches[i] == expected.launches[i]) << "round " << round << ", " << i;
    }
    ASSERT_EQ(actual->segments.size(), expected.segments.size());
    for (size_t i = 0; i < expected.segments.size(); ++i) {
      EXPECT_EQ(actual->segments[i].launches, expected.segments[i].launches);
      EXPECT_EQ(actual->segments[i].stream, expected.segments[i].stream);
      EXPECT_EQ(actual->segments[i].graph_correlation, expected.segments[i].graph_correlation);
    }
    ASSERT_EQ(actual->untimed.size(), expected.untimed.size());
    ASSERT_EQ(actual->untimed_operations, expected.untimed_operations);
  }
}

// Worked by hand from the rules in profile.proto, so that encoder and decoder cannot share a
// mistake.
TEST(LaunchDecoderTest, FollowsTheRulesWorkedByHand) {
  LaunchBatch batch;
  batch.set_base_ns(1000);
  // 5, 6 and 5 are spelt out; the last launch is predicted: 6 followed 5 before.
  batch.set_launches(4);
  for (const uint32_t predicted : {0, 0, 0, 1}) batch.add_run_predicted(predicted);
  for (const uint32_t variant : {5, 6, 5}) batch.add_run_variant(variant);
  for (const int64_t gap : {10, 20, 5, -3}) batch.add_gap_residual(gap);
  for (const int64_t duration : {100, 200, 1, -2}) batch.add_duration_residual(duration);
  batch.add_segment_launches(4);
  batch.add_segment_stream(1);
  batch.add_segment_context(1);
  LaunchDecoder decoder;
  const DecodedLaunches* decoded = decoder.Decode(batch.SerializeAsString());
  ASSERT_NE(decoded, nullptr);
  ASSERT_EQ(decoded->launches.size(), 4u);
  const uint32_t variants[] = {5, 6, 5, 6};
  const uint64_t starts[] = {1010, 1130, 1345, 1463};
  const uint64_t ends[] = {1110, 1330, 1446, 1661};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(decoded->launches[i].variant, variants[i]) << i;
    EXPECT_EQ(decoded->launches[i].start_ns, starts[i]) << i;
    EXPECT_EQ(decoded->launches[i].end_ns, ends[i]) << i;
  }
}

TEST(LaunchDecoderTest, StartsEveryBatchAnew) {
  LaunchDecoder decoder;
  const std::string payload = ThreeLaunches().SerializeAsString();
  ASSERT_NE(decoder.Decode(payload), nullptr);
  const DecodedLaunches* again = decoder.Decode(payload);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->launches[2].start_ns, kBaseNs + 200);
}

TEST(LaunchDecoderTest, RefusesColumnsThatDisagree) {
  EXPECT_TRUE(Accepts(ThreeLaunches()));
  const auto refuses = [](auto change) {
    LaunchBatch batch = ThreeLaunches();
    change(&batch);
    return !Accepts(batch);
  };
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->add_gap_residual(0); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->add_duration_residual(0); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_launches(2); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_launches(4); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_launches(UINT32_MAX); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->add_run_variant(1); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_run_predicted(0, UINT32_MAX); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_segment_launches(0, 4); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_segment_launches(0, 2); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->add_segment_stream(1); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->add_correlation_delta(1); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->add_untimed_variant(1); }));
  EXPECT_TRUE(refuses([](LaunchBatch* batch) { batch->set_untimed_operations(2); }));
}

TEST(LaunchDecoderTest, RefusesIdentifiersAndTimesOutOfBounds) {
  LaunchBatch batch = ThreeLaunches();
  batch.set_run_variant(0, kMaxVariantIds);
  EXPECT_FALSE(Accepts(batch));
  batch = ThreeLaunches();
  batch.set_duration_residual(1, INT64_MIN);
  EXPECT_FALSE(Accepts(batch));
  batch = ThreeLaunches();
  batch.set_gap_residual(1, INT64_MAX);
  EXPECT_FALSE(Accepts(batch));
  LaunchDecoder decoder;
  EXPECT_EQ(decoder.Decode("\xff\xff\xff"), nullptr);
}

TEST(LaunchDecoderTest, TakesAnEmptyBatch) { EXPECT_TRUE(Accepts(LaunchBatch())); }

}  // namespace
}  // namespace utlz
