// Whose the work is: by layer, by line, and in sum.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/made_up_loads.h"
#include "tests/support/made_up_stacks.h"
#include "tests/unit/summary/owner_rows.h"

namespace utlz {
namespace {

double OwnIdle(const Rows& rows) {
  double sum = 0;
  for (const OwnerSummary& row : rows) sum += row.own_idle_before_ns();
  return sum;
}

// Stacks of a process: main → Model → blocks.N → attn, each with the line that calls it.
class OwnersTest : public ::testing::Test {
 protected:
  OwnersTest() {
    run_.StartRun();
    run_.StartProcess();
    run_.SendKernels({"gemm", "norm"});
  }

  static Launch From(uint32_t stack, uint64_t start_ns, uint64_t duration_ns, uint32_t variant) {
    Launch launch = RunBuilder::LaunchAt(start_ns, duration_ns, variant);
    launch.stack = stack;
    return launch;
  }

  static constexpr uint32_t kOwnKernels = 2;  // "gemm", "norm"

  RunBuilder run_;
  MadeUpStacks stacks_{3};  // after the names of the kernels
};

TEST_F(OwnersTest, WithoutStacksThereAreOperationsAlone) {
  SendLoop(&run_, 10, 100, 10);
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnersSummary& owners = summary.owners();
  EXPECT_EQ(OwnTime(owners.operations()), owners.time_ns());
  EXPECT_GT(owners.time_ns(), 0);
  EXPECT_EQ(owners.layers_size() + owners.lines_size() + owners.repeated_layers_size(), 0);
  EXPECT_FALSE(owners.has_line_share()) << "nobody looked for lines";
  EXPECT_FALSE(owners.has_idle_time_ns());
}

TEST_F(OwnersTest, WithoutKernelsThereAreNone) {
  EXPECT_FALSE(run_.EndRun(kMillisecond).has_owners());
}

double Sum(const google::protobuf::RepeatedField<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST_F(OwnersTest, OperationsAreThoseOfNamesElseFamilies) {
  run_.SendKernels({"triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_1",
                    "triton_poi_fused_gemm_0", "my_gemm"},
                   1, 132, 0, kOwnKernels);
  run_.SendLaunches({From(0, 0, 100, 2), From(0, 200, 300, 3), From(0, 600, 50, 4),
                     From(0, 700, 70, 5), From(0, 800, 80, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  const auto& operations = summary.owners().operations();
  const OwnerSummary* fused = RowNamed(operations, "add + relu");
  ASSERT_NE(fused, nullptr);
  EXPECT_EQ(fused->origin(), "kernel_name");
  EXPECT_EQ(fused->time_ns(), 400);
  EXPECT_EQ(fused->launches(), 2);
  ASSERT_EQ(fused->own_kernel_ids_size(), 2);
  EXPECT_EQ(fused->own_kernel_time_ns(0), 300) << "most time first";
  // An operation that is called as a family is: they stand apart.
  std::map<std::string, double> gemms;
  for (const OwnerSummary& row : operations) {
    if (row.name() == "gemm") gemms[row.origin()] = row.time_ns();
  }
  EXPECT_EQ(gemms, (std::map<std::string, double>{{"family", 150}, {"kernel_name", 50}}));
}

// In a file of Inductor's that a layer calls, with an operation for each of two lines.
TEST_F(OwnersTest, OperationsOfCompiledCodeAreThoseBesideTheLaunch) {
  const std::string file =
      "/tmp/torchinductor_me/yj/cyj5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3m"
      "jkapuhz.py";
  const std::string framework = "/usr/lib/python3/dist-packages/torch/_inductor/run.py";
  const uint32_t step = stacks_.Function(0, "step", "/home/me/train.py", 22);
  const uint32_t model = stacks_.Module(step, "", "OptimizedModule");
  const uint32_t first = stacks_.Function(model, "Runner.call", file, 41);
  const uint32_t second =
      stacks_.Function(stacks_.Function(model, "Runner.call", file, 57), "run", framework, 9);
  const uint32_t other = stacks_.Function(model, "Runner.call", file, 60);
  stacks_.SendTo(&run_);
  Strings lists;
  lists.set_first(stacks_.next_string());
  lists.add_values("aten.t, aten.mm");
  lists.add_values("aten.add, aten.native_layer_norm");
  lists.add_values(file);
  run_.Send(1, FRAME_STRINGS, lists);
  CompiledCode code;
  code.set_file(lists.first() + 2);
  for (const uint32_t line : {40, 56}) {
    code.add_line(line);
    code.add_lines(2);
    code.add_operations(lists.first() + (line == 40 ? 0 : 1));
  }
  run_.Send(1, FRAME_COMPILED_CODE, code);
  run_.SendLaunches({From(first, 0, 100, 0), From(second, 200, 50, 1), From(other, 300, 25, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  const auto& operations = summary.owners().operations();
  ASSERT_NE(RowNamed(operations, "mm"), nullptr);
  EXPECT_EQ(RowNamed(operations, "mm")->own_time_ns(), 100);
  EXPECT_EQ(RowNamed(operations, "mm")->origin(), "compiled_code");
  ASSERT_NE(RowNamed(operations, "add + native_layer_norm"), nullptr);
  EXPECT_EQ(RowNamed(operations, "add + native_layer_norm")->own_time_ns(), 50);
  ASSERT_NE(RowNamed(operations, "gemm"), nullptr) << "a line that nothing is said of";
  EXPECT_EQ(RowNamed(operations, "gemm")->own_time_ns(), 25);
  EXPECT_EQ(OwnTime(operations), summary.owners().time_ns());
  // Nobody changes a generated file: the line is the one that calls it.
  ASSERT_EQ(summary.owners().lines_size(), 1);
  EXPECT_EQ(summary.owners().lines(0).name(), "train.py:22 step");
  EXPECT_EQ(summary.owners().lines(0).own_time_ns(), 175);
}

// A compiler launches variants of a kernel to choose one: within a layer's call, or on a thread of
// its own without Python.
TEST_F(OwnersTest, AutotuningIsNoLayersWork) {
  run_.SendKernels(
      {"_ZN15stream_executor3gpu26RedzoneAllocatorKernelImplEPhhmPj", "RedzoneAllocator"}, 1, 132,
      0, kOwnKernels);
  MadeUpStacks stacks(kOwnKernels + 3);
  const uint32_t step = stacks.Function(0, "step", "/home/me/train.py", 22);
  const uint32_t layer = stacks.Module(step, "", "OptimizedModule");
  const uint32_t call = stacks.Function(
      layer, "call", "/tmp/me/yj/cyj5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3mjkapuhz.py", 41);
  const std::string runtime = "/usr/lib/python3/dist-packages/torch/_inductor/runtime/";
  const uint32_t tried = stacks.Function(
      stacks.Function(call, "CachingAutotuner.bench", runtime + "triton_heuristics.py", 999),
      "Kernel.run", runtime + "static_triton_launcher.py", 291);
  const uint32_t backward = stacks.Function(
      stacks.Function(0, "call",
                      "/tmp/me/yj/cyj5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3mjkapuhz.py", 57),
      "Kernel.run", runtime + "static_triton_launcher.py", 291);
  stacks.SendTo(&run_);
  run_.SendLaunches({From(tried, 0, 100, 0), From(call, 200, 50, 0), From(0, 300, 30, 2),
                     From(0, 400, 20, 3), From(backward, 500, 10, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnersSummary& owners = summary.owners();
  const OwnerSummary* row = RowNamed(owners.layers(), "(autotuning)");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->kind(), "autotuning");
  EXPECT_EQ(row->own_time_ns(), 130);
  EXPECT_EQ(RowNamed(owners.layers(), "OptimizedModule")->own_time_ns(), 50);
  EXPECT_EQ(RowNamed(owners.layers(), "(no stack)")->own_time_ns(), 20) << "like it by name alone";
  EXPECT_NEAR(owners.autotuning_share(), 130.0 / 210, 1e-12);
  EXPECT_NEAR(owners.ownerless_share(), 20.0 / 210, 1e-12);
  EXPECT_EQ(OwnTime(owners.layers()), owners.time_ns());
  // Where no line of the program is known, the generated file's is better than the framework's.
  const OwnerSummary* line =
      RowNamed(owners.lines(), "cyj5p2kkcxivwprsssdwak2bkle6lazyybdftc6ag4o3mjkapuhz.py:57 call");
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->own_time_ns(), 10);
}

// A compiler tries kernels before the first step, without a stack.
TEST_F(OwnersTest, CoverageIsToldOfTheStepsToo) {
  constexpr uint32_t kTried = kOwnKernels, kFirstOfStep = kOwnKernels + 1, kOfStep = 8;
  std::vector<std::string> names = {"tried"};
  for (uint32_t i = 0; i < kOfStep; ++i) names.push_back("kernel_" + std::to_string(i));
  run_.SendKernels(names, 1, 132, 0, kOwnKernels);
  MadeUpStacks stacks(kFirstOfStep + kOfStep + 1);
  const uint32_t main = stacks.Function(0, "main", "/home/me/train.py", 54);
  stacks.SendTo(&run_);
  std::vector<Launch> launches;
  for (uint64_t i = 0; i < 10; ++i) {
    launches.push_back(From(0, i * 100 * kMicrosecond, 50 * kMicrosecond, kTried));
  }
  for (uint64_t i = 0; i < 100 * kOfStep; ++i) {
    const uint64_t start_ns = 2 * kMillisecond + i * 125 * kMicrosecond;
    launches.push_back(From(main, start_ns, 100 * kMicrosecond, kFirstOfStep + i % kOfStep));
  }
  run_.SendLaunches(launches);
  const Summary summary = run_.EndRun(110 * kMillisecond);
  ASSERT_EQ(summary.steady_state().scope(), "steps");
  const OwnersSummary& owners = summary.owners();
  EXPECT_NEAR(owners.ownerless_share(), 0.5 / 80.5, 1e-9);
  EXPECT_NEAR(owners.line_share(), 80 / 80.5, 1e-9);
  EXPECT_NEAR(owners.steady_state_line_share(), 1, 1e-9);
  EXPECT_EQ(owners.steady_state_ownerless_share(), 0);
  EXPECT_EQ(owners.steady_state_layer_share(), 0);
  EXPECT_NEAR(owners.steady_state_time_ns(), 80e6, 2e6) << "give or take a step or two";
  EXPECT_EQ(RowNamed(owners.lines(), "(no line)")->steady_state_share(), 0);
  EXPECT_GT(RowNamed(owners.lines(), "train.py:54 main")->steady_state_share(), 0.9);
  // Gaps between what was tried are none of the steps'.
  EXPECT_EQ(RowNamed(owners.lines(), "(no line)")->idle_before_ns(), 0);
  EXPECT_EQ(RowNamed(owners.lines(), "train.py:54 main")->idle_before_ns(), owners.idle_time_ns());
}

TEST_F(OwnersTest, WithoutStepsCoverageIsOfTheRunAlone) {
  const uint32_t main = stacks_.Function(0, "main", "/home/me/train.py", 54);
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(main, 0, 100, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  EXPECT_TRUE(summary.owners().has_line_share());
  EXPECT_FALSE(summary.owners().has_steady_state_line_share());
}

TEST_F(OwnersTest, WithoutNamesOfInstructionsJaxTellsLittle) {
  const uint32_t main = stacks_.Function(0, "main", "/home/me/train.py", 54);
  const uint32_t jax =
      stacks_.Function(main, "cache_miss", "/x/site-packages/jax/_src/pjit.py", 100);
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(jax, 0, 100, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  EXPECT_EQ(summary.owners().lines(0).name(), "train.py:54 main");
  EXPECT_EQ(summary.owners().note(),
            "operations of XLA inside a function of jax.jit have the line that calls it, and no "
            "layer: 'utlz run' with --stacks=auto reads XLA's own names, but not in processes that "
            "were attached to, nor in programs that set NVTX_INJECTION64_PATH themselves");
}

TEST_F(OwnersTest, FunctionsOutsideOfLayersAreOwners) {
  const std::string functional = "/usr/lib/python3/dist-packages/torch/nn/functional.py";
  const uint32_t step = stacks_.Function(0, "step", "/home/me/train.py", 24);
  const uint32_t loss = stacks_.Function(step, "cross_entropy", functional, 3400);
  const uint32_t inner = stacks_.Function(loss, "nll_loss", functional, 2700);
  const uint32_t backward = stacks_.Pass(inner, STACK_FRAME_BACKWARD);
  const uint32_t layer = stacks_.Module(step, "", "Model");
  const uint32_t relu = stacks_.Function(layer, "relu", functional, 1500);
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(loss, 0, 100, 0), From(backward, 200, 50, 1), From(relu, 300, 30, 0),
                     From(step, 400, 20, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnersSummary& owners = summary.owners();
  const OwnerSummary* row = RowNamed(owners.layers(), "(function cross_entropy)");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->kind(), "function");
  EXPECT_EQ(row->own_time_ns(), 150);
  EXPECT_EQ(row->backward_time_ns(), 50);
  EXPECT_EQ(RowNamed(owners.layers(), "Model")->own_time_ns(), 30) << "a layer's own";
  EXPECT_NEAR(owners.function_share(), 150.0 / 200, 1e-12);
  EXPECT_NEAR(owners.layer_share(), 30.0 / 200, 1e-12);
  EXPECT_EQ(owners.ownerless_share(), 0);
  EXPECT_EQ(OwnTime(owners.layers()), owners.time_ns());
}

TEST_F(OwnersTest, KernelsOfAnOwnerAreNamedWithTheirPart) {
  const uint32_t model = stacks_.Module(0, "", "Gpt");
  const uint32_t layer = stacks_.Module(model, "mlp", "Mlp");
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(model, 0, 100, 0), From(layer, 200, 200, 0), From(layer, 500, 400, 1)});
  const Summary summary = run_.EndRun(kMillisecond);
  std::map<uint32_t, std::string> names;
  for (const KernelSummary& kernel : summary.kernels()) names[kernel.id()] = kernel.name();
  const auto parts = [&](const OwnerSummary& row) {
    std::map<std::string, double> times;
    for (int i = 0; i < row.own_kernel_ids_size(); ++i) {
      times[names[row.own_kernel_ids(i)]] = row.own_kernel_time_ns(i);
    }
    return times;
  };
  const auto& layers = summary.owners().layers();
  EXPECT_EQ(parts(*RowNamed(layers, "Gpt")), (std::map<std::string, double>{{"gemm", 100}}))
      << "without those of the layers inside";
  EXPECT_EQ(parts(*RowNamed(layers, "mlp")),
            (std::map<std::string, double>{{"gemm", 200}, {"norm", 400}}));
  EXPECT_FALSE(layers.Get(0).has_own_kernels_left_out());
}

TEST_F(OwnersTest, KernelsOfAnOwnerAreBounded) {
  constexpr uint32_t kKernels = 100, kShown = 64;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kKernels; ++i) names.push_back("kernel" + std::to_string(i));
  run_.SendKernels(names, 1, 132, 0, kOwnKernels);
  stacks_ = MadeUpStacks(3 + kKernels);
  const uint32_t model = stacks_.Module(0, "", "Gpt");
  stacks_.SendTo(&run_);
  std::vector<Launch> launches;
  for (uint32_t i = 0; i < kKernels; ++i) {
    launches.push_back(From(model, 1000 * i, 100 + i, 2 + i));
  }
  run_.SendLaunches(launches);
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnerSummary& layer = summary.owners().layers(0);
  EXPECT_EQ(layer.own_kernel_ids_size(), static_cast<int>(kShown));
  EXPECT_EQ(layer.own_kernels_left_out(), kKernels - kShown);
  EXPECT_EQ(layer.own_kernel_time_ns(0), 100 + kKernels - 1);
  EXPECT_LT(Sum(layer.own_kernel_time_ns()), layer.own_time_ns());
}

TEST_F(OwnersTest, LayersAreATreeWhoseOwnTimesSumToAll) {
  const uint32_t main = stacks_.Function(0, "main", "/home/me/train.py", 88);
  const uint32_t model = stacks_.Module(main, "", "Gpt");
  const uint32_t forward = stacks_.Function(model, "Gpt.forward", "/home/me/model.py", 20);
  std::vector<uint32_t> attention;
  for (const char* path : {"blocks.0.attn", "blocks.1.attn", "blocks.10.attn"}) {
    const uint32_t layer = stacks_.Module(forward, path, "Attention");
    const uint32_t line = stacks_.Function(layer, "Attention.forward", "/home/me/model.py", 41);
    attention.push_back(
        stacks_.Function(line, "linear", "/x/site-packages/torch/nn/functional.py", 9));
  }
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(forward, 0, 1000, 1), From(attention[0], 1000, 301, 0),
                     From(attention[1], 1400, 302, 0), From(attention[2], 2000, 303, 0),
                     From(attention[0], 2400, 301, 0), From(0, 2800, 77, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnersSummary& owners = summary.owners();
  EXPECT_EQ(owners.time_ns(), 1000 + 301 + 302 + 303 + 301 + 77);
  EXPECT_EQ(OwnTime(owners.layers()), owners.time_ns());
  EXPECT_EQ(OwnTime(owners.lines()), owners.time_ns());
  EXPECT_EQ(OwnTime(owners.repeated_layers()), owners.time_ns());
  EXPECT_EQ(OwnTime(owners.operations()), owners.time_ns());

  std::vector<std::string> names;
  for (const OwnerSummary& layer : owners.layers()) names.push_back(layer.name());
  EXPECT_EQ(names, (std::vector<std::string>{"Gpt", "blocks", "blocks.0", "blocks.0.attn",
                                             "blocks.1", "blocks.1.attn", "blocks.10",
                                             "blocks.10.attn", "(no stack)"}));
  const OwnerSummary& gpt = owners.layers(0);
  EXPECT_EQ(gpt.time_ns(), 2207);
  EXPECT_EQ(gpt.own_time_ns(), 1000);
  EXPECT_EQ(gpt.module_class(), "Gpt");
  EXPECT_FALSE(gpt.has_parent());
  EXPECT_EQ(owners.layers(3).own_time_ns(), 602);
  EXPECT_EQ(owners.layers(3).parent(), 2);
  EXPECT_FALSE(owners.layers(1).has_module_class()) << "a container that is never called";
  const OwnerSummary* repeated = RowNamed(owners.repeated_layers(), "blocks.*.attn");
  ASSERT_NE(repeated, nullptr);
  EXPECT_EQ(repeated->instances(), 3u);
  EXPECT_EQ(repeated->time_ns(), 1207);
  EXPECT_NEAR(owners.layer_share(), 2207.0 / 2284, 1e-12);
  EXPECT_NEAR(owners.ownerless_share(), 77.0 / 2284, 1e-12);
}

TEST_F(OwnersTest, LinesAreThoseOutsideOfTheFramework) {
  const uint32_t main = stacks_.Function(0, "main", "/home/me/train.py", 88);
  const uint32_t model = stacks_.Module(main, "", "Gpt");
  const uint32_t line = stacks_.Function(model, "Gpt.forward", "/home/me/model.py", 41);
  const uint32_t inner =
      stacks_.Function(line, "linear", "/x/site-packages/torch/nn/functional.py", 9);
  const uint32_t optimizer =
      stacks_.Function(main, "AdamW.step", "/x/site-packages/torch/optim/adamw.py", 7);
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(inner, 0, 100, 0), From(optimizer, 500, 200, 1)});
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnersSummary& owners = summary.owners();
  const OwnerSummary* of_model = RowNamed(owners.lines(), "model.py:41 Gpt.forward");
  const OwnerSummary* of_main = RowNamed(owners.lines(), "train.py:88 main");
  ASSERT_NE(of_model, nullptr);
  ASSERT_NE(of_main, nullptr);
  EXPECT_EQ(of_model->time_ns(), 100);
  EXPECT_EQ(of_model->file(), "/home/me/model.py");
  EXPECT_EQ(of_main->time_ns(), 200);
  EXPECT_EQ(of_main->idle_before_ns(), 400);
  EXPECT_EQ(of_main->idle_after(), "model.py:41 Gpt.forward");
  EXPECT_EQ(owners.idle_time_ns(), 400);
  EXPECT_EQ(OwnIdle(owners.lines()), 400);
  EXPECT_EQ(OwnIdle(owners.layers()), 400);
  const OwnerSummary* layer = RowNamed(owners.layers(), "(optimizer AdamW)");
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->kind(), "optimizer");
  EXPECT_EQ(layer->time_ns(), 200);
  EXPECT_EQ(owners.line_share(), 1);
  EXPECT_NEAR(owners.layer_share(), 100.0 / 300, 1e-12);
  EXPECT_NEAR(owners.optimizer_share(), 200.0 / 300, 1e-12);
}

TEST_F(OwnersTest, PassesOfLayersAreApartAndTogether) {
  const uint32_t main = stacks_.Function(0, "main", "/home/me/train.py", 88);
  const uint32_t model = stacks_.Module(main, "", "Gpt");
  const uint32_t line = stacks_.Function(model, "Gpt.forward", "/home/me/model.py", 41);
  const uint32_t layer = stacks_.Module(line, "head", "Linear");
  const uint32_t backward = stacks_.Pass(layer, STACK_FRAME_BACKWARD);
  const uint32_t inferred = stacks_.Pass(layer, STACK_FRAME_BACKWARD, true);
  const uint32_t again = stacks_.Pass(layer, STACK_FRAME_RECOMPUTATION);
  const uint32_t of_again = stacks_.Pass(again, STACK_FRAME_BACKWARD);
  const uint32_t outside = stacks_.Pass(main, STACK_FRAME_BACKWARD);
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(layer, 0, 100, 0), From(backward, 200, 200, 1),
                     From(inferred, 500, 30, 1), From(again, 600, 40, 0),
                     From(of_again, 700, 50, 1), From(outside, 800, 60, 1), From(0, 900, 20, 1)});
  const Summary summary = run_.EndRun(kMillisecond);
  const OwnersSummary& owners = summary.owners();
  EXPECT_EQ(OwnTime(owners.layers()), 500);
  EXPECT_NEAR(owners.backward_share(), 340.0 / 500, 1e-12);
  EXPECT_NEAR(owners.recomputation_share(), 40.0 / 500, 1e-12);
  EXPECT_NEAR(owners.inferred_share(), 30.0 / 500, 1e-12);
  EXPECT_NEAR(owners.ownerless_share(), 20.0 / 500, 1e-12);
  EXPECT_EQ(owners.optimizer_share(), 0);
  for (const char* name : {"Gpt", "head"}) {
    const OwnerSummary* row = RowNamed(owners.layers(), name);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->time_ns(), 420);
    EXPECT_EQ(row->backward_time_ns(), 280);
    EXPECT_EQ(row->recomputation_time_ns(), 40);
    EXPECT_EQ(row->inferred_time_ns(), 30);
    EXPECT_EQ(row->own_backward_time_ns(), row->name() == "head" ? 280 : 0);
    EXPECT_EQ(row->own_recomputation_time_ns(), row->name() == "head" ? 40 : 0);
  }
  const OwnerSummary* of_model = RowNamed(owners.lines(), "model.py:41 Gpt.forward");
  ASSERT_NE(of_model, nullptr) << "a backward pass has its forward's line";
  EXPECT_EQ(of_model->time_ns(), 420);
  EXPECT_EQ(of_model->backward_time_ns(), 280);
  const OwnerSummary* none = RowNamed(owners.layers(), "(no stack)");
  ASSERT_NE(none, nullptr);
  EXPECT_FALSE(none->has_backward_time_ns()) << "unknown is absent";
}

TEST_F(OwnersTest, HostileNamesAreBoundedAndValid) {
  const uint32_t model = stacks_.Module(0, std::string(900, '.'), std::string("\xff\xfe", 2));
  const uint32_t odd = stacks_.Module(model, "a..b\xc3.", "");
  stacks_.SendTo(&run_);
  run_.SendLaunches({From(model, 0, 100, 0), From(odd, 200, 100, 0)});
  const Summary summary = run_.EndRun(kMillisecond);
  EXPECT_EQ(OwnTime(summary.owners().layers()), 200);
  std::string bytes;
  EXPECT_TRUE(summary.SerializeToString(&bytes));
}

TEST_F(OwnersTest, AReasonIsGivenWhereThereAreNoStacks) {
  AgentStatus status;
  status.set_no_stack(NO_STACK_FREE_THREADED);
  run_.Send(1, FRAME_AGENT_STATUS, status);
  SendLoop(&run_, 10, 100, 10);
  const Summary summary = run_.EndRun(kMillisecond);
  EXPECT_EQ(summary.owners().note(),
            "process 1001 has launches without stacks: its Python is free-threaded");
  EXPECT_EQ(summary.owners().layers_size(), 0);
}

}  // namespace
}  // namespace utlz
