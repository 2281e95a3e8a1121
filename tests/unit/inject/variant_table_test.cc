#include "inject/record/variant_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace utlz::agent {
namespace {

cupti::KernelRecord Record(const char* name) {
  cupti::KernelRecord record;
  std::memset(&record, 0, sizeof record);
  record.name = name;
  record.grid_x = 4;
  record.block_x = 128;
  return record;
}

class VariantTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(strings_.Create());
    ASSERT_TRUE(variants_.Create(&strings_));
  }
  StringTable strings_;
  VariantTable variants_;
};

TEST_F(VariantTableTest, TellsShapesNodesAndFunctionsApart) {
  const cupti::KernelRecord plain = Record("gemm");
  const uint32_t id = variants_.Find(plain);
  EXPECT_EQ(variants_.Find(plain), id);
  for (auto change :
       {+[](cupti::KernelRecord* r) { r->grid_y = 2; },
        +[](cupti::KernelRecord* r) { r->block_x = 64; },
        +[](cupti::KernelRecord* r) { r->cluster_x = 2; },
        +[](cupti::KernelRecord* r) { r->dynamic_shared_memory = 1024; },
        +[](cupti::KernelRecord* r) { r->registers_per_thread = 40; },
        +[](cupti::KernelRecord* r) { r->local_memory_per_thread = 8; },
        +[](cupti::KernelRecord* r) { r->cluster_z = 2; },
        +[](cupti::KernelRecord* r) { r->graph_id = 3; },
        +[](cupti::KernelRecord* r) { r->launch_type = cupti::kLaunchTypeCooperative; },
        +[](cupti::KernelRecord* r) { r->graph_node_id = 77; },
        +[](cupti::KernelRecord* r) { r->name = "gemv"; }}) {
    cupti::KernelRecord changed = plain;
    change(&changed);
    EXPECT_NE(variants_.Find(changed), id);
  }
}

TEST_F(VariantTableTest, BeginsAnewOnceCleared) {
  const cupti::KernelRecord plain = Record("gemm");
  for (const char* name : {"a", "b", "c"}) variants_.Find(Record(name));
  const uint32_t id = variants_.Find(plain);
  strings_.Clear();
  variants_.Clear();
  EXPECT_LT(variants_.Find(plain), id);
  EXPECT_STREQ(strings_.Text(variants_.At(variants_.Find(plain)).name), "gemm");
  EXPECT_STREQ(strings_.Text(variants_.At(VariantTable::kOverflow).name),
               "(kernel variants beyond the table)");
}

TEST_F(VariantTableTest, TellsOneNameInTwoModulesApart) {
  const std::string first = "kernel", second = "kernel";
  const uint32_t a = variants_.Find(Record(first.c_str()));
  const uint32_t b = variants_.Find(Record(second.c_str()));
  EXPECT_NE(a, b);
  EXPECT_EQ(variants_.At(a).name, variants_.At(b).name);
  EXPECT_NE(variants_.At(a).module, variants_.At(b).module);
}

TEST_F(VariantTableTest, NoticesThatAPointerCameToMeanAnotherName) {
  char name[16] = "before";
  const uint32_t before = variants_.Find(Record(name));
  std::strcpy(name, "after");
  variants_.BeginBuffer();
  const uint32_t after = variants_.Find(Record(name));
  EXPECT_NE(before, after);
  EXPECT_STREQ(strings_.Text(variants_.At(after).name), "after");
}

TEST_F(VariantTableTest, NoticesANewNameBehindEveryVariantOfAPointer) {
  char name[16] = "before";
  cupti::KernelRecord wide = Record(name);
  wide.grid_x = 1000;
  const uint32_t before[] = {variants_.Find(Record(name)), variants_.Find(wide)};
  for (int buffer = 0; buffer < 3; ++buffer) {
    variants_.BeginBuffer();
    EXPECT_EQ(variants_.Find(Record(name)), before[0]);
    EXPECT_EQ(variants_.Find(wide), before[1]);
  }
  std::strcpy(name, "after");
  variants_.BeginBuffer();
  const uint32_t after[] = {variants_.Find(Record(name)), variants_.Find(wide)};
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(after[i], before[i]);
    EXPECT_STREQ(strings_.Text(variants_.At(after[i]).name), "after");
  }
  std::strcpy(name, "before");
  variants_.BeginBuffer();
  EXPECT_EQ(variants_.Find(Record(name)), before[0]);
  EXPECT_EQ(variants_.Find(wide), before[1]);
}

TEST_F(VariantTableTest, FindsEachOfManyVariants) {
  cupti::KernelRecord record = Record("many");
  std::vector<uint32_t> ids;
  for (int32_t i = 0; i < 20000; ++i) {
    record.grid_x = 1 + i % 100;
    record.block_y = 1 + i / 100;
    ids.push_back(variants_.Find(record));
    EXPECT_EQ(ids.back(), VariantTable::kFirst + 1 + static_cast<uint32_t>(i));
  }
  for (int32_t i = 0; i < 20000; ++i) {
    record.grid_x = 1 + i % 100;
    record.block_y = 1 + i / 100;
    ASSERT_EQ(variants_.Find(record), ids[static_cast<size_t>(i)]);
  }
}

TEST_F(VariantTableTest, KnowsNothingOnceCleared) {
  const cupti::KernelRecord record = Record("gemm");
  variants_.Find(Record("gemv"));
  variants_.Find(record);
  strings_.Clear();
  variants_.Clear();
  const uint32_t id = variants_.Find(record);
  EXPECT_EQ(id, VariantTable::kFirst + 1);
  EXPECT_EQ(variants_.size(), id + 1);
  EXPECT_STREQ(strings_.Text(variants_.At(id).name), "gemm");
}

TEST_F(VariantTableTest, PoolsWhatDoesNotFit) {
  cupti::KernelRecord record = Record("many");
  for (uint32_t i = 0; i < VariantTable::kMaxVariants + 10; ++i) {
    record.graph_node_id = i + 1;
    variants_.Find(record);
  }
  EXPECT_EQ(variants_.size(), VariantTable::kMaxVariants);
  EXPECT_EQ(variants_.Find(record), VariantTable::kOverflow);
}

}  // namespace
}  // namespace utlz::agent
