// Layers on both sides of a comparison: those that a model repeats are one row.
#include "tools/compare/layer_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/compare/run_maker.h"
#include "tools/compare/diff.h"
#include "tools/compare/render_difference.h"

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kLayers = 48;

void AddLayerOfShare(const std::string& name, double share_of_steps, Summary* run) {
  OwnerSummary* layer = run->mutable_owners()->add_layers();
  layer->set_kind("layer");
  layer->set_model("Model");
  layer->set_name(name);
  layer->set_time_ns(share_of_steps * run->steps().time_mean_ns() *
                     static_cast<double>(run->steps().steps()));
}

std::string LayerName(int index) { return "layers." + std::to_string(index) + ".mlp"; }

// Of each the same share of the steps, but for the first one, which does twice as much.
Summary RunOf(double share = 0.01) {
  RunMaker maker(41);
  Summary run = maker.Make({.step_deviation_share = 0});
  AddLayerOfShare("head", 0.1, &run);
  for (int i = 0; i < kLayers; ++i) AddLayerOfShare(LayerName(i), i == 0 ? 2 * share : share, &run);
  return run;
}

OwnerSummary* Layer(const std::string& name, Summary* run) {
  for (OwnerSummary& layer : *run->mutable_owners()->mutable_layers()) {
    if (layer.name() == name) return &layer;
  }
  return nullptr;
}

const RepeatedLayerChange& Repeated(const Difference& difference, const std::string& name) {
  for (const RepeatedLayerChange& layer : difference.repeated_layers) {
    if (layer.name == name) return layer;
  }
  ADD_FAILURE() << "no " << name;
  static const RepeatedLayerChange none;
  return none;
}

std::vector<std::string> Outstanding(const Difference& difference) {
  std::vector<std::string> names;
  for (const LayerChange& layer : difference.layers) {
    if (layer.stands_out) names.push_back(layer.name);
  }
  return names;
}

std::string ByLayer(const Difference& difference) {
  return RenderDifferenceText(difference, {.by = DifferenceBy::kLayer, .columns = 100});
}

TEST(LayerChanges, RepeatedLayersAreOneRow) {
  const Difference difference = Diff(RunOf(0.01), RunOf(0.012));
  ASSERT_THAT(difference.layers, SizeIs(kLayers + 1));
  ASSERT_THAT(difference.repeated_layers, SizeIs(2));
  const RepeatedLayerChange& mlp = Repeated(difference, "layers.*.mlp");
  EXPECT_EQ(mlp.model, "Model");
  EXPECT_EQ(mlp.instances_before, 48u);
  EXPECT_EQ(mlp.instances_after, 48u);
  EXPECT_EQ(mlp.time_ns.verdict, Verdict::kIncrease);
  double before_ns = 0;
  for (const size_t index : mlp.layers) before_ns += *difference.layers[index].time_ns.before;
  EXPECT_THAT(mlp.layers, SizeIs(kLayers));
  EXPECT_NEAR(before_ns / *mlp.time_ns.before, 1, 1e-12);
  EXPECT_EQ(Repeated(difference, "head").instances_before, 1u);
  EXPECT_EQ(Repeated(difference, "head").time_ns.verdict, Verdict::kNoDifference);
}

// As of modules of Flax, where the reports sum them so.
TEST(LayerChanges, NumbersAtTheEndOfNamesCountWhereReportsSumThem) {
  Summary run = RunOf();
  for (int i = 0; i < 3; ++i) AddLayerOfShare("block_" + std::to_string(i) + ".mlp", 0.01, &run);
  EXPECT_EQ(Repeated(Diff(run, run), "block_0.mlp").instances_before, 1u);
  OwnerSummary* repeated = run.mutable_owners()->add_repeated_layers();
  repeated->set_model("Model");
  repeated->set_name("block_*.mlp");
  const Difference difference = Diff(run, run);
  EXPECT_EQ(Repeated(difference, "block_*.mlp").instances_before, 3u);
  EXPECT_THAT(Repeated(difference, "block_*.mlp").layers, SizeIs(3));
  EXPECT_THAT(Repeated(difference, "layers.*.mlp").layers, SizeIs(kLayers));
}

// All became a fifth slower, the large one too.
TEST(LayerChanges, WhatChangesAsTheOthersDoesNotStandOut) {
  const Difference difference = Diff(RunOf(0.01), RunOf(0.012));
  EXPECT_THAT(Outstanding(difference), IsEmpty());
  const std::string text = ByLayer(difference);
  EXPECT_THAT(text, HasSubstr("layers.*.mlp ×48 "));
  EXPECT_THAT(text, Not(HasSubstr("layers.0")));
  EXPECT_THAT(text, Not(HasSubstr("head")));
}

TEST(LayerChanges, ASingleLayerThatDiffersFromItsSiblings) {
  Summary after = RunOf();
  Layer(LayerName(17), &after)->set_time_ns(1.5 * Layer(LayerName(17), &after)->time_ns());
  const Difference difference = Diff(RunOf(), after);
  EXPECT_THAT(Outstanding(difference), ElementsAre("layers.17.mlp"));
  const std::string text = ByLayer(difference);
  EXPECT_THAT(text, HasSubstr("layers.*.mlp ×48 "))
      << "named though all together changed by 1 %, within error";
  EXPECT_THAT(text, HasSubstr("    layers.17.mlp "));
  EXPECT_THAT(text, Not(HasSubstr("layers.16.mlp")));
}

TEST(LayerChanges, OneThatStaysAmongThoseThatChange) {
  Summary after = RunOf(0.012);
  Layer(LayerName(5), &after)->set_time_ns(Layer(LayerName(5), &after)->time_ns() / 1.2);
  EXPECT_THAT(Outstanding(Diff(RunOf(), after)), ElementsAre("layers.5.mlp"));
}

TEST(LayerChanges, ALayerThatIsGoneFromARow) {
  Summary after = RunOf();
  after.mutable_owners()->mutable_layers()->RemoveLast();
  const Difference difference = Diff(RunOf(), after);
  EXPECT_EQ(Repeated(difference, "layers.*.mlp").instances_after, 47u);
  EXPECT_THAT(Outstanding(difference), ElementsAre("layers.47.mlp"));
  EXPECT_THAT(ByLayer(difference), HasSubstr("layers.*.mlp ×48→47 "));
}

TEST(LayerChanges, AllAreGone) {
  Summary after = RunOf();
  while (after.owners().layers_size() > 1) after.mutable_owners()->mutable_layers()->RemoveLast();
  const Difference difference = Diff(RunOf(), after);
  const RepeatedLayerChange& mlp = Repeated(difference, "layers.*.mlp");
  EXPECT_EQ(mlp.time_ns.verdict, Verdict::kGone);
  EXPECT_FALSE(mlp.time_ns.after.has_value());
  EXPECT_THAT(Outstanding(difference), IsEmpty());
}

TEST(LayerChanges, EachOnRequest) {
  const std::string text =
      RenderDifferenceText(Diff(RunOf(0.01), RunOf(0.012)),
                           {.kernels = 100, .by = DifferenceBy::kEachLayer, .columns = 100});
  EXPECT_THAT(text, HasSubstr("layers.0.mlp "));
  EXPECT_THAT(text, HasSubstr("layers.47.mlp "));
  EXPECT_THAT(text, Not(HasSubstr("layers.*")));
}

TEST(LayerChanges, AreInMarkdown) {
  Summary after = RunOf();
  Layer(LayerName(17), &after)->set_time_ns(1.5 * Layer(LayerName(17), &after)->time_ns());
  const Difference difference = Diff(RunOf(), after);
  const std::string beside_kernels = RenderDifferenceMarkdown(difference);
  EXPECT_THAT(beside_kernels, HasSubstr("<details><summary>Layers</summary>"));
  EXPECT_THAT(beside_kernels, HasSubstr("| <code>layers&#46;&#42;.mlp</code> ×48 | "));
  EXPECT_THAT(beside_kernels, HasSubstr("| of them <code>layers.17.mlp</code> | "));
  const std::string each =
      RenderDifferenceMarkdown(difference, {.by = DifferenceBy::kEachLayer, .columns = 100});
  EXPECT_THAT(each, HasSubstr("| <code>layers.17.mlp</code> | "));
  EXPECT_THAT(each, Not(HasSubstr("×48")));
  EXPECT_THAT(each, Not(HasSubstr("<summary>Kernels")));
}

TEST(LayerChanges, MarkdownCountsThoseThatItLeavesOut) {
  const Difference difference = Diff(RunOf(0.01), RunOf(0.012));
  const std::string text =
      RenderDifferenceMarkdown(difference, {.kernels = 3, .by = DifferenceBy::kEachLayer});
  EXPECT_THAT(text, HasSubstr("\n…and 45 more.\n"));
  const std::string none = RenderDifferenceMarkdown(Difference(), {.by = DifferenceBy::kLayer});
  EXPECT_THAT(none, HasSubstr("No layers to compare"));
}

TEST(LayerChanges, BothAreInJson) {
  Summary after = RunOf();
  Layer(LayerName(17), &after)->set_time_ns(1.5 * Layer(LayerName(17), &after)->time_ns());
  const std::string json = RenderDifferenceJson(Diff(RunOf(), after));
  EXPECT_THAT(json, HasSubstr("\"name\": \"layers.17.mlp\",\n      \"stands_out\": true"));
  EXPECT_THAT(json, HasSubstr("\"name\": \"layers.*.mlp\",\n      \"instances_before\": 48"));
}

}  // namespace
}  // namespace utlz
