// The column of stacks: what the agent's encoder writes, and what a decoder refuses.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "collector/decode/launch_decoder.h"
#include "inject/record/stack_encoder.h"
#include "tests/support/launch_encoder.h"
#include "tests/unit/decode/accepts_batch.h"

namespace utlz {
namespace {

struct StackedLaunch {
  uint32_t variant;
  uint32_t stack;
};

DecodedLaunches LaunchesOf(const std::vector<StackedLaunch>& stacked) {
  DecodedLaunches decoded;
  for (size_t i = 0; i < stacked.size(); ++i) {
    Launch launch = {.start_ns = 1'000 + 100 * i,
                     .end_ns = 1'050 + 100 * i,
                     .variant = stacked[i].variant,
                     .correlation = 0};
    decoded.launches.push_back(launch);
  }
  decoded.segments.push_back({.launches = static_cast<uint32_t>(stacked.size()),
                              .stream = 7,
                              .context = 1,
                              .graph_correlation = 0});
  return decoded;
}

// Batches by the agent's encoder, one after another.
class StackColumnTest : public ::testing::Test {
 protected:
  StackColumnTest() : buffer_(1u << 20) { EXPECT_TRUE(encoder_.Create()); }

  // The columns of stacks alone, as bytes of a LaunchBatch.
  std::string Encode(const std::vector<StackedLaunch>& launches) {
    for (const StackedLaunch& launch : launches) encoder_.Add(launch.variant, launch.stack);
    agent::ByteBuffer message(buffer_.data(), static_cast<uint32_t>(buffer_.size()));
    encoder_.Finish(&message);
    EXPECT_FALSE(message.overflowed());
    return {reinterpret_cast<const char*>(message.data()), message.size()};
  }

  // What a decoder makes of them, beside the other columns.
  std::vector<uint32_t> Decode(const std::vector<StackedLaunch>& launches,
                               const std::string& columns) {
    const std::string others = EncodeLaunches(LaunchesOf(launches)).SerializeAsString();
    const DecodedLaunches* decoded = decoder_.Decode(others + columns);
    EXPECT_NE(decoded, nullptr);
    std::vector<uint32_t> stacks;
    if (decoded == nullptr) return stacks;
    for (const Launch& launch : decoded->launches) stacks.push_back(launch.stack);
    return stacks;
  }

  void ExpectRoundTrip(const std::vector<StackedLaunch>& launches) {
    std::vector<uint32_t> expected;
    for (const StackedLaunch& launch : launches) expected.push_back(launch.stack);
    EXPECT_EQ(Decode(launches, Encode(launches)), expected);
  }

  std::vector<uint8_t> buffer_;
  agent::StackEncoder encoder_;
  LaunchDecoder decoder_;
};

// A model's step: every layer launches some kernels from each of some lines; several kernels of a
// line are the same.
std::vector<StackedLaunch> Steps(uint32_t layers, uint32_t lines, uint32_t launches) {
  std::vector<StackedLaunch> step;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    for (uint32_t line = 0; line < lines; ++line) {
      for (uint32_t i = 0; i <= line % 4; ++i) {
        step.push_back({line, 100 + 7 * (layer * lines + line)});
      }
    }
  }
  std::vector<StackedLaunch> all;
  while (all.size() < launches) {
    all.push_back(step[all.size() % step.size()]);
  }
  return all;
}

TEST_F(StackColumnTest, ComesBackAsItWas) {
  std::mt19937 random(1);
  for (int batch = 0; batch < 200; ++batch) {
    std::vector<StackedLaunch> launches;
    const auto stacks = static_cast<uint32_t>(1 + random() % 40);
    for (auto i = random() % 500; i > 0; --i) {
      launches.push_back({static_cast<uint32_t>(random() % 9),
                          random() % 20 == 0 ? static_cast<uint32_t>(random())
                                             : static_cast<uint32_t>(random() % stacks)});
    }
    ExpectRoundTrip(launches);
  }
  ExpectRoundTrip(Steps(22, 12, 16'384));
}

TEST_F(StackColumnTest, TakesAtMostHalfAByteALaunch) {
  // A decode of 138 launches, a training step of 1,000, a `generate` of 2,957 launches a token.
  for (const auto& [layers, lines] :
       {std::pair(6u, 9u), std::pair(24u, 17u), std::pair(70u, 17u)}) {
    const auto launches = Steps(layers, lines, 16'384);
    EXPECT_LE(Encode(launches).size(), launches.size() / 2) << layers << " layers";
  }
}

TEST_F(StackColumnTest, LaunchesWithoutStacksTakeNothing) {
  EXPECT_EQ(Encode({{1, 0}, {2, 0}, {1, 0}}), "");
  ExpectRoundTrip({{1, 0}, {2, 0}});
  ExpectRoundTrip({{1, 5}, {2, 0}, {1, 5}});
}

LaunchBatch ThreeWithStacks() {
  DecodedLaunches decoded = LaunchesOf({{1, 0}, {2, 0}, {3, 0}});
  for (Launch& launch : decoded.launches) launch.stack = 4;
  return EncodeLaunches(decoded);
}

TEST_F(StackColumnTest, RefusesColumnsThatDoNotAgree) {
  EXPECT_TRUE(Accepts(ThreeWithStacks()));
  LaunchBatch batch = ThreeWithStacks();
  batch.set_stack_literal(0, 4);
  EXPECT_FALSE(Accepts(batch)) << "more than there are launches";
  batch = ThreeWithStacks();
  batch.set_stack_literal(0, 2);
  EXPECT_FALSE(Accepts(batch)) << "fewer than there are launches";
  batch = ThreeWithStacks();
  batch.add_stack_delta(1);
  EXPECT_FALSE(Accepts(batch)) << "one stack too many";
  batch = ThreeWithStacks();
  batch.set_stack_predicted(0, UINT32_MAX);
  EXPECT_FALSE(Accepts(batch));
  batch = ThreeWithStacks();
  batch.clear_stack_predicted();
  EXPECT_FALSE(Accepts(batch));
  batch = ThreeWithStacks();
  batch.add_stack_literal(0);
  EXPECT_FALSE(Accepts(batch)) << "more literals than runs";
}

}  // namespace
}  // namespace utlz
