#include "collector/xla/source_locations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace utlz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "train.py:31[step] train.py:27[loss]"
std::string TextOf(const XlaCalls& calls) {
  std::string text;
  for (const XlaLocation& call : calls) {
    text += (text.empty() ? "" : " ") + std::string(call.file) + ":" + std::to_string(call.line) +
            "[" + Unescaped(call.function) + "]";
  }
  return text;
}

XlaCalls CallsOf(const std::vector<XlaCalls>& paths, std::string_view op_name,
                 const std::optional<std::string_view>& common_name) {
  return PlaceOfOperation(paths, op_name, common_name).calls;
}

constexpr char kOnePath[] =
    "\n- /home/me/train.py:31:18[step]\n-- /home/me/train.py:27:13[main.&lt;locals&gt;.loss_of]\n";

// A fusion of a layer and of two functions inside of it, without their common name.
constexpr char kFusion[] =
    "\n- train.py:31:18[step]\n-- model.py:15:15[Block.__call__] add\n"
    "-- model.py:15:19[Block.__call__]\n--- model.py:8:12[Mlp.__call__] mlp/mul\n"
    "--- model.py:9:15[Mlp.__call__]\n---- linear.py:294:6[Dense.__call__] mlp/down/add\n";

TEST(SourceLocationsTest, OneLineADepth) {
  const std::vector<XlaCalls> paths = ParseXlaLocations(kOnePath);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(TextOf(paths[0]),
            "/home/me/train.py:31[step] /home/me/train.py:27[main.<locals>.loss_of]");
}

TEST(SourceLocationsTest, SiblingsAreOperations) {
  const std::vector<XlaCalls> paths = ParseXlaLocations(kFusion);
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(TextOf(paths[0]), "train.py:31[step] model.py:15[Block.__call__]");
  EXPECT_EQ(paths[0].back().operation, "add");
  EXPECT_EQ(TextOf(paths[2]),
            "train.py:31[step] model.py:15[Block.__call__] model.py:9[Mlp.__call__] "
            "linear.py:294[Dense.__call__]");
  EXPECT_EQ(paths[2].back().operation, "mlp/down/add");
}

TEST(SourceLocationsTest, TheInstructionsOwnOperationCounts) {
  const std::vector<XlaCalls> paths = ParseXlaLocations(kFusion);
  const auto calls = [&](std::string_view op_name) {
    return TextOf(CallsOf(paths, op_name, "jit(step)/jvp(Model)/block_3"));
  };
  EXPECT_EQ(calls("jit(step)/jvp(Model)/block_3/mlp/mul"),
            "train.py:31[step] model.py:15[Block.__call__] model.py:8[Mlp.__call__]");
  EXPECT_EQ(calls("jit(step)/jvp(Model)/block_3/add"),
            "train.py:31[step] model.py:15[Block.__call__]");
  // That of the program's names, which the title lacks, may be before the common one.
  EXPECT_EQ(TextOf(CallsOf(paths, "jit(step)/jvp(Model)/block_3/mlp/mul", "block_3")),
            "train.py:31[step] model.py:15[Block.__call__] model.py:8[Mlp.__call__]");
}

TEST(SourceLocationsTest, ASimilarNameIsAnotherOperation) {
  // "mul" ends "mlp/mul" too.
  const std::vector<XlaCalls> paths =
      ParseXlaLocations("\n- a.py:1:1[f] mul\n- a.py:2:1[f] mlp/mul\n");
  EXPECT_EQ(TextOf(CallsOf(paths, "jit(step)/mlp/mul", "jit(step)")), "a.py:2[f]");
  EXPECT_EQ(TextOf(CallsOf(paths, "jit(step)/mul", "jit(step)")), "a.py:1[f]");
}

TEST(SourceLocationsTest, WithoutACommonNameWholeNamesStandThere) {
  const std::vector<XlaCalls> paths =
      ParseXlaLocations("\n- a.py:1:1[f] jit(f)/sub\n- a.py:2:1[f] sub\n");
  EXPECT_EQ(TextOf(CallsOf(paths, "jit(f)/sub", std::nullopt)), "a.py:1[f]");
}

TEST(SourceLocationsTest, OfSeveralPathsTheCommonPartIsLeft) {
  const std::vector<XlaCalls> paths =
      ParseXlaLocations("\n- a.py:1:1[f]\n-- b.py:2:1[g]\n-- b.py:3:1[g]\n");
  EXPECT_EQ(TextOf(CallsOf(paths, "jit(f)/sub", "jit(f)/sub")), "a.py:1[f]");
  EXPECT_EQ(TextOf(CallsOf(paths, "", std::nullopt)), "a.py:1[f]") << "of all";
  // Columns do not count.
  const std::vector<XlaCalls> columns =
      ParseXlaLocations("\n- a.py:1:1[f]\n-- b.py:2:1[g]\n-- b.py:2:9[g]\n");
  EXPECT_EQ(TextOf(CallsOf(columns, "", std::nullopt)), "a.py:1[f] b.py:2[g]");
}

TEST(SourceLocationsTest, ThePlaceOfOthersIsNotItsOwn) {
  const std::vector<XlaCalls> paths = ParseXlaLocations("\n- a.py:1:1[f] mul\n- a.py:1:9[f] add\n");
  EXPECT_TRUE(PlaceOfOperation(paths, "jit(f)/mul", "jit(f)").is_own);
  EXPECT_TRUE(PlaceOfOperation(paths, "", "jit(f)").is_own) << "of all of them";
  const XlaPlace place = PlaceOfOperation(paths, "jit(f)/sub", "jit(f)");
  EXPECT_EQ(TextOf(place.calls), "a.py:1[f]");
  EXPECT_FALSE(place.is_own);
  EXPECT_FALSE(PlaceOfOperation({}, "jit(f)/sub", "jit(f)").is_own);
}

TEST(SourceLocationsTest, WithNothingInCommonTheFirstPathCounts) {
  const std::vector<XlaCalls> paths = ParseXlaLocations("\n- a.py:1:1[f]\n- b.py:2:1[g]\n");
  EXPECT_EQ(TextOf(CallsOf(paths, "", std::nullopt)), "a.py:1[f]");
}

TEST(SourceLocationsTest, ColumnAndFunctionMayBeAbsent) {
  EXPECT_EQ(TextOf(ParseXlaLocations("- a.py:7 mul\n").at(0)), "a.py:7[]");
  EXPECT_EQ(TextOf(ParseXlaLocations("- a.py:7\n").at(0)), "a.py:7[]");
  EXPECT_EQ(ParseXlaLocations("- a.py:7 mul\n").at(0).back().operation, "mul");
  EXPECT_EQ(TextOf(ParseXlaLocations("- /C:9:x y/a b.py:7[f]\n").at(0)), "/C:9:x y/a b.py:7[f]");
}

TEST(SourceLocationsTest, EscapedNamesAreRead) {
  const std::vector<XlaCalls> paths =
      ParseXlaLocations("\n- a.py:1:1[f] a-&gt;b/dot\n- a.py:2:1[g] dot\n");
  EXPECT_EQ(TextOf(CallsOf(paths, "jit(f)/a->b/dot", "jit(f)")), "a.py:1[f]");
  EXPECT_EQ(Unescaped("&lt;a&gt;&amp;&l"), "<a>&amp;&l");
}

TEST(SourceLocationsTest, ALineThatWasCutIsLeftOut) {
  const std::vector<XlaCalls> paths = ParseXlaLocations("- a.py:1:1[f] mul\n- a.py:2:1[f] jit(s");
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0].back().operation, "mul");
}

TEST(SourceLocationsTest, OtherLinesAreLeftOut) {
  for (const char* text :
       {"", "\n", "a.py:1:1[f]", "-a.py:1:1[f]", "- a.py", "- :1[f]", "- a.py:1:1[f", "- a.py:x",
        "- a.py:99999999999", "[invalid common_prefix]"}) {
    EXPECT_THAT(ParseXlaLocations(std::string(text) + "\n"), IsEmpty()) << text;
  }
  EXPECT_THAT(CallsOf({}, "jit(f)/mul", "jit(f)/mul"), IsEmpty());
}

TEST(SourceLocationsTest, TreesAreBounded) {
  std::string wide, deep;
  for (size_t i = 0; i < 2 * kMostXlaLocations; ++i) wide += "- a.py:1:1[f]\n";
  EXPECT_EQ(ParseXlaLocations(wide).size(), kMostXlaLocations);
  for (size_t i = 1; i < 2 * kMostXlaCalls; ++i) deep += std::string(i, '-') + " a.py:1:1[f]\n";
  EXPECT_EQ(ParseXlaLocations(deep).at(0).size(), kMostXlaCalls);
  // A depth that does not follow is the next one.
  EXPECT_EQ(TextOf(ParseXlaLocations("- a.py:1[f]\n----- b.py:2[g]\n").at(0)),
            "a.py:1[f] b.py:2[g]");
}

}  // namespace
}  // namespace utlz
