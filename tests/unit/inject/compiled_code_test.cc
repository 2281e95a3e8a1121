// What Inductor's files say of launches, as releases of PyTorch write them.
#include "inject/python/compiled_code.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace utlz::agent {
namespace {

struct Found {
  uint32_t line, lines;
  std::string operations;
  bool operator==(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.line << "+" << found.lines << " " << found.operations;
}

std::vector<Found> Read(const std::string& text) {
  std::vector<Found> all;
  CompiledCodeReader reader(text);
  for (CompiledLaunch launch; reader.Next(&launch);) {
    all.push_back({launch.line, launch.lines, std::string(launch.operations)});
  }
  return all;
}

// Lines are counted from the first one.
TEST(CompiledCodeTest, TritonKernelsOfPyTorch25) {
  EXPECT_EQ(Read("def call(args):\n"
                 "    with torch.cuda._DeviceGuard(0):\n"
                 "        buf0 = empty_strided_cuda((8, 4), (4, 1), torch.float32)\n"
                 "        # Topologically Sorted Source Nodes: [x, y], Original ATen: [aten.add, "
                 "aten.relu]\n"
                 "        stream0 = get_raw_stream(0)\n"
                 "        triton_poi_fused_add_relu_0.run(arg0_1, buf0, 32, grid=grid(32), "
                 "stream=stream0)\n"
                 "        del arg0_1\n"
                 "    return (buf0, )\n"),
            (std::vector<Found>{{5, 2, "aten.add, aten.relu"}}));
}

TEST(CompiledCodeTest, LibrariesAndFallbacks) {
  EXPECT_EQ(Read("    # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, "
                 "aten.mm]\n"
                 "    extern_kernels.mm(buf0, arg1_1, out=buf1)\n"
                 "    buf2 = empty_strided_cuda((8, 4), (4, 1), torch.float32)\n"
                 "    # Unsorted Source Nodes: [], Original ATen: [aten._softmax]\n"
                 "    buf3 = torch.ops.aten._softmax.default(buf1, 1, False)\n"
                 "    del buf1\n"),
            (std::vector<Found>{{2, 1, "aten.mm"}, {5, 1, "aten._softmax"}}));
}

// The list has what the arguments are made of as well, which other launches did.
TEST(CompiledCodeTest, ACallOfALibraryIsOneOperation) {
  const std::string comment =
      "  # Topologically Sorted Source Nodes: [x, linear], Original ATen: [aten.add, aten.addmm, "
      "aten.addmm_out, aten.t]\n";
  const auto operations = [&comment](const std::string& line) {
    const std::vector<Found> found = Read(comment + "  " + line + "\n");
    return found.empty() ? "" : found[0].operations;
  };
  EXPECT_EQ(operations("extern_kernels.addmm(arg0, buf1, out=buf2)"), "aten.addmm");
  EXPECT_EQ(operations("buf2 = torch.ops.aten.addmm.default(buf1)"), "aten.addmm");
  EXPECT_EQ(operations("buf2 = aten.addmm(buf1)"), "aten.addmm");
  EXPECT_EQ(operations("extern_kernels.t(buf1)"), "aten.t");
  // One that is not in the list stands for all of it.
  const std::string all = "aten.add, aten.addmm, aten.addmm_out, aten.t";
  EXPECT_EQ(operations("extern_kernels.mm(buf1)"), all);
  EXPECT_EQ(operations("extern_kernels."), all);
  EXPECT_EQ(operations("buf2 = torch.ops.mine.addmm.default(buf1)"), all);
  EXPECT_EQ(operations("triton_poi_fused_add_0.run(buf1)"), all);
}

TEST(CompiledCodeTest, ProvenanceHandlesAndRecordedFunctionsOfPyTorch29) {
  EXPECT_EQ(Read("            # Topologically Sorted Source Nodes: [d], Original ATen: "
                 "[aten.mul]\n"
                 "            # [Provenance debug handles] triton_poi_fused_mul_0:1\n"
                 "            _rf_enter = torch._C._profiler._RecordFunctionFast('## "
                 "inductor_kernel:mul:1 ##'); _rf_enter.__enter__()\n"
                 "            raw_stream0 = get_raw_stream(0)\n"
                 "            triton_poi_fused_mul_0.run(arg0_1, buf0, 32, stream=raw_stream0)\n"),
            (std::vector<Found>{{2, 4, "aten.mul"}}));
}

TEST(CompiledCodeTest, SumsOfAWorkspaceAreOfTheirReduction) {
  EXPECT_EQ(
      Read("            # Call mix order reduction kernel\n"
           "            # Topologically Sorted Source Nodes: [sum_1], Original ATen: "
           "[aten.native_layer_norm_backward]\n"
           "            workspace_0 = empty_strided_cuda((1048576, ), (1, ), torch.float32)\n"
           "            stream0 = get_raw_stream(0)\n"
           "            triton_per_fused_native_layer_norm_backward_1.run(buf1, workspace_0)\n"
           "            buf5 = workspace_0[0 : 512 * 1024].view(512, 1024).sum(dim=0)\n"
           "            buf7 = workspace_0[512 * 1024 : ].view(512, 1024).sum(dim=0)\n"
           "            del workspace_0\n"
           "            buf8 = workspace_1[0 : 512]\n"),
      (std::vector<Found>{{3, 5, "aten.native_layer_norm_backward"}}));
  EXPECT_EQ(
      Read("  # Source Nodes: [], Original ATen: [aten.sum]\n  a.run(\n  b = workspace_0").size(),
      1u);
}

TEST(CompiledCodeTest, NamesOfModulesInPyTorch21) {
  EXPECT_EQ(Read("        # Source Nodes: [l__self___linear], Original ATen: [aten.addmm]\n"
                 "        extern_kernels.addmm(primals_2, buf0, primals_1, out=buf1)\n"
                 "        # Source Nodes: [conv], Original ATen: [aten.convolution]\n"
                 "        buf2 = aten.convolution(buf1, primals_3)\n"),
            (std::vector<Found>{{2, 1, "aten.addmm"}, {4, 1, "aten.convolution"}}));
}

TEST(CompiledCodeTest, CommentsBeforeKernelsAreNoLaunches) {
  EXPECT_EQ(Read("# kernel path: /tmp/x.py\n"
                 "# Topologically Sorted Source Nodes: [x], Original ATen: [aten.add]\n"
                 "# Source node to ATen node mapping:\n"
                 "#   x => add\n"
                 "# Graph fragment:\n"
                 "#   %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor]()\n"
                 "triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''\n"
                 "    tl.store(out_ptr0 + x0, tmp0)\n"
                 "''', device_str='cuda')\n"
                 "extern_kernels.mm(a, b)\n"),
            std::vector<Found>{});
}

TEST(CompiledCodeTest, ALaunchThatDoesNotComeHasNoOperations) {
  const std::string comment = "    # Source Nodes: [x], Original ATen: [aten.add]\n";
  const std::string launch = "    triton_0.run(buf0)\n";
  EXPECT_EQ(Read(comment + launch + launch).size(), 1u) << "the second has no comment";
  EXPECT_EQ(Read(comment + "    del buf0\n" + launch).size(), 0u);
  EXPECT_EQ(Read(comment + "    return (buf0, )\n" + launch).size(), 0u);
  EXPECT_EQ(Read(comment + "\n" + launch).size(), 0u);
  EXPECT_EQ(Read(comment).size(), 0u);
  std::string far = comment;
  for (int i = 0; i < 40; ++i) far += "    buf1 = buf0\n";
  EXPECT_EQ(Read(far + launch).size(), 0u);
  // Another comment without operations ends what is known, too.
  EXPECT_EQ(Read(comment + "    # Source Nodes: [], Original ATen: []\n" + launch).size(), 0u);
}

TEST(CompiledCodeTest, LongListsEndBeforeAComma) {
  std::string list;
  for (int i = 0; i < 200; ++i) list += (i == 0 ? "" : ", ") + ("aten.op" + std::to_string(i));
  const auto found = Read("  # Source Nodes: [], Original ATen: [" + list + "]\n  x.run(\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].operations.size(), CompiledCodeReader::kMostOperationsBytes);
  EXPECT_GT(found[0].operations.size(), CompiledCodeReader::kMostOperationsBytes - 20);
  EXPECT_EQ(list.substr(found[0].operations.size(), 2), ", ");
  // One word that is as long names no operation.
  EXPECT_EQ(
      Read("  # Source Nodes: [], Original ATen: [" + std::string(5000, 'a') + "]\n  x.run(\n")
          .size(),
      0u);
}

TEST(CompiledCodeTest, BytesOfAnyKindAreRead) {
  EXPECT_EQ(Read("").size(), 0u);
  EXPECT_EQ(Read(std::string("\0\n\xff\n    #", 10)).size(), 0u);
  EXPECT_EQ(Read("  # Source Nodes: [").size(), 0u);
  EXPECT_EQ(Read("  # Source Nodes: [x], Original ATen: [").size(), 0u);
  EXPECT_EQ(Read("  # Source Nodes: [x], Original ATen: [aten.add]").size(), 0u);
  EXPECT_EQ(Read("  # Source Nodes: [x], Original ATen: [aten.add]\n  a.run(").size(), 1u);
}

}  // namespace
}  // namespace utlz::agent
