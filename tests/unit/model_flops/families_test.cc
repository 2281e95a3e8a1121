// The rows of tools/model_flops/families.json hold nothing that would be passed over.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/model_flops/decoder_family.h"
#include "tools/model_flops/families_json.h"

namespace utlz {
namespace {

TEST(FamiliesTest, HaveKnownKeysAndWords) {
  const std::set<std::string> keys = {"gated_mlp", "windows", "dense_size", "named", "defaults"};
  const std::set<std::string> windows = {"all", "every", "opt_in", "listed", "chunked"};
  const auto families = nlohmann::json::parse(kFamiliesJson);
  EXPECT_EQ(families.size(), 43u);
  for (const auto& [name, family] : families.items()) {
    for (const auto& [key, value] : family.items()) {
      EXPECT_TRUE(keys.contains(key)) << name << ": " << key;
      if (key != "windows") continue;
      EXPECT_TRUE(windows.contains(value.get<std::string>())) << name;
    }
  }
}

TEST(FamiliesTest, AreFoundByName) {
  ASSERT_TRUE(FamilyOf("smollm3").has_value());
  EXPECT_EQ(FamilyOf("smollm3")->windows, Windows::kListed);
  EXPECT_EQ(FamilyOf("llama4_text")->windows, Windows::kChunked);
  EXPECT_FALSE(FamilyOf("gpt_neox")->gated_mlp);
  EXPECT_TRUE(FamilyOf("llama")->gated_mlp);
  EXPECT_FALSE(FamilyOf("bert").has_value());
}

}  // namespace
}  // namespace utlz
