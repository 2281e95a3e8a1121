#include "tools/exporter/metrics_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tools/exporter/exporter.h"

namespace utlz {
namespace {

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

MetricsSnapshot SomeSnapshot(double hfu) {
  MetricsSnapshot snapshot;
  snapshot.Add(Metric::kSteps, {}, 7);
  snapshot.Add(Metric::kHfu, {}, hfu);
  return snapshot;
}

class MetricsFileTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = std::string(folder_.path()) + "/utlz.prom";
};

TEST_F(MetricsFileTest, ReplacesTheFileAsAWhole) {
  ASSERT_TRUE(WriteMetricsFile(path_, SomeSnapshot(0.25)).ok());
  struct stat first = {};
  ASSERT_EQ(stat(path_.c_str(), &first), 0);
  EXPECT_EQ(first.st_mode & 0777, 0644u);
  std::ifstream reader(path_);
  ASSERT_TRUE(WriteMetricsFile(path_, SomeSnapshot(0.5)).ok());
  std::ostringstream read_on;
  read_on << reader.rdbuf();
  EXPECT_NE(read_on.str().find("utlz_hfu_ratio 0.25\n"), std::string::npos)
      << "who reads the old one gets all of it";
  EXPECT_NE(ReadAll(path_).find("utlz_hfu_ratio 0.5\n"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1)
      << "nothing else is left";
}

TEST_F(MetricsFileTest, GoesThroughNoLink) {
  const std::string other = std::string(folder_.path()) + "/other";
  std::ofstream(other) << "mine";
  std::filesystem::create_symlink(other, path_);
  EXPECT_EQ(WriteMetricsFile(path_, SomeSnapshot(0.5)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReadAll(other), "mine");
}

TEST_F(MetricsFileTest, WaitsForNoReaderOfAPipe) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(WriteMetricsFile(path_, SomeSnapshot(0.5)).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(MetricsFileTest, AFolderThatIsMissing) {
  const auto exporter =
      Exporter::Start({.file = std::string(folder_.path()) + "/no/such"}, [](const auto&) {});
  EXPECT_FALSE(exporter.ok());
}

TEST_F(MetricsFileTest, WhatOnlyGrowsStays) {
  {
    auto exporter = Exporter::Start({.file = path_}, [](const auto&) {});
    ASSERT_TRUE(exporter.ok()) << exporter.status();
    EXPECT_EQ(ReadAll(path_), "");
    (*exporter)->Publish(SomeSnapshot(0.5));
  }
  const std::string page = ReadAll(path_);
  EXPECT_NE(page.find("utlz_steps_total 7\n"), std::string::npos) << page;
  EXPECT_EQ(page.find("hfu"), std::string::npos) << page;
}

}  // namespace
}  // namespace utlz
