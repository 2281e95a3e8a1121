// Exports of compiled JAX programs: kernels have the functions, modules and operations that XLA
// names.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/made_up_stacks.h"
#include "tests/unit/export/pprof_file.h"
#include "tests/unit/export/recorded_profile.h"
#include "tools/export/trace_export.h"

namespace utlz {
namespace {

const std::string kName = "jit(step)/transpose(jvp(Model))/block_0/mul";

class XlaExportTest : public ::testing::Test {
 protected:
  // One launch, of this instruction.
  void Record(const std::string& instruction, const std::string& name = kName) {
    RecordedProfile profile(name_ + ".utlz");
    profile.StartRun();
    profile.StartProcess();
    profile.SendKernels({"loop_multiply_fusion"});
    MadeUpStacks stacks(2);
    const uint32_t main = stacks.Function(0, "main", "/home/me/train.py", 54);
    const uint32_t stack = stacks.Instruction(main, name, instruction,
                                              "\n- /home/me/train.py:31:18[step]\n"
                                              "-- /home/me/model.py:21:16[Model.__call__]\n",
                                              name);
    stacks.SendTo(&profile);
    Launch launch = RunBuilder::LaunchAt(0, 100, 0);
    launch.stack = stack;
    profile.SendLaunches({launch});
    profile.EndRun(1000);
  }

  std::string Export(TraceFormat format, bool paths = true) {
    TraceExportOptions options;
    options.replace = true;
    options.paths = paths;
    const std::string output = name_ + ".out";
    const auto result = ExportTrace(name_ + ".utlz", format, output, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return output;
  }

  nlohmann::json ArgumentsOfKernel() {
    std::ifstream file(Export(TraceFormat::kChrome));
    const auto trace = nlohmann::json::parse(file);
    for (const auto& event : trace["traceEvents"]) {
      if (event.contains("cat") && event["cat"] == "kernel") return event["args"];
    }
    ADD_FAILURE() << "no kernel";
    return {};
  }

  const std::string name_ = ::testing::TempDir() + "xla_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(XlaExportTest, TracesHaveTheInstruction) {
  Record("loop_multiply_fusion.3");
  const nlohmann::json arguments = ArgumentsOfKernel();
  EXPECT_EQ(arguments["layer"], "block_0");
  EXPECT_EQ(arguments["line"], "model.py:21 Model.__call__");
  EXPECT_EQ(arguments["pass"], "backward");
  EXPECT_EQ(arguments["operations"], "mul");
  EXPECT_EQ(arguments["XLA instruction"], "loop_multiply_fusion.3");
}

TEST_F(XlaExportTest, HostileNamesStayNames) {
  Record("\"}],\n\xff", "jit(f)/M\"\xfe/a\"}b/mul");
  const nlohmann::json arguments = ArgumentsOfKernel();
  EXPECT_TRUE(arguments["XLA instruction"].is_string());
  EXPECT_EQ(arguments["operations"], "mul");
}

TEST_F(XlaExportTest, SamplesEndInTheOperations) {
  Record("loop_multiply_fusion.3");
  for (const bool paths : {true, false}) {
    const PprofFile profile = ReadPprof(Export(TraceFormat::kPprof, paths));
    ASSERT_EQ(profile.samples.size(), 1u);
    std::vector<std::string> frames;
    for (const PprofFileFrame& frame : profile.samples[0].stack) {
      frames.push_back(frame.function + (frame.file.empty() ? "" : " " + frame.file));
    }
    const std::string folder = paths ? "/home/me/" : "";
    EXPECT_EQ(frames, (std::vector<std::string>{
                          "loop_multiply_fusion", "mul", "(backward)", "block_0", "Model",
                          "Model.__call__ " + folder + "model.py", "step " + folder + "train.py",
                          "main " + folder + "train.py"}));
  }
}

}  // namespace
}  // namespace utlz
