#include "tools/calibrate/ceilings_store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace utlz {
namespace {

namespace fs = std::filesystem;

constexpr char kUuid[] = "GPU-00112233-4455-6677-8899-aabbccddeeff";

class CeilingsStoreTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    root_.Write("state/ceilings/" + name, text);
  }

  TemporaryFolder root_;
  const fs::path folder_ = root_.File("state/ceilings");
};

DeviceCeilings Example() {
  DeviceCeilings ceilings;
  ceilings.set_uuid(kUuid);
  ceilings.set_name("NVIDIA \"H200\"\n");
  ceilings.set_driver_version("580.1");
  ceilings.set_time_ns(1'700'000'000'000'000'001);
  ceilings.set_copy_bytes_per_second(4.1e12);
  ceilings.set_triad_bytes_per_second(4.2e12);
  ceilings.set_idle(true);
  ceilings.set_utlz_version("1");
  DeviceCeilings::Rate* rate = ceilings.add_rate();
  rate->set_data_type("bf16");
  rate->set_flops_per_second(7.1e14);
  rate->set_sm_clock_hz(1.5e9);
  rate->set_library("cuBLASLt 130200");
  return ceilings;
}

TEST_F(CeilingsStoreTest, KeepsWhatItIsGiven) {
  const auto path = SaveCeilings(folder_, Example());
  ASSERT_TRUE(path.ok()) << path.status().message();
  EXPECT_EQ(*path, folder_ / (std::string(kUuid) + ".json"));
  DeviceCeilings changed = Example();
  changed.set_copy_bytes_per_second(4e12);
  ASSERT_TRUE(SaveCeilings(folder_, changed).ok()) << "an older file is replaced";
  const std::vector<DeviceCeilings> all = LoadCeilings(folder_);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].SerializeAsString(), changed.SerializeAsString());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "nothing unfinished is left";
}

TEST_F(CeilingsStoreTest, LeavesOutWhatIsNoCeilings) {
  ASSERT_TRUE(SaveCeilings(folder_, Example()).ok());
  Write("GPU-a.json", "{}");
  Write("b.json", "[1, 2");
  Write("c.json", std::string(200'000, ' '));
  Write("d.txt", CeilingsToJson(Example()));
  EXPECT_EQ(LoadCeilings(folder_).size(), 1u);
  EXPECT_TRUE(LoadCeilings(folder_ / "none").empty());
  EXPECT_TRUE(LoadCeilings("").empty());
}

TEST_F(CeilingsStoreTest, AcceptsNoNumberThatIsNoRate) {
  const std::string json = R"({"schema": "utlz.ceilings/1", "uuid": ")" + std::string(kUuid) +
                           R"(", "copy_bytes_per_second": -1, "triad_bytes_per_second": "x",
      "time_ns": -5, "rates": [3, {"data_type": "bf16"}, {"data_type": 7, "flops_per_second": 5},
      {"flops_per_second": -7}]})";
  const auto ceilings = CeilingsFromJson(json);
  ASSERT_TRUE(ceilings.ok());
  EXPECT_EQ(ceilings->copy_bytes_per_second(), 0);
  EXPECT_EQ(ceilings->triad_bytes_per_second(), 0);
  EXPECT_EQ(ceilings->time_ns(), 0u);
  ASSERT_EQ(ceilings->rate_size(), 1);
  EXPECT_EQ(ceilings->rate(0).data_type(), "");
  EXPECT_FALSE(CeilingsFromJson(R"({"schema": "utlz.ceilings/1", "time_ns": 1e999})").ok());
}

TEST_F(CeilingsStoreTest, CutsLongNamesBetweenCharacters) {
  std::string name = "a";
  for (int i = 0; i < 200; ++i) name += "é";
  DeviceCeilings long_named = Example();
  long_named.set_name(name);
  const auto ceilings = CeilingsFromJson(CeilingsToJson(long_named));
  ASSERT_TRUE(ceilings.ok());
  EXPECT_EQ(ceilings->name(), name.substr(0, 255));
  DeviceCeilings sent;
  EXPECT_TRUE(sent.ParseFromString(ceilings->SerializeAsString()));
}

TEST_F(CeilingsStoreTest, RefusesNamesThatLeaveTheFolder) {
  DeviceCeilings hostile = Example();
  hostile.set_uuid("GPU-../../../../../../../../etc/passwd__");
  EXPECT_FALSE(SaveCeilings(folder_, hostile).ok());
  EXPECT_FALSE(CeilingsFromJson(CeilingsToJson(hostile)).ok());
  EXPECT_FALSE(SaveCeilings("", Example()).ok());
  EXPECT_FALSE(SaveCeilings("/dev/null/x", Example()).ok());
}

}  // namespace
}  // namespace utlz
