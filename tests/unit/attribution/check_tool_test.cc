#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "tests/unit/attribution/scratch_files.h"
#include "tools/attribution_check/capture.h"
#include "tools/attribution_check/gzip_lines.h"
#include "tools/attribution_check/reference.h"
#include "tools/attribution_check/step_match.h"
#include "tools/attribution_check/tensor_use.h"

namespace utlz {
namespace {

using Begins = std::vector<size_t>;

TEST(StepMatch, FindsWholeStepsFromAnyPosition) {
  const std::vector<size_t> reference = {1, 2, 2, 3};
  EXPECT_EQ(FindSteps({9, 2, 3, 1, 2, 2, 3, 1, 2, 9, 1, 2, 2}, reference), (Begins{1, 5}));
  EXPECT_EQ(FindSteps({1, 2, 2, 3, 1, 2, 9, 2, 3, 1, 2, 2, 3}, reference), (Begins{0, 7}))
      << "what is broken costs the steps that it lies in";
  EXPECT_EQ(FindSteps({7, 7, 7, 7, 7}, {7, 7}), (Begins{0, 2}));
}

TEST(StepMatch, FindsNoStepInAnotherProgram) {
  EXPECT_TRUE(FindSteps({4, 5, 6}, {1, 2}).empty());
  EXPECT_TRUE(FindSteps({}, {1, 2}).empty());
  EXPECT_TRUE(FindSteps({1}, {}).empty());
}

TEST(Reference, ReadsQuotedNumbersAndAveragesRuns) {
  const ScratchFiles files;
  const std::string header =
      "==PROF== Connected\n"
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const std::string one = files.Write(
      "one.csv", header +
                     "\"0\",\"a<b, c>\",\"(2, 3, 1)\",\"dram__bytes_read.sum\",\"byte\",\"1,000\"\n"
                     "\"0\",\"a<b, c>\",\"(2, 3, "
                     "1)\",\"sm__ops_path_tensor_src_fp16_dst_fp32.sum\",\"\",\"4\"\n");
  const std::string two = files.Write(
      "two.csv",
      header + "\"0\",\"a<b, c>\",\"(2, 3, 1)\",\"dram__bytes_read.sum\",\"Kbyte\",\"3\"\n");
  const auto reference = ReadReference({one, two});
  ASSERT_TRUE(reference.ok()) << reference.status();
  ASSERT_EQ(reference->size(), 1u);
  EXPECT_EQ((*reference)[0].key.name, "a<b, c>");
  EXPECT_EQ((*reference)[0].key.grid, (std::array<uint32_t, 3>{2, 3, 1}));
  EXPECT_DOUBLE_EQ((*reference)[0].dram_read_bytes, 2000);
  EXPECT_DOUBLE_EQ((*reference)[0].tensor_flops, 2);
}

TEST(Reference, RefusesRunsOfDifferentLaunches) {
  const ScratchFiles files;
  const std::string header =
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const std::string row = "\"(1, 1, 1)\",\"dram__bytes_read.sum\",\"byte\",\"1\"\n";
  const std::string one = files.Write("left.csv", header + "\"0\",\"a\"," + row);
  const std::string two = files.Write("right.csv", header + "\"0\",\"b\"," + row);
  EXPECT_FALSE(ReadReference({one, two}).ok());
}

TEST(Capture, SaysWhichLineIsDamaged) {
  const ScratchFiles files;
  files.Write("damaged.names.gz", "kernel\n");
  files.Write("damaged.k.gz", "0 0 0 1 1 1 0\n5000 6000 7 1 1 1 0\n");
  files.Write("damaged.pm.gz", "");
  const auto capture = ReadCapture(files.Path("damaged"));
  ASSERT_FALSE(capture.ok());
  EXPECT_NE(capture.status().message().find("line 2"), absl::string_view::npos);
}

TEST(GzipLines, SaysThatAFileIsCutOff) {
  const ScratchFiles files;
  const std::string path = files.Path("whole.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919) + "\n";
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  size_t lines = 0;
  const auto count = [&lines](size_t number, absl::string_view) {
    lines = number;
    return absl::OkStatus();
  };
  ASSERT_TRUE(ForEachGzipLine(path, count).ok());
  EXPECT_EQ(lines, 20'000u);
  std::ifstream whole(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)),
                          std::istreambuf_iterator<char>());
  const std::string cut = files.Write("cut.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_FALSE(ForEachGzipLine(cut, count).ok());
}

TEST(TensorUse, KnowsFamiliesByName) {
  EXPECT_EQ(TensorRate("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"), 1);
  EXPECT_EQ(TensorRate("_ZN2at6native29vectorized_elementwise_kernelILi8EE"), 0);
  EXPECT_EQ(TensorRate("_ZN8cublasLt19splitKreduce_kernelILi32EE"), 0);
  EXPECT_EQ(TensorRate("ampere_sgemm_128x64_tn"), 0);
  EXPECT_EQ(TensorRate("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16"), 0.5);
  EXPECT_EQ(TensorRate("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n"), 2);
  EXPECT_EQ(TensorRate("my_own_kernel"), 1);
}

}  // namespace
}  // namespace utlz
